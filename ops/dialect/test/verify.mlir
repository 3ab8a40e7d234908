// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// The checks that every op of the vocabulary shares.

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{expected all types to be known or none, got 1 of 2}}
%0 = weft.neg %x : (tensor<4xf32>) -> !weft.any

// -----

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{factor: expected a constant, got 2 * heads}}
%0 = weft.scale %x by(2 * heads) : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{shape: expected a constant, got batch}}
%0 = weft.broadcast_to %x [batch, 4] : (tensor<4xf32>) -> tensor<2x4xf32>

// -----

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{result #0: expected 'tensor<4xf32>', got 'tensor<2xf32>'}}
%0 = weft.neg %x : (tensor<4xf32>) -> tensor<2xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<4294967296x1xf32>, tensor<4294967296xf32>)
// expected-error @+1 {{result #0: expected at most 281474976710656 elements, got more}}
%0 = weft.add %a, %b : (tensor<4294967296x1xf32>, tensor<4294967296xf32>) -> tensor<4294967296x4294967296xf32>

// -----

%x = "test.value"() : () -> tensor<4xf32, #weft.sbp<B>>
// expected-error @+1 {{expected an SBP on every operand and result, got 1 of 2}}
%0 = weft.neg %x : (tensor<4xf32, #weft.sbp<B>>) -> tensor<4xf32>

// -----

%x = "test.value"() : () -> tensor<4xf32, #weft.sbp<B>>
// expected-error @+1 {{expected 1 SBP states on every type, got 2}}
%0 = weft.neg %x : (tensor<4xf32, #weft.sbp<B>>) -> tensor<4xf32, #weft.sbp<B, B>>

// -----

%x = "test.value"() : () -> tensor<4xf32, #weft.sbp<B, S(0)>>
// expected-error @+1 {{axis 1: expected an SBP signature of its rule, got (S(0)) -> (B)}}
%0 = weft.neg %x : (tensor<4xf32, #weft.sbp<B, S(0)>>) -> tensor<4xf32, #weft.sbp<B, B>>

// -----

weft.graph @g("x" %x: tensor<4xf32, #weft.sbp<B, B>>) placements [#weft.placement<"cpu", [data = 2], [0, 1]>] {
  // expected-error @+1 {{expected 1 SBP states, one an axis of the mesh, got 2}}
  %0 = weft.neg %x : (tensor<4xf32, #weft.sbp<B, B>>) -> tensor<4xf32, #weft.sbp<B, B>>
}

// -----

weft.graph @g("x" %x: tensor<6xf32, #weft.sbp<S(0)>>) placements [#weft.placement<"cpu", [data = 4], [0, 1, 2, 3]>] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %0 = weft.neg %x : (tensor<6xf32, #weft.sbp<S(0)>>) -> tensor<6xf32, #weft.sbp<S(0)>>
}

// -----

// Two axes of 2 cut one dimension in 4: each divides 6, both do not.
weft.graph @g("x" %x: tensor<6xf32, #weft.sbp<S(0), S(0)>>) placements [#weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %0 = weft.neg %x : (tensor<6xf32, #weft.sbp<S(0), S(0)>>) -> tensor<6xf32, #weft.sbp<S(0), S(0)>>
}

// -----

// The mesh is that of the op's stage.
weft.graph @g("x" %x: tensor<6xf32, #weft.sbp<S(0)>>) placements [#weft.placement<"cpu", [data = 2], [0, 1]>, #weft.placement<"cpu", [data = 4], [0, 1, 2, 3]>] {
  %0 = weft.neg %x : (tensor<6xf32, #weft.sbp<S(0)>>) -> tensor<6xf32, #weft.sbp<S(0)>>
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %1 = weft.neg %x {stage = 1 : i64} : (tensor<6xf32, #weft.sbp<S(0)>>) -> tensor<6xf32, #weft.sbp<S(0)>>
}

// -----

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{expected 1 operand types, got 2}}
%0 = weft.neg %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{expected 1 result types, got 0}}
%0 = weft.neg %x : (tensor<4xf32>)

// -----

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{expected 1 result types, got 2}}
%0 = weft.neg %x : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
