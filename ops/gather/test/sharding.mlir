// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Whatever is taken from rows that are split is a pending sum; all else may be split.
!x = tensor<2x6x4xf32, #weft.sbp<S(0), S(1)>>
!i = tensor<2x4xi32, #weft.sbp<S(0), B>>
!y = tensor<2x4x4xf32, #weft.sbp<S(0), P>>
!xi = tensor<2x6x4xf32, #weft.sbp<S(2), B>>
!ii = tensor<2x4xi32, #weft.sbp<B, S(1)>>
!yi = tensor<2x4x4xf32, #weft.sbp<S(2), S(1)>>
!px = tensor<2x6x4xf32, #weft.sbp<P, B>>
!pi = tensor<2x4xi32, #weft.sbp<B, B>>
!py = tensor<2x4x4xf32, #weft.sbp<P, B>>
%x, %i, %xi, %ii, %px, %pi, %py = "test.values"() : () -> (!x, !i, !xi, !ii, !px, !pi, !py)
%0 = weft.take %x, %i dim(1) batch(1) : (!x, !i) -> !y
%1 = weft.take %xi, %ii dim(1) batch(1) : (!xi, !ii) -> !yi
%2 = weft.take %px, %pi dim(1) batch(1) : (!px, !pi) -> !py
%3 = weft.scatter_add %py, %pi dim(1) size(6) batch(1) : (!py, !pi) -> !px
%4 = weft.scatter_set %px, %pi, %py dim(1) batch(1) : (!px, !pi, !py) -> !px

// -----

// Positions that are split add up to a pending sum, each rank for all rows or for its own.
!u = tensor<2x4x4xf32, #weft.sbp<S(1), B>>
!i = tensor<2x4xi32, #weft.sbp<S(1), B>>
!y = tensor<2x6x4xf32, #weft.sbp<P, S(1)>>
%u, %i = "test.values"() : () -> (!u, !i)
%0 = weft.scatter_add %u, %i dim(1) size(6) batch(1) : (!u, !i) -> !y

// -----

// Which position is the last says a rank that has all of them.
!x = tensor<6x4xf32, #weft.sbp<B>>
!i = tensor<4xi32, #weft.sbp<S(0)>>
!u = tensor<4x4xf32, #weft.sbp<S(0)>>
%x, %i, %u = "test.values"() : () -> (!x, !i, !u)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, S(0), S(0)) -> (B)}}
%0 = weft.scatter_set %x, %i, %u dim(0) : (!x, !i, !u) -> !x

// -----

!x = tensor<6x4xf32, #weft.sbp<B>>
!i = tensor<4xi32, #weft.sbp<S(0)>>
!u = tensor<4x4xf32, #weft.sbp<S(0)>>
%x, %i = "test.values"() : () -> (!x, !i)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, S(0)) -> (S(0))}}
%0 = weft.take %x, %i dim(0) last : (!x, !i) -> !u
