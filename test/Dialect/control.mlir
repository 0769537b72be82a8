// RUN: torchc-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @cond
func.func @cond(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: torchc.cond %arg0(%arg1) {
  // CHECK: } else {
  %0 = torchc.cond %p(%x) {
  ^bb0(%a: tensor<2xf32>):
    %1 = torchc.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    torchc.yield %1 : tensor<2xf32>
  } else {
  ^bb0(%a: tensor<2xf32>):
    torchc.yield %a : tensor<2xf32>
  } : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: @loop
func.func @loop(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  // CHECK: torchc.while_loop(%arg0, %arg1) {
  // CHECK: } do {
  %0 = torchc.while_loop(%x, %p) {
  ^bb0(%a: tensor<2xf32>, %q: tensor<i1>):
    torchc.yield %q : tensor<i1>
  } do {
  ^bb0(%a: tensor<2xf32>, %q: tensor<i1>):
    torchc.yield %a : tensor<2xf32>
  } : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @predicate(%p: tensor<2xi1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected a predicate of one bool, got 'tensor<2xi1>'}}
  %0 = torchc.cond %p(%x) {
  ^bb0(%a: tensor<2xf32>):
    torchc.yield %a : tensor<2xf32>
  } else {
  ^bb0(%a: tensor<2xf32>):
    torchc.yield %a : tensor<2xf32>
  } : (tensor<2xi1>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @results(%p: tensor<i1>, %x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{region 1: expected to yield values of the results' types}}
  %0 = torchc.cond %p(%x, %y) {
  ^bb0(%a: tensor<2xf32>, %b: tensor<3xf32>):
    torchc.yield %a : tensor<2xf32>
  } else {
  ^bb0(%a: tensor<2xf32>, %b: tensor<3xf32>):
    torchc.yield %b : tensor<3xf32>
  } : (tensor<i1>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @carried(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{expected the first inputs to have the results' types}}
  %0 = torchc.while_loop(%x) {
  ^bb0(%a: tensor<2xf32>):
    torchc.yield %a : tensor<2xf32>
  } do {
  ^bb0(%a: tensor<2xf32>):
    torchc.yield %a : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
