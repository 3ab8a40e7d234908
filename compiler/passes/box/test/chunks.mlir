// RUN: weft-opt %s --weft-box-chunks=chunks=2 -split-input-file | FileCheck %s

// Three rows of a rank, two and one: those of what is read are taken, whatever stands between product and loss. All of it is
// of the backward now, and a part's gradients come before the next part's logits. Sums over rows are added up in float32;
// what has rows is joined, and what is made of the loss comes behind that.
// CHECK-LABEL: weft.graph @train
// CHECK-SAME: weft.loss_chunks = [{chunk_bytes = 36 : i64, chunks = 2 : i64, rows = 3 : i64, scope = "head", whole_bytes = 54 : i64}]
// CHECK: %[[W:.*]] = weft.cast
// CHECK: %[[B:.*]] = weft.cast
// CHECK: %[[ONE:.*]] = weft.fill
// CHECK-NEXT: %[[X:.*]] = weft.take_rows %arg0 rows(2) from(0) size(2) {phase = "backward", scope = "head"} : {{.*}} -> tensor<1x4x4xbf16, #weft.sbp<S(1), B>>
// CHECK-NEXT: %[[Y:.*]] = weft.einsum "bsh,vh->bsv" %[[X]], %[[W]] {of_chunk = 0 : i64, phase = "backward", scope = "head"} : {{.*}} -> tensor<1x4x9xbf16, #weft.sbp<S(1), B>>
// CHECK-NEXT: %[[L:.*]] = weft.add %[[Y]], %[[B]]
// CHECK-NEXT: %[[M:.*]] = weft.reduce max %[[L]] over [2] to f32 {{.*}} -> tensor<1x4xf32, #weft.sbp<S(1), B>>
// CHECK-NEXT: %[[S:.*]] = weft.sum_exp %[[L]], %[[M]]
// CHECK-NEXT: %[[I:.*]] = weft.take_rows %arg1 rows(2) from(0) size(2)
// CHECK-NEXT: %[[P:.*]] = weft.pick %[[L]], %[[I]]
// CHECK-NEXT: %[[G:.*]] = weft.cross_entropy_grad %[[ONE]], %[[L]], %[[M]], %[[S]], %[[I]] {of_chunk = 0 : i64, phase = "backward", scope = "head"}
// CHECK-NEXT: %[[GB:.*]] = weft.reduce sum %[[G]] over [0, 1] to f32 {{.*}} -> tensor<9xf32, #weft.sbp<P, B>>
// CHECK-NEXT: %[[GX:.*]] = weft.einsum "bsv,vh->bsh" %[[G]], %[[W]] {{.*}} -> tensor<1x4x4xbf16, #weft.sbp<S(1), B>>
// CHECK-NEXT: %[[GW:.*]] = weft.einsum "bsh,bsv->vh" %[[X]], %[[G]] to f32 {{.*}} -> tensor<9x4xf32, #weft.sbp<P, B>>
// CHECK-NEXT: weft.take_rows %arg0 rows(2) from(2) size(1) {{.*}} -> tensor<1x2x4xbf16, #weft.sbp<S(1), B>>
// CHECK: %[[GB2:.*]] = weft.reduce sum
// CHECK-NEXT: %[[GBS:.*]] = weft.add %[[GB]], %[[GB2]] {of_chunk = 1 : i64, phase = "backward", scope = "head"} : {{.*}} -> tensor<9xf32, #weft.sbp<P, B>>
// CHECK-NEXT: %[[GX2:.*]] = weft.einsum "bsv,vh->bsh"
// CHECK-NEXT: %[[GW2:.*]] = weft.einsum "bsh,bsv->vh"
// CHECK-NEXT: %[[GWS:.*]] = weft.add %[[GW]], %[[GW2]]
// CHECK-NEXT: %[[MJ:.*]] = weft.join_rows %[[M]], %{{.*}} rows(2) {{.*}} -> tensor<2x3xf32, #weft.sbp<S(0), B>>
// CHECK-NEXT: %[[SJ:.*]] = weft.join_rows %[[S]], %{{.*}} rows(2)
// CHECK-NEXT: %[[PJ:.*]] = weft.join_rows %[[P]], %{{.*}} rows(2)
// CHECK-NEXT: weft.cast_parts %[[GBS]] {{.*}} -> tensor<9xbf16, #weft.sbp<P, B>>
// CHECK-NEXT: %[[GXJ:.*]] = weft.join_rows %[[GX]], %[[GX2]] rows(2) {{.*}} -> tensor<2x3x4xbf16, #weft.sbp<S(0), B>>
// CHECK-NEXT: weft.cast_parts %[[GWS]]
// CHECK-NEXT: %[[LOSS:.*]], %{{.*}} = weft.cross_entropy_loss %[[MJ]], %[[SJ]], %[[PJ]], %arg1 {phase = "backward"}
// CHECK-NEXT: weft.neg %[[GXJ]]
// CHECK: weft.accumulate %[[LOSS]] {phase = "backward"}
// CHECK-NOT: rows(
#mesh = #weft.placement<"cpu", [data = 2, tensor = 1], [0, 1]>
!x = tensor<2x3x4xbf16, #weft.sbp<S(0), B>>
!labels = tensor<2x3xi32, #weft.sbp<S(0), B>>
!row = tensor<2x3xf32, #weft.sbp<S(0), B>>
!logits = tensor<2x3x9xbf16, #weft.sbp<S(0), B>>
!w = tensor<9x4xbf16, #weft.sbp<B, B>>
!dw = tensor<9x4xbf16, #weft.sbp<P, B>>
!b = tensor<9xbf16, #weft.sbp<B, B>>
!db = tensor<9xbf16, #weft.sbp<P, B>>
!sum = tensor<f32, #weft.sbp<P, B>>
weft.graph @train("x" %x: !x, "labels" %labels: !labels) placements [#mesh] micro_batches 2 {
  %w0 = weft.parameter "w" [9, 4] init(zeros) : () -> tensor<9x4xf32, #weft.sbp<B, B>>
  %w = weft.cast %w0 to bf16 : (tensor<9x4xf32, #weft.sbp<B, B>>) -> !w
  %b0 = weft.parameter "b" [9] init(zeros) : () -> tensor<9xf32, #weft.sbp<B, B>>
  %b = weft.cast %b0 to bf16 : (tensor<9xf32, #weft.sbp<B, B>>) -> !b
  %y = weft.einsum "bsh,vh->bsv" %x, %w {scope = "head"} : (!x, !w) -> !logits
  %l = weft.add %y, %b {scope = "head"} : (!logits, !b) -> !logits
  %m = weft.reduce max %l over [2] to f32 : (!logits) -> !row
  %s = weft.sum_exp %l, %m : (!logits, !row) -> !row
  %p = weft.pick %l, %labels : (!logits, !labels) -> !row
  %loss, %count = weft.cross_entropy_loss %m, %s, %p, %labels : (!row, !row, !row, !labels) -> (!sum, !sum)
  %one = weft.fill [] value(1.0) {phase = "backward"} : () -> tensor<f32, #weft.sbp<B, B>>
  %g = weft.cross_entropy_grad %one, %l, %m, %s, %labels {phase = "backward"} : (tensor<f32, #weft.sbp<B, B>>, !logits, !row, !row, !labels) -> !logits
  %gb = weft.reduce sum %g over [0, 1] {phase = "backward", scope = "head"} : (!logits) -> !db
  %gx = weft.einsum "bsv,vh->bsh" %g, %w {phase = "backward", scope = "head"} : (!logits, !w) -> !x
  %n = weft.neg %gx {phase = "backward"} : (!x) -> !x
  %gw = weft.einsum "bsh,bsv->vh" %x, %g {phase = "backward", scope = "head"} : (!x, !logits) -> !dw
  %0 = weft.accumulate %gw {phase = "backward"} : (!dw) -> !dw
  %1 = weft.accumulate %gb {phase = "backward"} : (!db) -> !db
  %2 = weft.accumulate %n {phase = "backward"} : (!x) -> !x
  %3 = weft.accumulate %loss : (!sum) -> !sum
  %4 = weft.accumulate %count : (!sum) -> !sum
  weft.output "gw" %0 : (!dw)
  weft.output "gb" %1 : (!db)
  weft.output "n" %2 : (!x)
  weft.output "loss" %3 : (!sum)
  weft.output "count" %4 : (!sum)
}

// -----

// A function has no gradient: all stays of the forward. A box of what has rows, such as a gather of logits, is of a part too.
// CHECK-LABEL: weft.graph @function
// CHECK: weft.take_rows %arg0 rows(1) from(0) size(2)
// CHECK-NEXT: weft.einsum "bh,vh->bv" {{.*}} -> tensor<2x8xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: weft.box {{.*}} -> tensor<2x8xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.reduce max
// CHECK-NEXT: weft.sum_exp
// CHECK-NEXT: weft.take_rows %arg0 rows(1) from(2) size(2)
// CHECK: weft.join_rows {{.*}} -> tensor<4xf32, #weft.sbp<B>>
// CHECK-NOT: phase
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @function("x" %x: tensor<4x4xf32, #weft.sbp<B>>) placements [#mesh] {
  %w = weft.parameter "w" [8, 4] init(zeros) : () -> tensor<8x4xf32, #weft.sbp<S(0)>>
  %y = weft.einsum "bh,vh->bv" %x, %w : (tensor<4x4xf32, #weft.sbp<B>>, tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<4x8xf32, #weft.sbp<S(1)>>
  %l = weft.box %y : (tensor<4x8xf32, #weft.sbp<S(1)>>) -> tensor<4x8xf32, #weft.sbp<B>>
  %m = weft.reduce max %l over [1] : (tensor<4x8xf32, #weft.sbp<B>>) -> tensor<4xf32, #weft.sbp<B>>
  %s = weft.sum_exp %l, %m : (tensor<4x8xf32, #weft.sbp<B>>, tensor<4xf32, #weft.sbp<B>>) -> tensor<4xf32, #weft.sbp<B>>
  weft.output "s" %s : (tensor<4xf32, #weft.sbp<B>>)
}

// -----

// Logits that are an output stay whole, and so do those that no product makes.
// CHECK-LABEL: weft.graph @whole
// CHECK-NOT: rows(
#one = #weft.placement<"cpu", [], [0]>
!x = tensor<4x4xf32, #weft.sbp<>>
!l = tensor<4x8xf32, #weft.sbp<>>
!r = tensor<4xf32, #weft.sbp<>>
weft.graph @whole("x" %x: !x, "given" %given: !l) placements [#one] {
  %w = weft.parameter "w" [8, 4] init(zeros) : () -> tensor<8x4xf32, #weft.sbp<>>
  %l = weft.einsum "bh,vh->bv" %x, %w : (!x, tensor<8x4xf32, #weft.sbp<>>) -> !l
  %m = weft.reduce max %l over [1] : (!l) -> !r
  %s = weft.sum_exp %l, %m : (!l, !r) -> !r
  %m2 = weft.reduce max %given over [1] : (!l) -> !r
  %s2 = weft.sum_exp %given, %m2 : (!l, !r) -> !r
  weft.output "s" %s : (!r)
  weft.output "s2" %s2 : (!r)
  weft.output "l" %l : (!l)
}

// -----

// A gradient that is scaled by a sum over the rows is not there before all rows are done.
// CHECK-LABEL: weft.graph @scaled
// CHECK-NOT: rows(
#one = #weft.placement<"cpu", [], [0]>
!x = tensor<4x4xf32, #weft.sbp<>>
!l = tensor<4x8xf32, #weft.sbp<>>
!r = tensor<4xf32, #weft.sbp<>>
!f = tensor<f32, #weft.sbp<>>
weft.graph @scaled("x" %x: !x, "labels" %labels: tensor<4xi32, #weft.sbp<>>) placements [#one] {
  %w = weft.parameter "w" [8, 4] init(zeros) : () -> tensor<8x4xf32, #weft.sbp<>>
  %l = weft.einsum "bh,vh->bv" %x, %w : (!x, tensor<8x4xf32, #weft.sbp<>>) -> !l
  %m = weft.reduce max %l over [1] : (!l) -> !r
  %s = weft.sum_exp %l, %m : (!l, !r) -> !r
  %p = weft.pick %l, %labels : (!l, tensor<4xi32, #weft.sbp<>>) -> !r
  %loss, %count = weft.cross_entropy_loss %m, %s, %p, %labels : (!r, !r, !r, tensor<4xi32, #weft.sbp<>>) -> (!f, !f)
  %g = weft.cross_entropy_grad %count, %l, %m, %s, %labels {phase = "backward"} : (!f, !l, !r, !r, tensor<4xi32, #weft.sbp<>>) -> !l
  %gw = weft.einsum "bh,bv->vh" %x, %g {phase = "backward"} : (!x, !l) -> tensor<8x4xf32, #weft.sbp<>>
  %0 = weft.accumulate %gw {phase = "backward"} : (tensor<8x4xf32, #weft.sbp<>>) -> tensor<8x4xf32, #weft.sbp<>>
  weft.output "gw" %0 : (tensor<8x4xf32, #weft.sbp<>>)
}
