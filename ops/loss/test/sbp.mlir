// RUN: weft-opt %s -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
!logits = tensor<4x8x32xf32, #weft.sbp<S(0), S(2)>>
!labels = tensor<4x8xi32, #weft.sbp<S(0), B>>
!rows = tensor<4x8xf32, #weft.sbp<S(0), B>>
!pending = tensor<4x8xf32, #weft.sbp<S(0), P>>
!highest = tensor<4x8xf32, #weft.sbp<S(0), P(max)>>
!total = tensor<f32, #weft.sbp<P, B>>
!scalar = tensor<f32, #weft.sbp<B, B>>
// Rows over one axis, the vocabulary over the other: only statistics of rows are exchanged.
weft.graph @rows_and_vocabulary("logits" %logits: !logits, "labels" %labels: !labels, "dloss" %dloss: !scalar) placements [#mesh] {
  %0 = weft.reduce max %logits over [2] : (!logits) -> !highest
  %max = weft.box %0 : (!highest) -> !rows
  %1 = weft.sum_exp %logits, %max : (!logits, !rows) -> !pending
  %sum = weft.box %1 : (!pending) -> !rows
  %2 = weft.pick %logits, %labels : (!logits, !labels) -> !pending
  %picked = weft.box %2 : (!pending) -> !rows
  %loss, %count = weft.cross_entropy_loss %max, %sum, %picked, %labels : (!rows, !rows, !rows, !labels) -> (!total, !total)
  %3 = weft.cross_entropy_grad %dloss, %logits, %max, %sum, %labels : (!scalar, !logits, !rows, !rows, !labels) -> !logits
  %weighted, %weight = weft.cross_entropy_loss %max, %sum, %picked, %labels weights(%max) : (!rows, !rows, !rows, !labels, !rows) -> (!total, !total)
  %4 = weft.cross_entropy_grad %dloss, %logits, %max, %sum, %labels weights(%max) label_smoothing(0.1) : (!scalar, !logits, !rows, !rows, !labels, !rows) -> !logits
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
!logits = tensor<8x32xf32, #weft.sbp<P>>
!labels = tensor<8xi32, #weft.sbp<B>>
!rows = tensor<8xf32, #weft.sbp<B>>
!pending = tensor<8xf32, #weft.sbp<P>>
!dloss = tensor<f32, #weft.sbp<P>>
!whole = tensor<8x32xf32, #weft.sbp<B>>
// Picking is linear in the logits, the gradient in that of the loss.
weft.graph @linear("logits" %logits: !logits, "whole" %whole: !whole, "labels" %labels: !labels, "rows" %rows: !rows, "dloss" %dloss: !dloss) placements [#mesh] {
  %0 = weft.pick %logits, %labels : (!logits, !labels) -> !pending
  %1 = weft.cross_entropy_grad %dloss, %whole, %rows, %rows, %labels : (!dloss, !whole, !rows, !rows, !labels) -> !logits
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
!logits = tensor<8x32xf32, #weft.sbp<S(1)>>
!rows = tensor<8xf32, #weft.sbp<B>>
weft.graph @not_summed("logits" %logits: !logits, "max" %max: !rows) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1), B) -> (B)}}
  %0 = weft.sum_exp %logits, %max : (!logits, !rows) -> !rows
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
!logits = tensor<8x32xf32, #weft.sbp<S(1)>>
!highest = tensor<8xf32, #weft.sbp<P(max)>>
!pending = tensor<8xf32, #weft.sbp<P>>
weft.graph @different_maxima("logits" %logits: !logits, "max" %max: !highest) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1), P(max)) -> (P)}}
  %0 = weft.sum_exp %logits, %max : (!logits, !highest) -> !pending
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
!rows = tensor<8xf32, #weft.sbp<B>>
!pending = tensor<8xf32, #weft.sbp<P>>
!labels = tensor<8xi32, #weft.sbp<B>>
!total = tensor<f32, #weft.sbp<P>>
weft.graph @logarithm_of_a_pending_sum("max" %max: !rows, "sum" %sum: !pending, "labels" %labels: !labels) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, P, B, B) -> (P, P)}}
  %loss, %count = weft.cross_entropy_loss %max, %sum, %max, %labels : (!rows, !pending, !rows, !labels) -> (!total, !total)
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
!logits = tensor<8x32xf32, #weft.sbp<S(1)>>
!labels = tensor<8xi32, #weft.sbp<B>>
!scalar = tensor<f32, #weft.sbp<B>>
weft.graph @composite("logits" %logits: !logits, "labels" %labels: !labels) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1), B) -> (B, B)}}
  %loss, %count = weft.cross_entropy %logits, %labels : (!logits, !labels) -> (!scalar, !scalar)
}
