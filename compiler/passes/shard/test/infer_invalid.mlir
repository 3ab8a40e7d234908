// RUN: weft-opt %s --weft-shard-infer -split-input-file -verify-diagnostics

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @unknown_axis() placements [#mesh] {
  // expected-error @+1 {{'weft.parameter' op w: expected an axis of the mesh #weft.placement<"cpu", [data = 2], [0, 1]>, got rows}}
  %w = weft.parameter "w" [8, 4] init(zeros) sbp(rows = S(0)) : () -> tensor<8x4xf32>
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @too_many_positions("x" %x: tensor<8x4xf32>) placements [#mesh] {
  // expected-error @+1 {{'weft.to_global' op result: expected an axis of the mesh #weft.placement<"cpu", [data = 2], [0, 1]>, got _1}}
  %0 = weft.to_global %x sbp(S(0), S(1)) : (tensor<8x4xf32>) -> tensor<8x4xf32>
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @no_state() placements [#mesh] {
  // expected-error @+1 {{'weft.parameter' op w: expected S(dim), B or P for axis data, got #weft.expr<"Q">}}
  %w = weft.parameter "w" [8, 4] init(zeros) sbp(data = Q) : () -> tensor<8x4xf32>
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @no_dimension() placements [#mesh] {
  // expected-error @+1 {{'weft.parameter' op w: expected a dimension below 2 for mesh axis data, got S(2)}}
  %w = weft.parameter "w" [8, 4] init(zeros) sbp(data = S(2)) : () -> tensor<8x4xf32>
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 4], [0, 1, 2, 3]>
weft.graph @uneven() placements [#mesh] {
  // expected-error @+1 {{'weft.parameter' op w: expected dimension 1 (6) to be divisible by mesh axis tensor = 4}}
  %w = weft.parameter "w" [8, 6] init(zeros) sbp(tensor = S(1)) : () -> tensor<8x6xf32>
}

// -----

// The outer axis cuts first; what it leaves is what the inner one must divide.
#mesh = #weft.placement<"cpu", [data = 2, tensor = 4], [0, 1, 2, 3, 4, 5, 6, 7]>
weft.graph @uneven_after_another("x" %x: tensor<4x8xf32>) placements [#mesh] {
  // expected-error @+1 {{'weft.to_global' op result: expected dimension 0 (2) to be divisible by mesh axis tensor = 4}}
  %0 = weft.to_global %x sbp(data = S(0), tensor = S(0)) : (tensor<4x8xf32>) -> tensor<4x8xf32>
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
// expected-error @+1 {{'weft.graph' op input x: expected dimension 0 (3) to be divisible by mesh axis data = 2}}
weft.graph @uneven_input("x" %x: tensor<3x8xf32>) placements [#mesh] {
}

// -----

#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @pending_parameter() placements [#mesh] {
  // expected-error @+1 {{'weft.parameter' op expected an SBP signature that honours the pins on mesh axis "tensor", got none}}
  %w = weft.parameter "w" [8, 4] init(zeros) sbp(tensor = P) : () -> tensor<8x4xf32>
}

// -----

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @before_autodiff("x" %x: tensor<f32>) placements [#mesh] {
  // expected-error @+1 {{'weft.minimize' op expected an op of the vocabulary before shard}}
  weft.minimize %x : (tensor<f32>)
}
