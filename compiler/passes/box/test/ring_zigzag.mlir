// RUN: weft-opt %s --weft-box-ring=zigzag=always -split-input-file | FileCheck %s

// Halves of rows and keys are exchanged once, for the forward and for the gradient, and those of results. The gradient exchanges
// what is known only then, and takes the log sums as the forward made them.
// CHECK-LABEL: weft.graph @two
// CHECK-NEXT: %[[Q:.*]] = weft.zigzag %arg0 axis(0) {scope = "h.0"} :
// CHECK-NEXT: %[[K:.*]] = weft.zigzag %arg1 axis(0) {scope = "h.0"} :
// CHECK-NEXT: %[[V:.*]] = weft.zigzag %arg2 axis(0) {scope = "h.0"} :
// CHECK-NEXT: %[[K1:.*]] = weft.shift %[[K]] axis(0) by(1)
// CHECK-NEXT: %[[V1:.*]] = weft.shift %[[V]] axis(0) by(1)
// CHECK-NEXT: %[[OUT:.*]], %[[SAVED:.*]] = weft.attention %[[Q]], %[[K]], %[[V]] causal block(0) blocks(2) zigzag {scope = "h.0"} :
// CHECK-NEXT: %[[OUT1:.*]], %[[SAVED1:.*]] = weft.attention %[[Q]], %[[K1]], %[[V1]] causal block(1) blocks(2) zigzag {scope = "h.0"} :
// CHECK-NEXT: %[[BOTH:.*]], %[[LSE:.*]] = weft.attention_merge %[[OUT]], %[[SAVED]], %[[OUT1]], %[[SAVED1]] {scope = "h.0"} :
// CHECK-NEXT: %[[RESULT:.*]] = weft.zigzag %[[BOTH]] axis(0) back {scope = "h.0"} :
// CHECK-NEXT: weft.zigzag %[[LSE]] axis(0) back {scope = "h.0"} :
// CHECK-NEXT: weft.output "out" %[[RESULT]] :
// CHECK-NEXT: %[[DOUT:.*]] = weft.zigzag %arg3 axis(0) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[AGAIN:.*]] = weft.zigzag %[[RESULT]] axis(0) {phase = "backward", scope = "h.0"} :
// CHECK-NEXT: %[[K2:.*]] = weft.shift %[[K]] axis(0) by(1)
// CHECK-NEXT: %[[V2:.*]] = weft.shift %[[V]] axis(0) by(1)
// CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = weft.attention_grad %[[DOUT]], %[[Q]], %[[K]], %[[V]], %[[AGAIN]], %[[LSE]] causal block(0) blocks(2) zigzag
// CHECK-NEXT: %[[DK1:.*]] = weft.shift %[[DK]] axis(0) by(1)
// CHECK-NEXT: %[[DV1:.*]] = weft.shift %[[DV]] axis(0) by(1)
// CHECK-NEXT: %[[DQ2:.*]], %[[DK2:.*]], %[[DV2:.*]] = weft.attention_grad %[[DOUT]], %[[Q]], %[[K2]], %[[V2]], %[[AGAIN]], %[[LSE]] causal block(1) blocks(2) zigzag
// CHECK-NEXT: %[[DQ3:.*]] = weft.add %[[DQ]], %[[DQ2]]
// CHECK-NEXT: %[[DK3:.*]] = weft.add %[[DK1]], %[[DK2]]
// CHECK-NEXT: %[[DV3:.*]] = weft.add %[[DV1]], %[[DV2]]
// CHECK-NEXT: %[[DK4:.*]] = weft.shift %[[DK3]] axis(0) by(1)
// CHECK-NEXT: %[[DV4:.*]] = weft.shift %[[DV3]] axis(0) by(1)
// CHECK-NEXT: %[[DQ5:.*]] = weft.zigzag %[[DQ3]] axis(0) back
// CHECK-NEXT: %[[DK5:.*]] = weft.zigzag %[[DK4]] axis(0) back
// CHECK-NEXT: %[[DV5:.*]] = weft.zigzag %[[DV4]] axis(0) back
// CHECK-NEXT: weft.output "dq" %[[DQ5]] :
// CHECK-NEXT: weft.output "dk" %[[DK5]] :
// CHECK-NEXT: weft.output "dv" %[[DV5]] :
#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x4x4xf32, #weft.sbp<S(1)>>
!lse = tensor<2x4x8xf32, #weft.sbp<S(2)>>
weft.graph @two("q" %q: !q, "k" %k: !q, "v" %v: !q, "dout" %dout: !q) placements [#mesh] {
  %out, %lse = weft.attention %q, %k, %v causal {scope = "h.0"} : (!q, !q, !q) -> (!q, !lse)
  weft.output "out" %out : (!q)
  %dq, %dk, %dv = weft.attention_grad %dout, %q, %k, %v, %out, %lse causal {phase = "backward", scope = "h.0"} : (!q, !q, !q, !q, !q, !lse) -> (!q, !q, !q)
  weft.output "dq" %dq : (!q)
  weft.output "dk" %dk : (!q)
  weft.output "dv" %dv : (!q)
}

// -----

// An odd number of rows on a rank has no halves.
// CHECK-LABEL: weft.graph @odd(
// CHECK-NOT: zigzag
// CHECK: weft.output
#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x6x4x4xf32, #weft.sbp<S(1)>>
weft.graph @odd("q" %q: !q, "k" %k: !q, "v" %v: !q) placements [#mesh] {
  %out = weft.attention %q, %k, %v causal : (!q, !q, !q) -> !q
  weft.output "out" %out : (!q)
}

// -----

// All rows have as much to see.
// CHECK-LABEL: weft.graph @all(
// CHECK-NOT: zigzag
// CHECK: weft.output
#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x4x4xf32, #weft.sbp<S(1)>>
weft.graph @all("q" %q: !q, "k" %k: !q, "v" %v: !q) placements [#mesh] {
  %out = weft.attention %q, %k, %v : (!q, !q, !q) -> !q
  weft.output "out" %out : (!q)
}

// -----

// A window hides as much from all rows but the first.
// CHECK-LABEL: weft.graph @window(
// CHECK-NOT: zigzag
// CHECK: weft.output
#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x4x4xf32, #weft.sbp<S(1)>>
weft.graph @window("q" %q: !q, "k" %k: !q, "v" %v: !q) placements [#mesh] {
  %out = weft.attention %q, %k, %v causal window(3) : (!q, !q, !q) -> !q
  weft.output "out" %out : (!q)
}
