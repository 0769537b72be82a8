// RUN: torchc-opt %s --torchc-differentiate --cse | FileCheck %s

// x*x: two uses in one op meet by ascending slot; tanh reads its result, the bias is un-broadcast by a sum.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<3xf32>, %[[G:.*]]: tensor<4x3xf32> {torchc.cotangent = 0 : i64})
func.func @main(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[S:.*]] = torchc.mul %[[X]], %[[X]]
  %0 = torchc.mul %x, %x : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[A:.*]] = torchc.add %[[S]], %[[B]]
  %1 = torchc.add %0, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[T:.*]] = torchc.tanh %[[A]]
  %2 = torchc.tanh %1 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[TT:.*]] = torchc.mul %[[T]], %[[T]]
  // CHECK: %[[D:.*]] = torchc.sub %{{.*}}, %[[TT]]
  // CHECK: %[[DA:.*]] = torchc.mul %[[G]], %[[D]]
  // CHECK: %[[DB:.*]] = torchc.sum %[[DA]] {dims = array<i64: 0>, keepdim = false}
  // CHECK: %[[D0:.*]] = torchc.mul %[[DA]], %[[X]]
  // CHECK: %[[DX:.*]] = torchc.add %[[D0]], %[[D0]]
  // CHECK: return %[[T]], %[[DX]], %[[DB]]
  return %2 : tensor<4x3xf32>
}
