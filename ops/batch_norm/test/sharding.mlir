// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Of a batch that is split, sums are pending, and what has the statistics of all of it is split likewise. Channels may be
// split everywhere.
!x = tensor<4x6xf32, #weft.sbp<S(0), S(1)>>
!p = tensor<6xf32, #weft.sbp<P, S(0)>>
!s = tensor<6xf32, #weft.sbp<B, S(0)>>
%x, %s = "test.values"() : () -> (!x, !s)
%0 = weft.batch_variance %x, %s over [0] : (!x, !s) -> !p
%1 = weft.batch_norm_apply %x, %s, %s, %s, %s over [0] eps(1.0e-5) : (!x, !s, !s, !s, !s) -> !x
%2, %3 = weft.batch_norm_sums %x, %x, %s, %s over [0] eps(1.0e-5) : (!x, !x, !s, !s) -> (!p, !p)
%4 = weft.batch_norm_grad %x, %x, %s, %s, %s, %s, %s over [0] eps(1.0e-5) : (!x, !x, !s, !s, !s, !s, !s) -> !x

// -----

// Parts of a batch that are shared out have their statistics where they are.
!x = tensor<4x2x6xf32, #weft.sbp<S(0)>>
!s = tensor<4x6xf32, #weft.sbp<S(0)>>
%x, %s = "test.values"() : () -> (!x, !s)
%0 = weft.batch_variance %x, %s over [1] : (!x, !s) -> !s

// -----

// A variance is not linear in its mean.
!x = tensor<4x6xf32, #weft.sbp<S(0)>>
!p = tensor<6xf32, #weft.sbp<P>>
%x, %mean = "test.values"() : () -> (!x, !p)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(0), P) -> (P)}}
%0 = weft.batch_variance %x, %mean over [0] : (!x, !p) -> !p
