// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Any dimension may be split; a gradient passes on a pending sum of dy.
%x, %dy = "test.values"() : () -> (tensor<2x4xf32, #weft.sbp<S(0), S(1)>>, tensor<2x4xf32, #weft.sbp<S(0), P>>)
%0 = weft.gelu %x : (tensor<2x4xf32, #weft.sbp<S(0), S(1)>>) -> tensor<2x4xf32, #weft.sbp<S(0), S(1)>>
%1 = weft.relu %x : (tensor<2x4xf32, #weft.sbp<S(0), S(1)>>) -> tensor<2x4xf32, #weft.sbp<S(0), S(1)>>
%2 = weft.silu %x : (tensor<2x4xf32, #weft.sbp<S(0), S(1)>>) -> tensor<2x4xf32, #weft.sbp<S(0), S(1)>>
%y = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<S(0), B>>
%3 = weft.gelu_grad %dy, %y : (tensor<2x4xf32, #weft.sbp<S(0), P>>, tensor<2x4xf32, #weft.sbp<S(0), B>>) -> tensor<2x4xf32, #weft.sbp<S(0), P>>
%4 = weft.relu_grad %dy, %y : (tensor<2x4xf32, #weft.sbp<S(0), P>>, tensor<2x4xf32, #weft.sbp<S(0), B>>) -> tensor<2x4xf32, #weft.sbp<S(0), P>>
%5 = weft.silu_grad %dy, %y : (tensor<2x4xf32, #weft.sbp<S(0), P>>, tensor<2x4xf32, #weft.sbp<S(0), B>>) -> tensor<2x4xf32, #weft.sbp<S(0), P>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<P>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.relu %x : (tensor<2x4xf32, #weft.sbp<P>>) -> tensor<2x4xf32, #weft.sbp<P>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<P>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.silu %x : (tensor<2x4xf32, #weft.sbp<P>>) -> tensor<2x4xf32, #weft.sbp<P>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<P>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.gelu %x : (tensor<2x4xf32, #weft.sbp<P>>) -> tensor<2x4xf32, #weft.sbp<P>>

// -----

%x, %dy = "test.values"() : () -> (tensor<2x4xf32, #weft.sbp<P>>, tensor<2x4xf32, #weft.sbp<P>>)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.gelu_grad %dy, %x : (tensor<2x4xf32, #weft.sbp<P>>, tensor<2x4xf32, #weft.sbp<P>>) -> tensor<2x4xf32, #weft.sbp<P>>
