// RUN: weft-opt %s --weft-elaborate-generate=chunk=4 -split-input-file -verify-diagnostics

// expected-error @+2 {{generate.chunk: expected a function of one input, i32 [batch, sequence], got @two, which has 2 inputs}}
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @two("tokens" %tokens: tensor<2x16xi32>, "labels" %labels: tensor<2x16xi32>) placements [#mesh] {
  weft.output "y" %tokens : (tensor<2x16xi32>)
}

// -----

// expected-error @+2 {{generate.chunk: expected fewer tokens than the 4 of a sequence, got 4}}
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @short("tokens" %tokens: tensor<2x4xi32>) placements [#mesh] {
  weft.output "y" %tokens : (tensor<2x4xi32>)
}

// -----

#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @sums("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %rows = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  // expected-error @+1 {{expected an op that makes each row of a sequence of that row, or causal attention, got one that makes one of all rows}}
  %0 = weft.reduce sum %rows over [1] : (tensor<2x16x8xf32>) -> tensor<2x8xf32>
  weft.output "y" %0 : (tensor<2x8xf32>)
}

// -----

#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @scan("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  // expected-error @+1 {{got one that needs rows of others too}}
  %0 = weft.cumsum %tokens dim(1) : (tensor<2x16xi32>) -> tensor<2x16xi32>
  weft.output "y" %0 : (tensor<2x16xi32>)
}

// -----

#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @joins("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %0 = weft.reshape %tokens [32] : (tensor<2x16xi32>) -> tensor<32xi32>
  // expected-error @+1 {{expected an output of each token, got one that has them in another order, or joined}}
  weft.output "y" %0 : (tensor<32xi32>)
}

// -----

#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @looks_ahead("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %0 = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %1 = weft.reshape %0 [2, 16, 2, 4] : (tensor<2x16x8xf32>) -> tensor<2x16x2x4xf32>
  // expected-error @+1 {{generate.chunk: expected causal attention, got attention to rows that are not there yet}}
  %2 = weft.attention %1, %1, %1 : (tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) -> tensor<2x16x2x4xf32>
  weft.output "y" %2 : (tensor<2x16x2x4xf32>)
}

// -----

#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @drops("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %0 = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  // expected-error @+1 {{generate.chunk: expected a function that drops nothing, got a rate above 0}}
  %1 = weft.dropout %0 rate(0.1) {seed = 1 : i64} : (tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  weft.output "y" %1 : (tensor<2x16x8xf32>)
}

// -----

#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @hides("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %0 = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %1 = weft.reshape %0 [2, 16, 2, 4] : (tensor<2x16x8xf32>) -> tensor<2x16x2x4xf32>
  %2 = weft.reshape %tokens [2, 1, 1, 16] : (tensor<2x16xi32>) -> tensor<2x1x1x16xi32>
  %3 = weft.fill [1, 1, 1, 1] value(0) to i32 : () -> tensor<1x1x1x1xi32>
  %mask = weft.not_equal %2, %3 : (tensor<2x1x1x16xi32>, tensor<1x1x1x1xi32>) -> tensor<2x1x1x16xi8>
  // expected-error @+1 {{generate.chunk: mask: expected one that positions alone make, got one that depends on the tokens}}
  %4 = weft.attention %1, %1, %1 mask(%mask) causal : (tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x1x1x16xi8>) -> tensor<2x16x2x4xf32>
  weft.output "y" %4 : (tensor<2x16x2x4xf32>)
}

// -----

#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @of_each_sample("tokens" %tokens: tensor<2x16xi32>) placements [#mesh] {
  %table = weft.parameter "wte" [32, 8] init(normal 0.02) : () -> tensor<32x8xf32>
  %0 = weft.embedding %tokens, %table : (tensor<2x16xi32>, tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %1 = weft.reshape %0 [2, 16, 2, 4] : (tensor<2x16x8xf32>) -> tensor<2x16x2x4xf32>
  %bias = weft.iota [2, 1, 16, 16] dim(3) to f32 : () -> tensor<2x1x16x16xf32>
  // expected-error @+1 {{generate.chunk: bias: expected one that positions alone make, got one for each of 2 samples}}
  %4 = weft.attention %1, %1, %1 bias(%bias) causal : (tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x1x16x16xf32>) -> tensor<2x16x2x4xf32>
  weft.output "y" %4 : (tensor<2x16x2x4xf32>)
}
