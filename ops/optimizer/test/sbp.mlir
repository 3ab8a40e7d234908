// RUN: weft-opt %s -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
!p = tensor<4x8xf32, #weft.sbp<B, S(1)>>
!s = tensor<f32, #weft.sbp<B, B>>
!squares = tensor<f32, #weft.sbp<B, P>>
// Every rank updates its own tile; only the sum of squares is exchanged.
weft.graph @accepted("p" %p: !p, "g" %g: !p, "m" %m: !p, "v" %v: !p, "count" %count: !s) placements [#mesh] {
  %0 = weft.square_sum %g : (!p) -> !squares
  %1 = weft.box %0 : (!squares) -> !s
  %scale, %norm = weft.clip_scale %1, %count clip_norm(1.0) : (!s, !s) -> (!s, !s)
  %lr = weft.learning_rate 0.1 constant : () -> !s
  %2 = weft.sgd %p, %g, %lr, %scale weight_decay(0.0) : (!p, !p, !s, !s) -> !p
  %3, %4 = weft.sgd_momentum %p, %g, %v, %lr, %scale momentum(0.9) weight_decay(0.0) : (!p, !p, !p, !s, !s) -> (!p, !p)
  %5, %6, %7 = weft.adam %p, %g, %m, %v, %lr, %scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (!p, !p, !p, !p, !s, !s) -> (!p, !p, !p)
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
!g = tensor<4xf32, #weft.sbp<P>>
weft.graph @squares_of_a_pending_sum("g" %g: !g) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
  %0 = weft.square_sum %g : (!g) -> tensor<f32, #weft.sbp<P>>
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
!s = tensor<f32, #weft.sbp<P>>
weft.graph @norm_of_a_pending_sum("q" %q: !s) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P, P)}}
  %0, %1 = weft.clip_scale %q, %q clip_norm(1.0) : (!s, !s) -> (!s, !s)
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
!p = tensor<4xf32, #weft.sbp<B>>
!g = tensor<4xf32, #weft.sbp<P>>
!s = tensor<f32, #weft.sbp<B>>
weft.graph @pending_gradient("p" %p: !p, "g" %g: !g, "lr" %lr: !s) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, P, B, B) -> (P)}}
  %0 = weft.sgd %p, %g, %lr, %lr weight_decay(0.0) : (!p, !g, !s, !s) -> !g
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
!p = tensor<4xf32, #weft.sbp<B>>
!g = tensor<4xf32, #weft.sbp<S(0)>>
!s = tensor<f32, #weft.sbp<B>>
weft.graph @state_elsewhere("p" %p: !p, "g" %g: !p, "m" %m: !g, "lr" %lr: !s) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, B, S(0), S(0), B, B) -> (B, S(0), S(0))}}
  %0, %1, %2 = weft.adam %p, %g, %m, %m, %lr, %lr beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (!p, !p, !g, !g, !s, !s) -> (!p, !g, !g)
}
