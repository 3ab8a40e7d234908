// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Rows may be split; the gradient is linear in dy.
%x, %dy, %y = "test.values"() : () -> (tensor<2x4x3xf32, #weft.sbp<S(0), S(1)>>, tensor<2x4x3xf32, #weft.sbp<S(0), P>>, tensor<2x4x3xf32, #weft.sbp<S(0), B>>)
%0 = weft.softmax %x : (tensor<2x4x3xf32, #weft.sbp<S(0), S(1)>>) -> tensor<2x4x3xf32, #weft.sbp<S(0), S(1)>>
%1 = weft.softmax_grad %dy, %y : (tensor<2x4x3xf32, #weft.sbp<S(0), P>>, tensor<2x4x3xf32, #weft.sbp<S(0), B>>) -> tensor<2x4x3xf32, #weft.sbp<S(0), P>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<S(1)>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1)) -> (S(1))}}
%0 = weft.softmax %x : (tensor<2x4xf32, #weft.sbp<S(1)>>) -> tensor<2x4xf32, #weft.sbp<S(1)>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<P>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.softmax %x : (tensor<2x4xf32, #weft.sbp<P>>) -> tensor<2x4xf32, #weft.sbp<P>>

// -----

%dy, %y = "test.values"() : () -> (tensor<2x4xf32, #weft.sbp<B>>, tensor<2x4xf32, #weft.sbp<P>>)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, P) -> (P)}}
%0 = weft.softmax_grad %dy, %y : (tensor<2x4xf32, #weft.sbp<B>>, tensor<2x4xf32, #weft.sbp<P>>) -> tensor<2x4xf32, #weft.sbp<P>>
