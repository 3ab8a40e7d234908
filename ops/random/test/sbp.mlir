// RUN: weft-opt %s -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [_0 = 2, _1 = 2], [0, 1, 2, 3]>
!split = tensor<16x8xf32, #weft.sbp<S(0), S(1)>>
!twice = tensor<16x8xf32, #weft.sbp<S(0), S(0)>>
!whole = tensor<16x8xf32, #weft.sbp<B, B>>
// Every rank draws its own tile of the same numbers.
weft.graph @accepted() placements [#mesh] {
  %0 = weft.random_normal [16, 8] mean(0) std(1) seed(1) : () -> !split
  %1 = weft.random_uniform [16, 8] low(0) high(1) seed(2) : () -> !twice
  %2 = weft.random_uniform [16, 8] low(0) high(1) seed(2) : () -> !whole
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @pending() placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got () -> (P)}}
  %0 = weft.random_normal [16, 8] mean(0) std(1) : () -> tensor<16x8xf32, #weft.sbp<P>>
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 3], [0, 1, 2]>
weft.graph @uneven() placements [#mesh] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %0 = weft.random_normal [16, 8] mean(0) std(1) : () -> tensor<16x8xf32, #weft.sbp<S(1)>>
}
