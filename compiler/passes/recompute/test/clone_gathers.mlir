// RUN: weft-opt %s --weft-recompute-clone=policy=selective | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: weft-opt %s --weft-recompute-clone=policy=full | FileCheck %s --check-prefixes=CHECK,FULL
// RUN: sed 's/node_bytes_s = 2.0e+12/node_bytes_s = 2.0e+11/' %s | weft-opt --weft-recompute-clone=policy=selective | FileCheck %s --check-prefixes=CHECK,SLOW

// The input of a product that is split by columns is gathered along the sequence. Where the gather takes less time than
// memory takes for 16 times the bytes that would be kept, the layer keeps %x, and the norm and the gather run again: the
// gather right in front of what reads it, so that no other gathered input lies beside it. Where the link is slower than
// that, what was gathered is kept.
// CHECK-LABEL: weft.graph @gathered_input
// CHECK: %[[W:.*]] = weft.parameter "w"
// CHECK: %[[B:.*]] = weft.parameter "b"
// CHECK: %[[N:.*]], %[[S:.*]]:2 = weft.layer_norm %arg0
// CHECK: %[[G:.*]] = weft.box %[[N]] {scope = "h.0.fc"}
// CHECK: weft.einsum "bsi,io->bso" %[[G]], %[[W]]
// SLOW-NOT: recompute
// FAST: %[[M:.*]], %{{.*}}:2 = weft.layer_norm %arg0, %[[B]], %[[B]] eps(1.000000e-05) {phase = "recompute", scope = "h.0.ln"}
// FAST-NEXT: weft.einsum "bso,io->bsi" {{.*}} {phase = "backward", scope = "h.0.fc"}
// FAST-NEXT: %[[AGAIN:.*]] = weft.box %[[M]] {phase = "recompute", scope = "h.0.fc"} : (tensor<8x1024x256xf32, #weft.sbp<S(1)>>) -> tensor<8x1024x256xf32, #weft.sbp<B>>
// FAST-NEXT: weft.einsum "bsi,bso->io" %[[AGAIN]], %{{.*}} {phase = "backward", scope = "h.0.fc"}
// FULL: weft.layer_norm {{.*}} {phase = "recompute", scope = "h.0.ln"}
// FULL: weft.einsum "bso,io->bsi" {{.*}} {phase = "backward", scope = "h.0.fc"}
// FULL-NEXT: weft.box {{.*}} {phase = "recompute", scope = "h.0.fc"}
// SLOW: weft.einsum "bsi,bso->io" %[[G]], %{{.*}} {phase = "backward", scope = "h.0.fc"}
// CHECK-NOT: recompute
#mesh = #weft.placement<"cpu", [tensor = 8], [0, 1, 2, 3, 4, 5, 6, 7]>
weft.graph @gathered_input("x" %x: tensor<8x1024x256xf32, #weft.sbp<S(1)>>, "dy" %dy: tensor<8x1024x1024xf32, #weft.sbp<S(2)>>)
    placements [#mesh] attributes {weft.machine = {other_flops = 6.7e+13, memory_bytes_s = 4.8e+12, node_bytes_s = 2.0e+12, node_latency_s = 0.0}} {
  %w = weft.parameter "w" [256, 1024] init(zeros) {scope = "h.0.fc"} : () -> tensor<256x1024xf32, #weft.sbp<S(1)>>
  %b = weft.parameter "b" [256] init(zeros) {scope = "h.0.ln"} : () -> tensor<256xf32, #weft.sbp<B>>
  %n, %s:2 = weft.layer_norm %x, %b, %b eps(1.0e-5) {scope = "h.0.ln"} : (tensor<8x1024x256xf32, #weft.sbp<S(1)>>, tensor<256xf32, #weft.sbp<B>>, tensor<256xf32, #weft.sbp<B>>) -> (tensor<8x1024x256xf32, #weft.sbp<S(1)>>, tensor<8x1024xf32, #weft.sbp<S(1)>>, tensor<8x1024xf32, #weft.sbp<S(1)>>)
  %g = weft.box %n {scope = "h.0.fc"} : (tensor<8x1024x256xf32, #weft.sbp<S(1)>>) -> tensor<8x1024x256xf32, #weft.sbp<B>>
  %y = weft.einsum "bsi,io->bso" %g, %w {scope = "h.0.fc"} : (tensor<8x1024x256xf32, #weft.sbp<B>>, tensor<256x1024xf32, #weft.sbp<S(1)>>) -> tensor<8x1024x1024xf32, #weft.sbp<S(2)>>
  %dg = weft.einsum "bso,io->bsi" %dy, %w {phase = "backward", scope = "h.0.fc"} : (tensor<8x1024x1024xf32, #weft.sbp<S(2)>>, tensor<256x1024xf32, #weft.sbp<S(1)>>) -> tensor<8x1024x256xf32, #weft.sbp<P>>
  %dw = weft.einsum "bsi,bso->io" %g, %dy {phase = "backward", scope = "h.0.fc"} : (tensor<8x1024x256xf32, #weft.sbp<B>>, tensor<8x1024x1024xf32, #weft.sbp<S(2)>>) -> tensor<256x1024xf32, #weft.sbp<S(1)>>
  %dn = weft.box %dg {phase = "backward", scope = "h.0.fc"} : (tensor<8x1024x256xf32, #weft.sbp<P>>) -> tensor<8x1024x256xf32, #weft.sbp<S(1)>>
  %dx, %db, %dc = weft.layer_norm_grad %dn, %x, %b, %s#0, %s#1 {phase = "backward", scope = "h.0.ln"} : (tensor<8x1024x256xf32, #weft.sbp<S(1)>>, tensor<8x1024x256xf32, #weft.sbp<S(1)>>, tensor<256xf32, #weft.sbp<B>>, tensor<8x1024xf32, #weft.sbp<S(1)>>, tensor<8x1024xf32, #weft.sbp<S(1)>>) -> (tensor<8x1024x256xf32, #weft.sbp<S(1)>>, tensor<256xf32, #weft.sbp<P>>, tensor<256xf32, #weft.sbp<P>>)
  %c = weft.accumulate %dw {phase = "backward", scope = "h.0.fc"} : (tensor<256x1024xf32, #weft.sbp<S(1)>>) -> tensor<256x1024xf32, #weft.sbp<S(1)>>
  %d = weft.accumulate %db {phase = "backward", scope = "h.0.ln"} : (tensor<256xf32, #weft.sbp<P>>) -> tensor<256xf32, #weft.sbp<P>>
}
