// RUN: torchc-opt %s --torchc-differentiate --torchc-differentiate | FileCheck %s
// RUN: torchc-opt %s --torchc-decompose | FileCheck %s --check-prefix=CLEAN

// The tape's operand of the product is %x, its number 0.1 a number. Differentiated twice, the two cotangents of %x are
// cast to f32 first and added there; the number promotes again instead of being rounded to bf16. The copy of the result
// passes its cotangent on before anything else.
// CHECK-LABEL: func.func @main
// CHECK: torchc.mul %{{.*}}, %[[N:.*]] {{.*}}: (tensor<4xbf16>, tensor<f32>)
// CHECK: torchc.add %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CLEAN-LABEL: func.func @main
// CLEAN-NOT: torchc.promoted
// CLEAN-NOT: torchc.number
// CLEAN-NOT: torchc.copy
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf64>, %z: tensor<4xbf16>) -> (tensor<4xf64>, tensor<4xbf16>) {
  %0 = torchc.cast %x {dtype = f64, torchc.promoted} : (tensor<4xf32>) -> tensor<4xf64>
  %1 = torchc.mul %0, %y : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %2 = torchc.cast %1 {dtype = f64, torchc.copy} : (tensor<4xf64>) -> tensor<4xf64>
  %3 = torchc.full {dtype = f32, shape = array<i64>, torchc.number, value = 1.000000e-01 : f64} : () -> tensor<f32>
  %4 = torchc.mul %z, %3 : (tensor<4xbf16>, tensor<f32>) -> tensor<4xbf16>
  return %2, %4 : tensor<4xf64>, tensor<4xbf16>
}
