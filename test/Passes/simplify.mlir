// RUN: torchc-opt %s --torchc-simplify | FileCheck %s

// The transpose of a product is the product of the transposes, swapped: transposes of operands cancel.
// CHECK-LABEL: func.func @weight_gradient
// CHECK-SAME: %[[X:.*]]: tensor<50x64xf32>, %[[G:.*]]: tensor<50x128xf32>
func.func @weight_gradient(%x: tensor<50x64xf32>, %g: tensor<50x128xf32>) -> tensor<128x64xf32> {
  // CHECK: %[[T:.*]] = torchc.transpose %[[G]]
  // CHECK-NEXT: %[[P:.*]] = torchc.matmul %[[T]], %[[X]]
  // CHECK-NEXT: return %[[P]]
  %0 = torchc.transpose %x {dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<50x64xf32>) -> tensor<64x50xf32>
  %1 = torchc.matmul %0, %g : (tensor<64x50xf32>, tensor<50x128xf32>) -> tensor<64x128xf32>
  %2 = torchc.transpose %1 {dim0 = -1 : i64, dim1 = 0 : i64} : (tensor<64x128xf32>) -> tensor<128x64xf32>
  return %2 : tensor<128x64xf32>
}

// A product that is read otherwise too would be computed twice.
// CHECK-LABEL: func.func @two_readers
func.func @two_readers(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  // CHECK: torchc.matmul
  // CHECK-NEXT: torchc.transpose
  %0 = torchc.matmul %x, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = torchc.transpose %0 {dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<4x2xf32>
}

// Only the matrix dimensions of a batch.
// CHECK-LABEL: func.func @batch
func.func @batch(%x: tensor<5x2x3xf32>, %y: tensor<5x3x4xf32>) -> (tensor<5x4x2xf32>, tensor<2x5x4xf32>) {
  // CHECK: torchc.matmul {{.*}} -> tensor<5x2x4xf32>
  // CHECK: torchc.matmul {{.*}} -> tensor<5x4x2xf32>
  %0 = torchc.matmul %x, %y : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  %1 = torchc.transpose %0 {dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<5x2x4xf32>) -> tensor<2x5x4xf32>
  %2 = torchc.matmul %x, %y : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  %3 = torchc.transpose %2 {dim0 = 1 : i64, dim1 = 2 : i64} : (tensor<5x2x4xf32>) -> tensor<5x4x2xf32>
  return %3, %1 : tensor<5x4x2xf32>, tensor<2x5x4xf32>
}
