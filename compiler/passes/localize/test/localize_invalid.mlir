// RUN: weft-opt %s --weft-localize -split-input-file -verify-diagnostics

#one = #weft.placement<"cpu", [], [0]>
weft.graph @before_autodiff("x" %x: tensor<f32, #weft.sbp<>>) placements [#one] {
  // expected-error @+1 {{'weft.minimize' op expected an op with a kernel before localize}}
  weft.minimize %x : (tensor<f32, #weft.sbp<>>)
}

// -----

// expected-error @+1 {{expected one weft.graph, got 2}}
module {
  weft.graph @a() placements [#weft.placement<"cpu", [], [0]>] {
  }
  weft.graph @b() placements [#weft.placement<"cpu", [], [0]>] {
  }
}
