// RUN: torchc-opt %s --torchc-fuse | FileCheck %s

// What is computed from one stored value for a later kernel is computed there: relu's kernel ends with relu, so that a
// convolution's store can take it in, and the comparison of its derivative runs with the choice that reads it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8x8xf32>, %[[W:.*]]: tensor<4x4x1x1xf32>, %[[B:.*]]: tensor<4x1x1xf32>, %[[G:.*]]: tensor<2x4x4x4xf32>
func.func @main(%x: tensor<2x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %b: tensor<4x1x1xf32>, %g: tensor<2x4x4x4xf32>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) {
  // CHECK: torchc.conv {{.*}}torchc.kernel = 0
  // CHECK: torchc.add {{.*}}torchc.kernel = 1
  // CHECK: torchc.relu {{.*}}torchc.kernel = 1
  // CHECK: torchc.le {{.*}}torchc.kernel = 3
  // CHECK: torchc.max_pool_input {{.*}}torchc.kernel = 2
  // CHECK: torchc.where {{.*}}torchc.kernel = 3
  %zero = torchc.full {dtype = f32, shape = array<i64>, value = 0.0 : f64} : () -> tensor<f32>
  %y = torchc.conv %x, %w {dilation = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x8x8xf32>
  %s = torchc.add %y, %b : (tensor<2x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<2x4x8x8xf32>
  %r = torchc.relu %s : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %off = torchc.le %r, %zero : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xi1>
  %d = torchc.max_pool_input %g, %r {dilation = array<i64: 1, 1>, kernel = array<i64: 2, 2>, padding = array<i64: 0, 0>, size = array<i64: 4, 4>, stride = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %m = torchc.where %off, %zero, %d : (tensor<2x4x8x8xi1>, tensor<f32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>

  // A chain waits whole; without a later reader it stays where its operand is.
  // CHECK: %[[E:.*]] = torchc.exp %[[X]] {torchc.kernel = 4 : i64}
  // CHECK: torchc.neg %[[E]] {torchc.kernel = 4 : i64}
  // CHECK: torchc.mul %[[E]], %{{.*}} {torchc.kernel = 4 : i64}
  %e = torchc.exp %x : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %n = torchc.neg %e : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %p = torchc.mul %e, %n : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  return %r, %m, %p : tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>
}
