// RUN: torchc-opt %s -torchc-differentiate | FileCheck %s

// The gradient of a cond is a cond on the cotangents: its regions run the branches again.
// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = torchc.cond
// CHECK: %[[G:.*]]:2 = torchc.cond %arg0(%arg1, %arg2, %arg3)
// CHECK: ^bb0(%[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<2xf32>):
// CHECK-DAG: torchc.mul %[[C]], %[[B]]
// CHECK-DAG: torchc.mul %[[C]], %[[A]]
// CHECK: } else {
// CHECK: ^bb0(%[[D:.*]]: tensor<2xf32>, %{{.*}}: tensor<2xf32>, %[[E:.*]]: tensor<2xf32>):
// CHECK: %[[Z:.*]] = torchc.full
// CHECK: torchc.yield %[[E]], %[[Z]]
// CHECK: return %[[Y]], %[[G]]#0, %[[G]]#1
func.func @main(%p: tensor<i1>, %x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> {
  %0 = torchc.cond %p(%x, %w) {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %1 = torchc.mul %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    torchc.yield %1 : tensor<2xf32>
  } else {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    torchc.yield %a : tensor<2xf32>
  } : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
