// RUN: weft-opt %s -split-input-file -verify-diagnostics

weft.graph @g("q" %q: tensor<8x6x4xf32>, "k" %k: tensor<2x8x3x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{q: expected [batch, rows, heads, head size], got 'tensor<8x6x4xf32>'}}
  %0 = weft.attention %q, %k, %k : (tensor<8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> tensor<8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xi32>, "k" %k: tensor<2x8x3x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{q: expected a floating-point element type, got 'i32'}}
  %0 = weft.attention %q, %k, %k : (tensor<2x8x6x4xi32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> tensor<2x8x6x4xi32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x8x3x4xbf16>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{k: expected the element type 'f32', got 'bf16'}}
  %0 = weft.attention %q, %k, %k : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xbf16>, tensor<2x8x3x4xbf16>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x8x3x4xf32>, "v" %v: tensor<2x9x3x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{v: expected 'tensor<2x8x3x4xf32>', got 'tensor<2x9x3x4xf32>'}}
  %0 = weft.attention %q, %k, %v : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x9x3x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<1x8x3x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{k: expected the batch 2, got 1}}
  %0 = weft.attention %q, %k, %k : (tensor<2x8x6x4xf32>, tensor<1x8x3x4xf32>, tensor<1x8x3x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x8x3x5xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{k: expected the head size 4, got 5}}
  %0 = weft.attention %q, %k, %k : (tensor<2x8x6x4xf32>, tensor<2x8x3x5xf32>, tensor<2x8x3x5xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x8x4x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{q: expected a multiple of the 4 key heads, got 6 heads}}
  %0 = weft.attention %q, %k, %k : (tensor<2x8x6x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x7x3x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{causal: expected at least as many keys as queries, got 7 keys for 8 queries}}
  %0 = weft.attention %q, %k, %k causal : (tensor<2x8x6x4xf32>, tensor<2x7x3x4xf32>, tensor<2x7x3x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x8x3x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{result #1: expected 'tensor<2x6x8xf32>', got 'tensor<2x8x6xf32>'}}
  %0, %lse = weft.attention %q, %k, %k : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x6xf32>)
}

// -----

%q = weft.parameter "q" [8] init(zeros)
// expected-error @+1 {{expected 1 or 2 result types, got 3}}
%0, %1, %2 = weft.attention %q, %q, %q : (!weft.any, !weft.any, !weft.any) -> (!weft.any, !weft.any, !weft.any)

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x8x4x4xf32>, "lse" %lse: tensor<2x6x8xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{q: expected a multiple of the 4 key heads, got 6 heads}}
  %dq, %dk, %dv = weft.attention_grad %q, %q, %k, %k, %q, %lse : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x6x4xf32>, tensor<2x6x8xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>)
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x8x3x4xf32>, "lse" %lse: tensor<2x6x8xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{dout: expected 'tensor<2x8x6x4xf32>', got 'tensor<2x8x3x4xf32>'}}
  %dq, %dk, %dv = weft.attention_grad %k, %q, %k, %k, %q, %lse : (tensor<2x8x3x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x6x4xf32>, tensor<2x6x8xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>)
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x8x3x4xf32>, "lse" %lse: tensor<2x6x8xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{out: expected 'tensor<2x8x6x4xf32>', got 'tensor<2x8x3x4xf32>'}}
  %dq, %dk, %dv = weft.attention_grad %q, %q, %k, %k, %k, %lse : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>, tensor<2x6x8xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>)
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "k" %k: tensor<2x8x3x4xf32>, "lse" %lse: tensor<2x8x6xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{lse: expected 'tensor<2x6x8xf32>', got 'tensor<2x8x6xf32>'}}
  %dq, %dk, %dv = weft.attention_grad %q, %q, %k, %k, %q, %lse : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>)
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{window: expected causal beside it}}
  %0 = weft.attention %q, %q, %q window(4) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{window: expected a positive number of keys, got 0}}
  %0 = weft.attention %q, %q, %q causal window(0) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "b" %b: tensor<2x6x8x8xbf16>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{bias: expected the element type f32, got 'bf16'}}
  %0 = weft.attention %q, %q, %q bias(%b) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x6x8x8xbf16>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "b" %b: tensor<3x6x8x8xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{bias: expected [batch, heads, queries, keys], 2 x 6 x 8 x 8, or 1 in any of them, got 'tensor<3x6x8x8xf32>'}}
  %0 = weft.attention %q, %q, %q bias(%b) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<3x6x8x8xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "b" %b: tensor<6x8x8xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{bias: expected [batch, heads, queries, keys], 2 x 6 x 8 x 8, or 1 in any of them, got 'tensor<6x8x8xf32>'}}
  %0 = weft.attention %q, %q, %q bias(%b) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<6x8x8xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "m" %m: tensor<2x1x1x8xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{mask: expected truth values, of the element type i8, got 'f32'}}
  %0 = weft.attention %q, %q, %q mask(%m) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x1x1x8xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "m" %m: tensor<2x8xi8>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{mask: expected [batch, heads, queries, keys], 2 x 6 x 8 x 8, or 1 in any of them, got 'tensor<2x8xi8>'}}
  %0 = weft.attention %q, %q, %q mask(%m) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8xi8>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{blocks: expected a number that divides 8 rows and 8 keys, got 3}}
  %0 = weft.attention %q, %q, %q block(0) blocks(3) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{block: expected 0 to 3, got 4}}
  %0 = weft.attention %q, %q, %q block(4) blocks(4) : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{zigzag: expected blocks of an even number of rows and as many keys, causal, without window, bias and mask}}
  %0 = weft.attention %q, %q, %q block(1) blocks(4) zigzag : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{zigzag: expected blocks of an even number of rows and as many keys, causal, without window, bias and mask}}
  %0 = weft.attention %q, %q, %q causal block(1) blocks(8) zigzag : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{zigzag: expected blocks of an even number of rows and as many keys, causal, without window, bias and mask}}
  %0 = weft.attention %q, %q, %q causal zigzag : (tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
}

// -----

weft.graph @g("q" %q: tensor<2x8x6x4xf32>, "l" %l: tensor<2x8x6xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{lse: expected 'tensor<2x6x8xf32>', got 'tensor<2x8x6xf32>'}}
  %0, %1 = weft.attention_merge %q, %l, %q, %l : (tensor<2x8x6x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6x4xf32>, tensor<2x8x6xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x8x6xf32>)
}
