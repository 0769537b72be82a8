// RUN: torchc-opt %s -torchc-differentiate -verify-diagnostics

func.func @main(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  // expected-error @+1 {{has no derivative: how often its body runs isn't known before}}
  %0 = torchc.while_loop(%x, %p) {
  ^bb0(%a: tensor<2xf32>, %q: tensor<i1>):
    torchc.yield %q : tensor<i1>
  } do {
  ^bb0(%a: tensor<2xf32>, %q: tensor<i1>):
    torchc.yield %a : tensor<2xf32>
  } : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
