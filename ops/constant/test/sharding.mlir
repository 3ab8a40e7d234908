// RUN: weft-opt %s -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [_0 = 2, _1 = 2], [0, 1, 2, 3]>
// Every rank makes its own tile of the same numbers.
weft.graph @accepted() placements [#mesh] {
  %0 = weft.fill [16, 8] value(1) : () -> tensor<16x8xf32, #weft.sbp<S(0), S(1)>>
  %1 = weft.iota [16, 8] dim(1) : () -> tensor<16x8xi32, #weft.sbp<S(1), S(1)>>
  %2 = weft.constant [2] values [1, 2] : () -> tensor<2xf32, #weft.sbp<B, S(0)>>
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @pending() placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got () -> (P)}}
  %0 = weft.fill [16, 8] value(1) : () -> tensor<16x8xf32, #weft.sbp<P>>
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @pending() placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got () -> (P)}}
  %0 = weft.iota [16, 8] dim(0) : () -> tensor<16x8xi32, #weft.sbp<P>>
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 3], [0, 1, 2]>
weft.graph @uneven() placements [#mesh] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %0 = weft.constant [2] values [1, 2] : () -> tensor<2xf32, #weft.sbp<S(0)>>
}
