// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// A split of a reduced dimension leaves a pending sum or maximum; sums and means also pass one on.
%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<S(0), S(1), P>>
%0 = weft.reduce sum %x over [0] : (tensor<2x4xf32, #weft.sbp<S(0), S(1), P>>) -> tensor<4xf32, #weft.sbp<P, S(0), P>>
%1 = weft.reduce mean %x over [1] keep_dims : (tensor<2x4xf32, #weft.sbp<S(0), S(1), P>>) -> tensor<2x1xf32, #weft.sbp<S(0), P, P>>
%y = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<S(0), S(1)>>
%2 = weft.reduce max %y over [1] : (tensor<2x4xf32, #weft.sbp<S(0), S(1)>>) -> tensor<2xf32, #weft.sbp<S(0), P(max)>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<S(0)>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(0)) -> (P(max))}}
%0 = weft.reduce sum %x over [0] : (tensor<2x4xf32, #weft.sbp<S(0)>>) -> tensor<4xf32, #weft.sbp<P(max)>>

// -----

%x = "test.value"() : () -> tensor<2x4xf32, #weft.sbp<P>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.reduce max %x over [0] : (tensor<2x4xf32, #weft.sbp<P>>) -> tensor<4xf32, #weft.sbp<P>>
