// RUN: weft-opt %s --weft-recompute-clone=policy=full | FileCheck %s --check-prefixes=CHECK,FULL
// RUN: weft-opt %s --weft-recompute-clone=policy=selective | FileCheck %s --check-prefixes=CHECK,SELECTIVE

// A layer on two ranks, as `box` leaves it, behind one on another stage. What arrives from there is kept: it is not
// sent twice. The product and the all-reduce behind it run again with FULL; with SELECTIVE the sum is kept. The cast of
// the parameter is the same for every micro-batch and is not cloned.
// CHECK-LABEL: weft.graph @stages
// CHECK: weft.box %{{.*}} {scope = "h.1", stage = 1 : i64}
// CHECK: %[[ARRIVED:.*]] = weft.silu %{{.*}} {scope = "h.1", stage = 1 : i64}
// CHECK: %[[CAST:.*]] = weft.cast %{{.*}} to bf16 {scope = "h.1", stage = 1 : i64}
// SELECTIVE: %[[SUM:.*]] = weft.box %{{.*}} {scope = "h.1", stage = 1 : i64} : (tensor<1024x64xf32, #weft.sbp<P>>) -> tensor<1024x64xf32, #weft.sbp<B>>
// FULL: weft.silu %{{.*}} {phase = "recompute", scope = "h.1", stage = 1 : i64}
// FULL-NEXT: %[[NARROW:.*]] = weft.cast %{{.*}} to bf16 {phase = "recompute", scope = "h.1", stage = 1 : i64}
// FULL-NEXT: %[[PARTIAL:.*]] = weft.einsum "bi,io->bo" %[[NARROW]], %[[CAST]] to f32 {phase = "recompute", scope = "h.1", stage = 1 : i64}
// FULL-NEXT: %[[AGAIN:.*]] = weft.box %[[PARTIAL]] {phase = "recompute", scope = "h.1", stage = 1 : i64} : (tensor<1024x64xf32, #weft.sbp<P>>) -> tensor<1024x64xf32, #weft.sbp<B>>
// FULL-NEXT: weft.tanh %[[AGAIN]] {phase = "recompute", scope = "h.1", stage = 1 : i64}
// SELECTIVE: weft.tanh %[[SUM]] {phase = "recompute", scope = "h.1", stage = 1 : i64}
// CHECK-NEXT: weft.mul %{{.*}} {phase = "backward", scope = "h.1", stage = 1 : i64}
// CHECK: weft.box %{{.*}} {phase = "backward", scope = "h.1"}
// CHECK-NEXT: weft.relu %arg0 {phase = "recompute", scope = "h.0"}
// CHECK-NEXT: weft.gelu_grad
// CHECK-NOT: recompute
#one = #weft.placement<"cpu", [], [0]>
#two = #weft.placement<"cpu", [tensor = 2], [1, 2]>
weft.graph @stages("x" %x: tensor<1024x64xf32, #weft.sbp<>>) placements [#one, #two] {
  %a = weft.relu %x {scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %g = weft.gelu %a {scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %w = weft.parameter "w" [64, 64] init(zeros) {scope = "h.1", stage = 1 : i64} : () -> tensor<64x64xf32, #weft.sbp<S(0)>>
  %r = weft.box %g {scope = "h.1", stage = 1 : i64} : (tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<S(1)>>
  %u = weft.silu %r {scope = "h.1", stage = 1 : i64} : (tensor<1024x64xf32, #weft.sbp<S(1)>>) -> tensor<1024x64xf32, #weft.sbp<S(1)>>
  %wc = weft.cast %w to bf16 {scope = "h.1", stage = 1 : i64} : (tensor<64x64xf32, #weft.sbp<S(0)>>) -> tensor<64x64xbf16, #weft.sbp<S(0)>>
  %n = weft.cast %u to bf16 {scope = "h.1", stage = 1 : i64} : (tensor<1024x64xf32, #weft.sbp<S(1)>>) -> tensor<1024x64xbf16, #weft.sbp<S(1)>>
  %p = weft.einsum "bi,io->bo" %n, %wc to f32 {scope = "h.1", stage = 1 : i64} : (tensor<1024x64xbf16, #weft.sbp<S(1)>>, tensor<64x64xbf16, #weft.sbp<S(0)>>) -> tensor<1024x64xf32, #weft.sbp<P>>
  %s = weft.box %p {scope = "h.1", stage = 1 : i64} : (tensor<1024x64xf32, #weft.sbp<P>>) -> tensor<1024x64xf32, #weft.sbp<B>>
  %t = weft.tanh %s {scope = "h.1", stage = 1 : i64} : (tensor<1024x64xf32, #weft.sbp<B>>) -> tensor<1024x64xf32, #weft.sbp<B>>
  %b1 = weft.mul %t, %s {phase = "backward", scope = "h.1", stage = 1 : i64} : (tensor<1024x64xf32, #weft.sbp<B>>, tensor<1024x64xf32, #weft.sbp<B>>) -> tensor<1024x64xf32, #weft.sbp<B>>
  %b2 = weft.cast %b1 to bf16 {phase = "backward", scope = "h.1", stage = 1 : i64} : (tensor<1024x64xf32, #weft.sbp<B>>) -> tensor<1024x64xbf16, #weft.sbp<B>>
  %b3 = weft.einsum "bi,bo->io" %n, %b2 to f32 {phase = "backward", scope = "h.1", stage = 1 : i64} : (tensor<1024x64xbf16, #weft.sbp<S(1)>>, tensor<1024x64xbf16, #weft.sbp<B>>) -> tensor<64x64xf32, #weft.sbp<S(0)>>
  %c = weft.accumulate %b3 {phase = "backward", scope = "h.1", stage = 1 : i64} : (tensor<64x64xf32, #weft.sbp<S(0)>>) -> tensor<64x64xf32, #weft.sbp<S(0)>>
  %b4 = weft.box %b1 {phase = "backward", scope = "h.1"} : (tensor<1024x64xf32, #weft.sbp<B>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %b5 = weft.gelu_grad %b4, %a {phase = "backward", scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<>>, tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %d = weft.accumulate %b5 {phase = "backward", scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
}

// What another layer's backward reads is kept for it, and is not computed a second time. What a layer that comes
// later computes again keeps what it begins with: the GELU of h.0, for h.1.
// CHECK-LABEL: weft.graph @others
// CHECK: %[[T:.*]] = weft.tanh %arg0 {scope = "h.0"}
// CHECK: %[[G:.*]] = weft.gelu %[[T]] {scope = "h.0"}
// CHECK: weft.silu %[[G]] {phase = "recompute", scope = "h.1"}
// CHECK-NEXT: weft.mul %{{.*}}, %[[T]] {phase = "backward", scope = "h.1"}
// CHECK-NEXT: weft.mul %[[T]], %[[G]] {phase = "backward", scope = "h.0"}
// CHECK-NOT: recompute
weft.graph @others("x" %x: tensor<1024x64xf32, #weft.sbp<>>) placements [#one] {
  %t = weft.tanh %x {scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %g = weft.gelu %t {scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %s = weft.silu %g {scope = "h.1"} : (tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %b1 = weft.mul %s, %t {phase = "backward", scope = "h.1"} : (tensor<1024x64xf32, #weft.sbp<>>, tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %b2 = weft.mul %t, %g {phase = "backward", scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<>>, tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %c = weft.accumulate %b1 {phase = "backward", scope = "h.1"} : (tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
  %d = weft.accumulate %b2 {phase = "backward", scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<>>) -> tensor<1024x64xf32, #weft.sbp<>>
}

// A parameter that every use gathers is gathered once for what is computed again and for the backward; the gather of
// the forward is not kept.
// CHECK-LABEL: weft.graph @gathered
// CHECK: %[[SHARD:.*]] = weft.parameter "w"
// CHECK: %[[FIRST:.*]] = weft.box %[[SHARD]] {on_use, scope = "h.0"}
// CHECK: weft.layer_norm %{{.*}}, %[[FIRST]], %[[FIRST]]
// CHECK: %[[AGAIN:.*]] = weft.box %[[SHARD]] {on_use, phase = "recompute", scope = "h.0"}
// CHECK-NEXT: %{{.*}}, %[[S:.*]]:2 = weft.layer_norm %{{.*}}, %[[AGAIN]], %[[AGAIN]] eps(1.000000e-05) {phase = "recompute"
// CHECK-NEXT: weft.layer_norm_grad %{{.*}}, %{{.*}}, %[[AGAIN]], %[[S]]#0, %[[S]]#1 {phase = "backward"
#data = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @gathered("x" %x: tensor<1024x64xf32, #weft.sbp<S(0)>>) placements [#data] {
  %w = weft.parameter "w" [64] init(zeros) {scope = "h.0"} : () -> tensor<64xf32, #weft.sbp<S(0)>>
  %w0 = weft.box %w {on_use, scope = "h.0"} : (tensor<64xf32, #weft.sbp<S(0)>>) -> tensor<64xf32, #weft.sbp<B>>
  %n, %s:2 = weft.layer_norm %x, %w0, %w0 eps(1.0e-5) {scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<S(0)>>, tensor<64xf32, #weft.sbp<B>>, tensor<64xf32, #weft.sbp<B>>) -> (tensor<1024x64xf32, #weft.sbp<S(0)>>, tensor<1024xf32, #weft.sbp<S(0)>>, tensor<1024xf32, #weft.sbp<S(0)>>)
  %w1 = weft.box %w {on_use, phase = "backward", scope = "h.0"} : (tensor<64xf32, #weft.sbp<S(0)>>) -> tensor<64xf32, #weft.sbp<B>>
  %dx, %dw, %db = weft.layer_norm_grad %n, %x, %w1, %s#0, %s#1 {phase = "backward", scope = "h.0"} : (tensor<1024x64xf32, #weft.sbp<S(0)>>, tensor<1024x64xf32, #weft.sbp<S(0)>>, tensor<64xf32, #weft.sbp<B>>, tensor<1024xf32, #weft.sbp<S(0)>>, tensor<1024xf32, #weft.sbp<S(0)>>) -> (tensor<1024x64xf32, #weft.sbp<S(0)>>, tensor<64xf32, #weft.sbp<P>>, tensor<64xf32, #weft.sbp<P>>)
  %c = weft.accumulate %dw {phase = "backward", scope = "h.0"} : (tensor<64xf32, #weft.sbp<P>>) -> tensor<64xf32, #weft.sbp<P>>
}
