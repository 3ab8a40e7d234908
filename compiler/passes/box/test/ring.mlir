// RUN: weft-opt %s --weft-box-ring -split-input-file | FileCheck %s

// What a rank computes, its own block first; the next keys are under way meanwhile. The sums of dk and dv follow their keys,
// and come home in the end.
// CHECK-LABEL: weft.graph @two
// CHECK-NEXT: %[[SHIFT:.*]] = weft.shift %arg1 axis(0) by(1) {scope = "h.0"} :
// CHECK-NEXT: %[[SHIFT1:.*]] = weft.shift %arg2 axis(0) by(1) {scope = "h.0"} :
// CHECK-NEXT: %[[OUT:.*]], %[[SAVED:.*]] = weft.attention %arg0, %arg1, %arg2 causal block(0) blocks(2) {scope = "h.0"} :
// CHECK-NEXT: %[[OUT1:.*]], %[[SAVED1:.*]] = weft.attention %arg0, %[[SHIFT]], %[[SHIFT1]] causal block(1) blocks(2) {scope = "h.0"} :
// CHECK-NEXT: %[[BOTH:.*]], %[[BOTH_LSE:.*]] = weft.attention_merge %[[OUT]], %[[SAVED]], %[[OUT1]], %[[SAVED1]] {scope = "h.0"} :
// CHECK-NEXT: %[[SHIFT2:.*]] = weft.shift %arg1 axis(0) by(1) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[SHIFT3:.*]] = weft.shift %arg2 axis(0) by(1) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = weft.attention_grad %arg0, %arg0, %arg1, %arg2, %[[BOTH]], %[[BOTH_LSE]] causal block(0) blocks(2) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[SHIFT4:.*]] = weft.shift %[[DK]] axis(0) by(1) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[SHIFT5:.*]] = weft.shift %[[DV]] axis(0) by(1) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[DQ1:.*]], %[[DK1:.*]], %[[DV1:.*]] = weft.attention_grad %arg0, %arg0, %[[SHIFT2]], %[[SHIFT3]], %[[BOTH]], %[[BOTH_LSE]] causal block(1) blocks(2) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[DQ]], %[[DQ1]] {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[ADD1:.*]] = weft.add %[[SHIFT4]], %[[DK1]] {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[ADD2:.*]] = weft.add %[[SHIFT5]], %[[DV1]] {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[SHIFT6:.*]] = weft.shift %[[ADD1]] axis(0) by(1) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[SHIFT7:.*]] = weft.shift %[[ADD2]] axis(0) by(1) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: weft.output "dq" %[[ADD]] :
// CHECK-NEXT: weft.output "dk" %[[SHIFT6]] :
// CHECK-NEXT: weft.output "dv" %[[SHIFT7]] :
#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x4x4xf32, #weft.sbp<S(1)>>
!lse = tensor<2x4x8xf32, #weft.sbp<S(2)>>
weft.graph @two("q" %q: !q, "k" %k: !q, "v" %v: !q) placements [#mesh] {
  %out, %lse = weft.attention %q, %k, %v causal {scope = "h.0"} : (!q, !q, !q) -> (!q, !lse)
  %dq, %dk, %dv = weft.attention_grad %q, %q, %k, %v, %out, %lse causal {phase = "backward", scope = "h.0"} : (!q, !q, !q, !q, !q, !lse) -> (!q, !q, !q)
  weft.output "dq" %dq : (!q)
  weft.output "dk" %dk : (!q)
  weft.output "dv" %dv : (!q)
}

// -----

// A window of two keys reaches into the block before, and no further. Blocks are added up in float32.
// CHECK-LABEL: weft.graph @window
// CHECK-NEXT: %[[SHIFT:.*]] = weft.shift %arg1 axis(0) by(1) :
// CHECK-NEXT: %[[SHIFT1:.*]] = weft.shift %arg2 axis(0) by(1) :
// CHECK-NEXT: %[[OUT:.*]], %[[SAVED:.*]] = weft.attention %arg0, %arg1, %arg2 causal window(2) block(0) blocks(4) :
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[OUT]] to f32 :
// CHECK-NEXT: %[[OUT1:.*]], %[[SAVED1:.*]] = weft.attention %arg0, %[[SHIFT]], %[[SHIFT1]] causal window(2) block(1) blocks(4) :
// CHECK-NEXT: %[[BOTH:.*]], %[[BOTH_LSE:.*]] = weft.attention_merge %[[CAST]], %[[SAVED]], %[[OUT1]], %[[SAVED1]] :
// CHECK-NEXT: %[[CAST1:.*]] = weft.cast %[[BOTH]] to bf16 :
// CHECK-NEXT: weft.output "out" %[[CAST1]] :
#mesh = #weft.placement<"cpu", [context = 4], [0, 1, 2, 3]>
!q = tensor<2x8x4x4xbf16, #weft.sbp<S(1)>>
!lse = tensor<2x4x8xf32, #weft.sbp<S(2)>>
weft.graph @window("q" %q: !q, "k" %k: !q, "v" %v: !q) placements [#mesh] {
  %out = weft.attention %q, %k, %v causal window(2) : (!q, !q, !q) -> !q
  weft.output "out" %out : (!q)
}

// -----

// Keys that are whole stay so.
// CHECK-LABEL: weft.graph @gathered
// CHECK-NEXT: %[[OUT:.*]] = weft.attention %arg0, %arg1, %arg1 causal :
// CHECK-NEXT: weft.output "out" %[[OUT]] :
#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x4x4xf32, #weft.sbp<S(1)>>
!k = tensor<2x8x4x4xf32, #weft.sbp<B>>
weft.graph @gathered("q" %q: !q, "k" %k: !k) placements [#mesh] {
  %out = weft.attention %q, %k, %k causal : (!q, !k, !k) -> !q
  weft.output "out" %out : (!q)
}
