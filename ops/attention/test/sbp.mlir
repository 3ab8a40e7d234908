// RUN: weft-opt %s -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(0), S(2)>>
!k = tensor<2x8x4x4xf32, #weft.sbp<S(0), S(2)>>
!lse = tensor<2x8x8xf32, #weft.sbp<S(0), S(1)>>
// The batch over one axis; key heads, and the pairs of query heads that read them, over the other.
weft.graph @batch_and_heads("q" %q: !q, "k" %k: !k, "v" %v: !k) placements [#mesh] {
  %out, %lse = weft.attention %q, %k, %v causal : (!q, !k, !k) -> (!q, !lse)
  %dq, %dk, %dv = weft.attention_grad %q, %q, %k, %v, %out, %lse causal : (!q, !q, !k, !k, !q, !lse) -> (!q, !k, !k)
}

// -----

#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(1)>>
!k = tensor<2x8x4x4xf32, #weft.sbp<B>>
!dk = tensor<2x8x4x4xf32, #weft.sbp<P>>
!lse = tensor<2x8x8xf32, #weft.sbp<S(2)>>
// Rows of the queries: every rank adds its share to the gradients of keys and values.
weft.graph @rows("q" %q: !q, "k" %k: !k, "v" %v: !k) placements [#mesh] {
  %out, %lse = weft.attention %q, %k, %v causal : (!q, !k, !k) -> (!q, !lse)
  %dq, %dk, %dv = weft.attention_grad %q, %q, %k, %v, %out, %lse causal : (!q, !q, !k, !k, !q, !lse) -> (!q, !dk, !dk)
}

// -----

#mesh = #weft.placement<"cpu", [context = 2, tensor = 2], [0, 1, 2, 3]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(1), S(2)>>
!k = tensor<2x8x4x4xf32, #weft.sbp<S(1), S(2)>>
!lse = tensor<2x8x8xf32, #weft.sbp<S(2), S(1)>>
!mask = tensor<2x1x8x8xi8, #weft.sbp<S(2), B>>
// Rows and keys together: keys and values, and the gradients of both, go round. A rank has the mask of its rows.
weft.graph @ring("q" %q: !q, "k" %k: !k, "v" %v: !k, "mask" %mask: !mask) placements [#mesh] {
  %out, %lse = weft.attention %q, %k, %v mask(%mask) causal : (!q, !k, !k, !mask) -> (!q, !lse)
  %dq, %dk, %dv = weft.attention_grad %q, %q, %k, %v, %out, %lse mask(%mask) causal : (!q, !q, !k, !k, !q, !lse, !mask) -> (!q, !k, !k)
  %block, %more = weft.attention %q, %k, %v mask(%mask) causal block(1) blocks(2) : (!q, !k, !k, !mask) -> (!q, !lse)
  %next = weft.shift %k axis(0) by(1) : (!k) -> !k
}

// -----

#mesh = #weft.placement<"cpu", [data = 2, context = 2], [0, 1, 2, 3]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(1), S(1)>>
!k = tensor<2x8x8x4xf32, #weft.sbp<B, S(1)>>
weft.graph @rows_of_two_places("q" %q: !q, "k" %k: !k) placements [#mesh] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %out = weft.attention %q, %k, %k : (!q, !k, !k) -> !q
}

// -----

#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(1)>>
weft.graph @zigzag("q" %q: !q) placements [#mesh] {
  %other = weft.zigzag %q axis(0) : (!q) -> !q
  %block = weft.attention %other, %other, %other causal block(1) blocks(2) zigzag : (!q, !q, !q) -> !q
  // expected-error @+1 {{axis: expected one that splits the operand, got 1 of 'tensor<2x8x8x4xf32, #weft.sbp<S(1)>>'}}
  %next = weft.zigzag %q axis(1) : (!q) -> !q
}

// -----

#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(1)>>
weft.graph @shift("q" %q: !q) placements [#mesh] {
  // expected-error @+1 {{axis: expected one that splits the operand, got 1 of 'tensor<2x8x8x4xf32, #weft.sbp<S(1)>>'}}
  %next = weft.shift %q axis(1) by(1) : (!q) -> !q
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(2)>>
!k = tensor<2x8x1x4xf32, #weft.sbp<B>>
!dk = tensor<2x8x1x4xf32, #weft.sbp<P>>
!lse = tensor<2x8x8xf32, #weft.sbp<S(1)>>
// One key head for all query heads.
weft.graph @multi_query("q" %q: !q, "k" %k: !k, "v" %v: !k) placements [#mesh] {
  %out, %lse = weft.attention %q, %k, %v : (!q, !k, !k) -> (!q, !lse)
  %dq, %dk, %dv = weft.attention_grad %q, %q, %k, %v, %out, %lse : (!q, !q, !k, !k, !q, !lse) -> (!q, !dk, !dk)
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(2)>>
!k = tensor<2x8x4x4xf32, #weft.sbp<B>>
weft.graph @query_heads_alone("q" %q: !q, "k" %k: !k) placements [#mesh] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %out = weft.attention %q, %k, %k : (!q, !k, !k) -> !q
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 4, group = 2], [0, 1, 2, 3, 4, 5, 6, 7]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(2), S(2)>>
!k = tensor<2x8x4x4xf32, #weft.sbp<S(2), B>>
!dk = tensor<2x8x4x4xf32, #weft.sbp<S(2), P>>
!lse = tensor<2x8x8xf32, #weft.sbp<S(1), S(1)>>
// Where a rank has one key head, further ranks share its queries.
weft.graph @shared_keys("q" %q: !q, "k" %k: !k, "v" %v: !k) placements [#mesh] {
  %out, %lse = weft.attention %q, %k, %v : (!q, !k, !k) -> (!q, !lse)
  %dq, %dk, %dv = weft.attention_grad %q, %q, %k, %v, %out, %lse : (!q, !q, !k, !k, !q, !lse) -> (!q, !dk, !dk)
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 4], [0, 1, 2, 3]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(2)>>
!k = tensor<2x8x2x4xf32, #weft.sbp<S(2)>>
weft.graph @too_few_key_heads("q" %q: !q, "k" %k: !k) placements [#mesh] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %out = weft.attention %q, %k, %k : (!q, !k, !k) -> !q
}

// -----

#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x8x4xf32, #weft.sbp<B>>
!k = tensor<2x8x8x4xf32, #weft.sbp<S(1)>>
!out = tensor<2x8x8x4xf32, #weft.sbp<P>>
weft.graph @keys("q" %q: !q, "k" %k: !k) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, S(1), S(1)) -> (P)}}
  %out = weft.attention %q, %k, %k : (!q, !k, !k) -> !out
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(3)>>
weft.graph @head_size("q" %q: !q) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(3), S(3), S(3)) -> (S(3))}}
  %out = weft.attention %q, %q, %q : (!q, !q, !q) -> !q
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
!q = tensor<2x8x8x4xf32, #weft.sbp<B>>
!v = tensor<2x8x8x4xf32, #weft.sbp<P>>
weft.graph @pending_values("q" %q: !q, "v" %v: !v) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, B, P) -> (P)}}
  %out = weft.attention %q, %q, %v : (!q, !q, !v) -> !v
}

// -----

#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(0), S(2)>>
!lse = tensor<2x8x8xf32, #weft.sbp<S(0), S(1)>>
!bias = tensor<1x8x8x8xf32, #weft.sbp<B, S(1)>>
!dbias = tensor<1x8x8x8xf32, #weft.sbp<P, S(1)>>
!mask = tensor<2x1x1x8xi8, #weft.sbp<S(0), B>>
// A bias of all rows of the batch is whole where the batch is split, and its gradient a pending sum.
weft.graph @bias("q" %q: !q, "bias" %bias: !bias, "mask" %mask: !mask) placements [#mesh] {
  %out, %lse = weft.attention %q, %q, %q bias(%bias) mask(%mask) : (!q, !q, !q, !bias, !mask) -> (!q, !lse)
  %dq, %dk, %dv = weft.attention_grad %q, %q, %q, %q, %out, %lse bias(%bias) mask(%mask) : (!q, !q, !q, !q, !q, !lse, !bias, !mask) -> (!q, !q, !q)
  %dbias = weft.attention_bias_grad %q, %q, %q, %q, %out, %lse bias(%bias) mask(%mask) : (!q, !q, !q, !q, !q, !lse, !bias, !mask) -> !dbias
}

// -----

#mesh = #weft.placement<"cpu", [context = 2], [0, 1]>
!q = tensor<2x8x8x4xf32, #weft.sbp<S(1)>>
!k = tensor<2x8x8x4xf32, #weft.sbp<B>>
!mask = tensor<2x1x8x8xi8, #weft.sbp<S(3)>>
weft.graph @mask_of_keys("q" %q: !q, "k" %k: !k, "mask" %mask: !mask) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1), B, B, S(3)) -> (S(1))}}
  %out = weft.attention %q, %k, %k mask(%mask) : (!q, !k, !k, !mask) -> !q
}
