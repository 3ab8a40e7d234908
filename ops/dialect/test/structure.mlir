// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

// As in a model file: expressions and no types.
// CHECK: weft.parameter "weight" [hidden, 3, heads, hidden floordiv heads] stored [hidden, 3 * hidden] init(normal 2.000000e-02) sbp(tensor = S(2))
// CHECK-NEXT: weft.parameter "bias" [out mod 3, 2 * (b + 1)] init(zeros){{ *$}}
// CHECK-NEXT: weft.parameter "step" [] init(uniform -5.000000e-01 high) sbp(S(0), B) state{{ *$}}
// CHECK-NEXT: weft.to_global %0 sbp(data = S(1), tensor = P) placement("cpu", {{\[\[}}0, 1], [2, 3]]){{ *$}}
// CHECK-NEXT: weft.accumulate %0{{ *$}}
// CHECK-NEXT: weft.minimize %1{{ *$}}
// CHECK-NEXT: weft.minimize %1 per %2{{ *$}}
// CHECK-NEXT: weft.assign %0, %1{{ *$}}
// CHECK-NEXT: weft.output "logits" %1{{ *$}}
// CHECK-NEXT: weft.output "loss" metric %1{{ *$}}
%0 = weft.parameter "weight" [hidden, 3, heads, hidden floordiv heads] stored [hidden, 3 * hidden] init(normal 0.02) sbp(tensor = S(2))
%1 = weft.parameter "bias" [out mod 3, 2*(b + 1)]
%2 = weft.parameter "step" [] init(uniform -0.5 high) sbp(S(0), B) state
%3 = weft.to_global %0 sbp(tensor = P, data = S(1)) placement("cpu", [[0, 1], [2, 3]])
%4 = weft.accumulate %0
weft.minimize %1
weft.minimize %1 per %2
weft.assign %0, %1
weft.output "logits" %1
weft.output "loss" metric %1

// As after elaborate.
// CHECK: weft.graph @train("tokens" %arg0: tensor<4x2xf32, #weft.sbp<S(0)>>, "labels" %arg1: tensor<4xi32, #weft.sbp<B>>)
// CHECK-SAME: placements [#weft.placement<"cpu", [data = 2], [0, 1]>, #weft.placement<"cpu", [data = 2], [2, 3]>] micro_batches 4 attributes {note = "n"} {
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [4, 2] stored [8] init(ones) state {seed = 3 : i64, stage = 1 : i64} : () -> tensor<4x2xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: weft.box %arg0 {stage = 1 : i64} : (tensor<4x2xf32, #weft.sbp<S(0)>>) -> tensor<4x2xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.to_global %arg0 sbp(data = S(0)) : (tensor<4x2xf32, #weft.sbp<S(0)>>) -> tensor<4x2xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: weft.accumulate %arg0 : (tensor<4x2xf32, #weft.sbp<S(0)>>) -> tensor<4x2xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: weft.assign %[[W]], %arg0 : (tensor<4x2xf32, #weft.sbp<S(0)>>, tensor<4x2xf32, #weft.sbp<S(0)>>)
// CHECK-NEXT: %[[L:.*]]:2 = "test.values"
// CHECK-NEXT: weft.minimize %[[L]]#0 : (tensor<f32>)
// CHECK-NEXT: weft.minimize %[[L]]#0 per %[[L]]#1 : (tensor<f32>, tensor<f32>)
// CHECK-NEXT: weft.update %[[W]] with %arg0 per %[[L]]#1 : (tensor<4x2xf32, #weft.sbp<S(0)>>, tensor<4x2xf32, #weft.sbp<S(0)>>, tensor<f32>)
// CHECK-NEXT: weft.output "loss" metric %[[L]]#0 : (tensor<f32>)
!s = tensor<4x2xf32, #weft.sbp<S(0)>>
!b = tensor<4x2xf32, #weft.sbp<B>>
weft.graph @train("tokens" %x: !s, "labels" %y: tensor<4xi32, #weft.sbp<B>>) placements [#weft.placement<"cpu", [data = 2], [0, 1]>, #weft.placement<"cpu", [data = 2], [2, 3]>] micro_batches 4 attributes {note = "n"} {
  %w = weft.parameter "w" [4, 2] stored [8] init(ones) state {stage = 1 : i64, seed = 3 : i64} : () -> !s
  %a = weft.box %x {stage = 1 : i64} : (!s) -> !b
  %b = weft.to_global %x sbp(data = S(0)) : (!s) -> !s
  %c = weft.accumulate %x : (!s) -> !s
  weft.assign %w, %x : (!s, !s)
  %loss, %count = "test.values"() : () -> (tensor<f32>, tensor<f32>)
  weft.minimize %loss : (tensor<f32>)
  weft.minimize %loss per %count : (tensor<f32>, tensor<f32>)
  weft.update %w with %x per %count : (!s, !s, tensor<f32>)
  weft.output "loss" metric %loss : (tensor<f32>)
}

// CHECK: weft.graph @empty() placements [#weft.placement<"cpu", [], [0]>] {
weft.graph @empty() placements [#weft.placement<"cpu", [], [0]>] {
}
