// RUN: torchc-opt %s | torchc-opt | FileCheck %s

// CHECK-LABEL: func.func @mlp
func.func @mlp(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  // CHECK: torchc.matmul %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %0 = torchc.matmul %x, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  // CHECK: torchc.add
  %1 = torchc.add %0, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: torchc.log_softmax %{{.*}} {dim = 1 : i64}
  %2 = torchc.log_softmax %1 {dim = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// A number enters half arithmetic in its op-math type.
// CHECK-LABEL: func.func @number
func.func @number(%x: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK: torchc.full {dtype = f32, shape = array<i64>, value = 1.000000e-01 : f64} : () -> tensor<f32>
  %0 = torchc.full {dtype = f32, shape = array<i64>, value = 1.000000e-01 : f64} : () -> tensor<f32>
  %1 = torchc.mul %x, %0 : (tensor<4xf16>, tensor<f32>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}
