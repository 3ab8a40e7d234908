// RUN: weft-opt %s -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
!split = tensor<4x16xf32, #weft.sbp<S(0), S(1)>>
!pending = tensor<4x16xf32, #weft.sbp<S(0), P>>
// Any dimension; and linear, as the mask depends on the place alone.
weft.graph @accepted("x" %x: !split, "y" %y: !pending) placements [#mesh] {
  %0 = weft.dropout %x rate(0.5) seed(3) : (!split) -> !split
  %1 = weft.dropout %y rate(0.5) seed(3) : (!pending) -> !pending
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
!highest = tensor<4x16xf32, #weft.sbp<P(max)>>
weft.graph @maximum("x" %x: !highest) placements [#mesh] {
  // expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P(max)) -> (P(max))}}
  %0 = weft.dropout %x rate(0.5) seed(3) : (!highest) -> !highest
}
