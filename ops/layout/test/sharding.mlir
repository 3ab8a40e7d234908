// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// A dimension cut apart or merged may be split along its outermost part; sizes of 1 are in nobody's way.
%x = "test.value"() : () -> tensor<2x8x12xf32, #weft.sbp<S(0), S(1), S(2), P>>
%0 = weft.reshape %x [2, 8, 4, 3] : (tensor<2x8x12xf32, #weft.sbp<S(0), S(1), S(2), P>>) -> tensor<2x8x4x3xf32, #weft.sbp<S(0), S(1), S(2), P>>
%1 = weft.reshape %0 [2, 1, 8, 12, 1] : (tensor<2x8x4x3xf32, #weft.sbp<S(0), S(1), S(2), P>>) -> tensor<2x1x8x12x1xf32, #weft.sbp<S(0), S(2), S(3), P>>
%y = "test.value"() : () -> tensor<2x8x4x3xf32, #weft.sbp<S(0), B, S(2), P>>
%2 = weft.reshape %y [16, 12] : (tensor<2x8x4x3xf32, #weft.sbp<S(0), B, S(2), P>>) -> tensor<16x12xf32, #weft.sbp<S(0), B, S(1), P>>

// -----

// An inner part is split where nothing is left of the outer one.
weft.graph @inside("x" %x: tensor<2x8xf32, #weft.sbp<S(0), S(1)>>) placements [#weft.placement<"cpu", [tensor = 2, group = 2], [0, 1, 2, 3]>] {
  %0 = weft.reshape %x [16] : (tensor<2x8xf32, #weft.sbp<S(0), S(1)>>) -> tensor<16xf32, #weft.sbp<S(0), S(0)>>
}

// -----

weft.graph @inside("x" %x: tensor<2x8xf32, #weft.sbp<S(1)>>) placements [#weft.placement<"cpu", [tensor = 2], [0, 1]>] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %0 = weft.reshape %x [16] : (tensor<2x8xf32, #weft.sbp<S(1)>>) -> tensor<16xf32, #weft.sbp<S(0)>>
}

// -----

// Shapes that do not nest are whole; the dimension before them is not.
%x, %y = "test.values"() : () -> (tensor<2x6x4xf32, #weft.sbp<S(0)>>, tensor<2x6x4xf32, #weft.sbp<S(1)>>)
%0 = weft.reshape %x [2, 8, 3] : (tensor<2x6x4xf32, #weft.sbp<S(0)>>) -> tensor<2x8x3xf32, #weft.sbp<S(0)>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1)) -> (S(1))}}
%1 = weft.reshape %y [2, 8, 3] : (tensor<2x6x4xf32, #weft.sbp<S(1)>>) -> tensor<2x8x3xf32, #weft.sbp<S(1)>>

// -----

// Three heads do not divide by two, though the merged dimension would.
weft.graph @heads("x" %x: tensor<4x12xf32, #weft.sbp<S(1)>>) placements [#weft.placement<"cpu", [tensor = 2], [0, 1]>] {
  %0 = weft.reshape %x [4, 2, 6] : (tensor<4x12xf32, #weft.sbp<S(1)>>) -> tensor<4x2x6xf32, #weft.sbp<S(1)>>
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %1 = weft.reshape %x [4, 3, 4] : (tensor<4x12xf32, #weft.sbp<S(1)>>) -> tensor<4x3x4xf32, #weft.sbp<S(1)>>
}

// -----

%x = "test.value"() : () -> tensor<2x4x6xf32, #weft.sbp<S(0), S(1), S(2), P>>
%0 = weft.transpose %x [2, 0, 1] : (tensor<2x4x6xf32, #weft.sbp<S(0), S(1), S(2), P>>) -> tensor<6x2x4xf32, #weft.sbp<S(1), S(2), S(0), P>>
// expected-error @+1 {{axis 1: expected an SBP signature of its rule, got (S(1)) -> (S(1))}}
%1 = weft.transpose %x [2, 0, 1] : (tensor<2x4x6xf32, #weft.sbp<S(0), S(1), S(2), P>>) -> tensor<6x2x4xf32, #weft.sbp<S(1), S(1), S(0), P>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<S(0), P>>
%0 = weft.slice %x dim(1) from(1) size(2) : (tensor<2x4xf32, #weft.sbp<S(0), P>>) -> tensor<2x2xf32, #weft.sbp<S(0), P>>
%1 = weft.pad %0 dim(1) before(1) after(1) : (tensor<2x2xf32, #weft.sbp<S(0), P>>) -> tensor<2x4xf32, #weft.sbp<S(0), P>>
%2 = weft.concat %0, %x dim(1) : (tensor<2x2xf32, #weft.sbp<S(0), P>>, tensor<2x4xf32, #weft.sbp<S(0), P>>) -> tensor<2x6xf32, #weft.sbp<S(0), P>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<S(1)>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1)) -> (S(1))}}
%0 = weft.slice %x dim(1) from(1) size(2) : (tensor<2x4xf32, #weft.sbp<S(1)>>) -> tensor<2x2xf32, #weft.sbp<S(1)>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<S(1)>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1)) -> (S(1))}}
%0 = weft.pad %x dim(1) before(1) after(1) : (tensor<2x4xf32, #weft.sbp<S(1)>>) -> tensor<2x6xf32, #weft.sbp<S(1)>>

// -----

// A pending sum beside a whole value is none.
%x, %y = "test.values"() : () -> (tensor<2x4xf32, #weft.sbp<P>>, tensor<2x4xf32, #weft.sbp<B>>)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, B) -> (P)}}
%0 = weft.concat %x, %y dim(1) : (tensor<2x4xf32, #weft.sbp<P>>, tensor<2x4xf32, #weft.sbp<B>>) -> tensor<2x8xf32, #weft.sbp<P>>
