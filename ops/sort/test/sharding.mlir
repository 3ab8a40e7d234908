// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Every dimension but the one that is sorted may be split.
!s = tensor<2x4x4xf32, #weft.sbp<S(0), S(2)>>
!i = tensor<2x4x4xi32, #weft.sbp<S(0), S(2)>>
!k = tensor<2x2x4xf32, #weft.sbp<S(0), S(2)>>
!ki = tensor<2x2x4xi32, #weft.sbp<S(0), S(2)>>
%s = "test.value"() : () -> !s
%0:2 = weft.sort %s dim(1) : (!s) -> (!s, !i)
%1:2 = weft.top_k %s k(2) dim(1) : (!s) -> (!k, !ki)

// -----

!s = tensor<2x4xf32, #weft.sbp<S(1)>>
!k = tensor<2x2xf32, #weft.sbp<S(1)>>
!ki = tensor<2x2xi32, #weft.sbp<S(1)>>
%s = "test.value"() : () -> !s
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1)) -> (S(1), S(1))}}
%0:2 = weft.top_k %s k(2) dim(1) : (!s) -> (!k, !ki)
