// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Batch, sequence and heads may be split; a pending sum passes.
%x = "test.value"() : () -> tensor<4x8x4x6xf32, #weft.sbp<S(0), S(1), S(2), P>>
%0 = weft.rope %x theta(10000.0) : (tensor<4x8x4x6xf32, #weft.sbp<S(0), S(1), S(2), P>>) -> tensor<4x8x4x6xf32, #weft.sbp<S(0), S(1), S(2), P>>
%p = "test.value"() : () -> tensor<4x8xi32, #weft.sbp<S(0), S(1), B, B>>
%1 = weft.rope %x at(%p) theta(10000.0) : (tensor<4x8x4x6xf32, #weft.sbp<S(0), S(1), S(2), P>>, tensor<4x8xi32, #weft.sbp<S(0), S(1), B, B>>) -> tensor<4x8x4x6xf32, #weft.sbp<S(0), S(1), S(2), P>>

// -----

%x = "test.value"() : () -> tensor<4x8x4x6xf32, #weft.sbp<S(3)>>
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(3)) -> (S(3))}}
%0 = weft.rope %x theta(10000.0) : (tensor<4x8x4x6xf32, #weft.sbp<S(3)>>) -> tensor<4x8x4x6xf32, #weft.sbp<S(3)>>
