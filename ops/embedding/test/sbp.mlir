// RUN: weft-opt %s -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
!ids = tensor<4x8xi32, #weft.sbp<S(0), B>>
!table = tensor<256x16xf32, #weft.sbp<B, S(0)>>
!out = tensor<4x8x16xf32, #weft.sbp<S(0), P>>
!dout = tensor<4x8x16xf32, #weft.sbp<S(0), B>>
!dtable = tensor<256x16xf32, #weft.sbp<P, S(0)>>
// A table split by rows yields a pending sum; its gradient is split by rows again.
weft.graph @vocabulary("ids" %ids: !ids, "table" %table: !table, "dout" %dout: !dout) placements [#mesh] {
  %0 = weft.embedding %ids, %table : (!ids, !table) -> !out
  %1 = weft.embedding_grad %ids, %dout vocab(256) : (!ids, !dout) -> !dtable
}

// -----

#mesh = #weft.placement<"cpu", [context = 2, tensor = 2], [0, 1, 2, 3]>
!ids = tensor<4x8xi32, #weft.sbp<S(1), B>>
!table = tensor<256x16xf32, #weft.sbp<B, S(1)>>
!out = tensor<4x8x16xf32, #weft.sbp<S(1), S(2)>>
!dtable = tensor<256x16xf32, #weft.sbp<P, S(1)>>
weft.graph @positions_and_hidden("ids" %ids: !ids, "table" %table: !table) placements [#mesh] {
  %0 = weft.embedding %ids, %table : (!ids, !table) -> !out
  %1 = weft.embedding_grad %ids, %0 vocab(256) : (!ids, !out) -> !dtable
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
!ids = tensor<8xi32, #weft.sbp<B>>
!table = tensor<256x16xf32, #weft.sbp<P>>
!out = tensor<8x16xf32, #weft.sbp<P>>
// Linear in the table, and in the gradient.
weft.graph @pending("ids" %ids: !ids, "table" %table: !table) placements [#mesh] {
  %0 = weft.embedding %ids, %table : (!ids, !table) -> !out
  %1 = weft.embedding_grad %ids, %0 vocab(256) : (!ids, !out) -> !table
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
!ids = tensor<8xi32, #weft.sbp<B>>
!table = tensor<256x16xf32, #weft.sbp<S(0)>>
!out = tensor<8x16xf32, #weft.sbp<B>>
weft.graph @not_summed("ids" %ids: !ids, "table" %table: !table) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, S(0)) -> (B)}}
  %0 = weft.embedding %ids, %table : (!ids, !table) -> !out
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 3], [0, 1, 2]>
!ids = tensor<8xi32, #weft.sbp<B>>
!table = tensor<256x16xf32, #weft.sbp<S(0)>>
!out = tensor<8x16xf32, #weft.sbp<P>>
weft.graph @uneven("ids" %ids: !ids, "table" %table: !table) placements [#mesh] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %0 = weft.embedding %ids, %table : (!ids, !table) -> !out
}
