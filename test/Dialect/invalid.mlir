// RUN: torchc-opt %s -split-input-file -verify-diagnostics

func.func @broadcast(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0}}
  %0 = torchc.add %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @types(%x: tensor<2xf32>, %y: tensor<2xf64>) -> tensor<2xf64> {
  // expected-error @+1 {{expected operands of one element type}}
  %0 = torchc.add %x, %y : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

// -----

func.func @result(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected a result of type 'tensor<3xf32>'}}
  %0 = torchc.sum %x {dims = array<i64: 0>, keepdim = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @matmul(%x: tensor<2x3xf32>, %y: tensor<4x2xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{mat1 and mat2 shapes cannot be multiplied (2x3 and 4x2)}}
  %0 = torchc.matmul %x, %y : (tensor<2x3xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @reshape(%x: tensor<2x3xf32>) -> tensor<7xf32> {
  // expected-error @+1 {{shape '[7]' is invalid for input of size 6}}
  %0 = torchc.reshape %x {shape = array<i64: 7>} : (tensor<2x3xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
