// RUN: weft-opt %s -split-input-file -verify-diagnostics

weft.graph @g("x" %x: tensor<4xi32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{expected a floating-point element type, got 'i32'}}
  %0 = weft.dropout %x rate(0.5) : (tensor<4xi32>) -> tensor<4xi32>
}

// -----

weft.graph @g("x" %x: tensor<4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{rate: expected at least 0 and less than 1, got 1.000000e+00}}
  %0 = weft.dropout %x rate(1) : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

weft.graph @g("x" %x: tensor<4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{rate: expected at least 0 and less than 1, got -1.000000e-01}}
  %0 = weft.dropout %x rate(-0.1) : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

weft.graph @g("x" %x: tensor<4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{rate: expected a constant, got dropout}}
  %0 = weft.dropout %x rate(dropout) : (tensor<4xf32>) -> tensor<4xf32>
}
