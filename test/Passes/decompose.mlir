// RUN: torchc-opt %s --torchc-decompose | FileCheck %s

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[M:.*]] = torchc.amax %{{.*}} {dims = array<i64: 1>, keepdim = true}
  // CHECK: %[[D:.*]] = torchc.sub %{{.*}}, %[[M]]
  // CHECK: %[[E:.*]] = torchc.exp %[[D]]
  // CHECK: %[[S:.*]] = torchc.sum %[[E]]
  // CHECK: %[[R:.*]] = torchc.div %{{.*}}, %[[S]]
  // CHECK: torchc.mul %[[E]], %[[R]]
  %0 = torchc.softmax %x {dim = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// Half precision runs in its op-math type: up at entry, down at exit.
// CHECK-LABEL: func.func @half
func.func @half(%x: tensor<4x3xf16>) -> tensor<4x3xf16> {
  // CHECK: torchc.cast %{{.*}} {dtype = f32}
  // CHECK-NOT: torchc.cast
  // CHECK: torchc.log
  // CHECK: torchc.cast %{{.*}} {dtype = f16}
  %0 = torchc.log_softmax %x {dim = -1 : i64} : (tensor<4x3xf16>) -> tensor<4x3xf16>
  return %0 : tensor<4x3xf16>
}

// CHECK-LABEL: func.func @half_matmul
func.func @half_matmul(%x: tensor<4x3xbf16>, %y: tensor<3x2xbf16>) -> tensor<4x2xbf16> {
  // CHECK-COUNT-2: torchc.cast %{{.*}} {dtype = f32}
  // CHECK: torchc.matmul %{{.*}} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK: torchc.cast %{{.*}} {dtype = bf16}
  %0 = torchc.matmul %x, %y : (tensor<4x3xbf16>, tensor<3x2xbf16>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// Mean, mean of squared distances, and weight and bias in one rounding.
// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<4x3xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[S:.*]] = torchc.sum %{{.*}} {dims = array<i64: 1>, keepdim = true}
  // CHECK: %[[M:.*]] = torchc.div %[[S]]
  // CHECK: %[[D:.*]] = torchc.sub %{{.*}}, %[[M]]
  // CHECK: %[[Q:.*]] = torchc.mul %[[D]], %[[D]]
  // CHECK: torchc.sum %[[Q]]
  // CHECK: %[[R:.*]] = torchc.rsqrt
  // CHECK: %[[Y:.*]] = torchc.mul %[[D]], %[[R]]
  // CHECK: torchc.fma %[[Y]]
  %0 = torchc.layer_norm %x, %w, %b {axes = array<i64: 1>, eps = 1.0e-05 : f64} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// Statistics that are given aren't computed.
// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<4x3x5xf16>, %p: tensor<3xf16>) -> tensor<4x3x5xf16> {
  // CHECK-NOT: torchc.sum
  // CHECK: torchc.fma {{.*}} -> tensor<4x3x5xf32>
  // CHECK: torchc.cast %{{.*}} {dtype = f16}
  %0 = torchc.batch_norm %x, %p, %p, %p, %p {axes = array<i64: 1>, eps = 1.0e-05 : f64, training = false} : (tensor<4x3x5xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>) -> tensor<4x3x5xf16>
  return %0 : tensor<4x3x5xf16>
}
