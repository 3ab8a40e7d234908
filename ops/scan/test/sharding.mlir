// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Every dimension but that of the sums may be split, and pending sums pass.
!s = tensor<2x4x4xf32, #weft.sbp<S(0), S(2)>>
!p = tensor<2x4x4xf32, #weft.sbp<P, B>>
%s, %p = "test.values"() : () -> (!s, !p)
%0 = weft.cumsum %s dim(1) : (!s) -> !s
%1 = weft.cumsum %p dim(1) exclusive : (!p) -> !p

// -----

!s = tensor<2x4xf32, #weft.sbp<S(1)>>
%s = "test.value"() : () -> !s
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1)) -> (S(1))}}
%0 = weft.cumsum %s dim(1) : (!s) -> !s
