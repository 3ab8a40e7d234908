// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// expected-error @+1 {{expected one name an input, got 1 for 0}}
"weft.graph"() ({
^entry:
}) {sym_name = "g", inputs = ["x"], placements = [#weft.placement<"cpu", [], [0]>]} : () -> ()

// -----

// expected-error @+1 {{expected distinct input names, got "x" twice}}
weft.graph @g("x" %x: tensor<f32>, "x" %y: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
}

// -----

// expected-error @+1 {{input #1: expected a ranked tensor, got '!weft.any'}}
weft.graph @g("x" %x: tensor<f32>, "y" %y: !weft.any) placements [#weft.placement<"cpu", [], [0]>] {
}

// -----

// expected-error @+1 {{expected a list of one or more placements}}
weft.graph @g() placements [] {
}

// -----

// expected-error @+1 {{expected a list of one or more placements}}
weft.graph @g() placements [1] {
}

// -----

weft.graph @g("x" %x: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{stage: expected less than 1, got 1}}
  weft.output "x" %x {stage = 1 : i64} : (tensor<f32>)
}

// -----

weft.graph @g("x" %x: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{stage: expected less than 1, got -1}}
  weft.output "x" %x {stage = -1 : i64} : (tensor<f32>)
}

// -----

// expected-error @+1 {{shape: expected positive extents, got 0}}
%0 = weft.parameter "w" [4, 0] : () -> tensor<4x0xf32>

// -----

// expected-error @+1 {{shape: expected at most 281474976710656 elements, got more}}
%0 = weft.parameter "w" [4294967296, 4294967296] : () -> tensor<4294967296x4294967296xf32>

// -----

// expected-error @+1 {{stored: expected positive extents, got -4}}
%0 = weft.parameter "w" [4] stored [-4, -1] : () -> tensor<4xf32>

// -----

// expected-error @+1 {{stored: expected 8 elements, got 6}}
%0 = weft.parameter "w" [4, 2] stored [6] : () -> tensor<4x2xf32>

// -----

// expected-error @+1 {{name: expected at most one *, got h.*.experts.*.w}}
%0 = weft.parameter "h.*.experts.*.w" [4, 2] : () -> tensor<4x2xf32>

// -----

// expected-error @+1 {{name: expected a first dimension that the * of experts.*.w stands for, the same in the shape and in `stored`}}
%0 = weft.parameter "experts.*.w" [4, 2] stored [8] : () -> tensor<4x2xf32>

// -----

// expected-error @+1 {{sbp: expected states by axis name or by position, got both}}
%0 = weft.parameter "w" [4, 4] init(zeros) sbp(tensor = S(0), S(1))

// -----

// expected-error @+1 {{sbp: expected each axis once, got tensor twice}}
%0 = weft.parameter "w" [4] sbp(tensor = B, tensor = S(0))

// -----

// expected-error @+1 {{init: expected zeros, ones, constant, normal or uniform, got xavier}}
%0 = weft.parameter "w" [4] init(xavier 1)

// -----

// expected-error @+1 {{attribute 'shape' failed to satisfy constraint: integers or expressions}}
%0 = weft.parameter "w" [0.5] : () -> tensor<4xf32>

// -----

%x = "test.value"() : () -> tensor<4xf32, #weft.sbp<P>>
// expected-error @+1 {{expected one shape and element type, got 'tensor<4xf32, #weft.sbp<P>>' and 'tensor<2xf32, #weft.sbp<B>>'}}
%0 = weft.box %x : (tensor<4xf32, #weft.sbp<P>>) -> tensor<2xf32, #weft.sbp<B>>

// -----

%x = "test.value"() : () -> tensor<4xf32, #weft.sbp<P>>
// expected-error @+1 {{expected an SBP on operand and result}}
%0 = weft.box %x : (tensor<4xf32, #weft.sbp<P>>) -> tensor<4xf32>

// -----

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{loss: expected tensor<f32>, got 'tensor<4xf32>'}}
weft.minimize %x : (tensor<4xf32>)

// -----

%x, %n = "test.values"() : () -> (tensor<f32>, tensor<i32>)
// expected-error @+1 {{count: expected tensor<f32>, got 'tensor<i32>'}}
weft.minimize %x per %n : (tensor<f32>, tensor<i32>)

// -----

%x, %n = "test.values"() : () -> (tensor<f32>, tensor<i32>)
// expected-error @+1 {{expected 2 types, got 1}}
weft.minimize %x per %n : (tensor<f32>)

// -----

%w = weft.parameter "w" [4] : () -> tensor<4xf32>
%x = "test.value"() : () -> tensor<2xf32>
// expected-error @+1 {{value: expected 'tensor<4xf32>', got 'tensor<2xf32>'}}
weft.assign %w, %x : (tensor<4xf32>, tensor<2xf32>)

// -----

%x = "test.value"() : () -> tensor<2xf32>
// expected-error @+1 {{target: expected the result of a weft.parameter}}
weft.assign %x, %x : (tensor<2xf32>, tensor<2xf32>)

// -----

%x = "test.value"() : () -> tensor<2xf32>
// expected-error @+1 {{metric: expected tensor<f32>, got 'tensor<2xf32>'}}
weft.output "loss" metric %x : (tensor<2xf32>)

// -----

%w = weft.parameter "w" [4] : () -> tensor<4xf32>
%g, %n = "test.values"() : () -> (tensor<2xf32>, tensor<f32>)
// expected-error @+1 {{gradient: expected 'tensor<4xf32>', got 'tensor<2xf32>'}}
weft.update %w with %g per %n : (tensor<4xf32>, tensor<2xf32>, tensor<f32>)

// -----

%g, %n = "test.values"() : () -> (tensor<4xf32>, tensor<f32>)
// expected-error @+1 {{parameter: expected the result of a weft.parameter}}
weft.update %g with %g per %n : (tensor<4xf32>, tensor<4xf32>, tensor<f32>)

// -----

%w = weft.parameter "w" [4] : () -> tensor<4xf32>
%g = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{count: expected tensor<f32>, got 'tensor<4xf32>'}}
weft.update %w with %g per %g : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
