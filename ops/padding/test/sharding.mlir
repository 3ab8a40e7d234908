// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Every dimension may be split. Pending sums pass where zeros are written.
!s = tensor<4x8xf32, #weft.sbp<S(0), S(1)>>
!p = tensor<4x8xf32, #weft.sbp<P, B>>
%s, %p = "test.values"() : () -> (!s, !p)
%0 = weft.set_padding %s [4, 7] value(1) : (!s) -> !s
%1 = weft.set_padding %p [4, 7] value(0) : (!p) -> !p

// -----

!p = tensor<4x8xf32, #weft.sbp<P>>
%p = "test.value"() : () -> !p
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.set_padding %p [4, 7] value(1) : (!p) -> !p
