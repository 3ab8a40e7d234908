// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// The batch and the matrices are split: the rows of other ranks' matrices are zeros.
!x = tensor<2x6x4xf32, #weft.sbp<S(0), B>>
!w = tensor<4x4x5xf32, #weft.sbp<B, S(0)>>
!c = tensor<2x4xi32, #weft.sbp<S(0), B>>
!y = tensor<2x6x5xf32, #weft.sbp<S(0), P>>
%x, %w, %c = "test.values"() : () -> (!x, !w, !c)
%0 = weft.grouped_matmul %x, %w, %c : (!x, !w, !c) -> !y

// -----

// Columns of the matrices, and then their rows.
!x = tensor<2x6x4xf32, #weft.sbp<B, S(2)>>
!w = tensor<4x6x4xf32, #weft.sbp<S(1), S(2)>>
!c = tensor<2x4xi32, #weft.sbp<B, B>>
!y = tensor<2x6x6xf32, #weft.sbp<S(2), P>>
%x, %w, %c = "test.values"() : () -> (!x, !w, !c)
%0 = weft.grouped_matmul %x, %w, %c transposed : (!x, !w, !c) -> !y

// -----

!x = tensor<2x6x4xf32, #weft.sbp<S(0), B>>
!d = tensor<2x6x5xf32, #weft.sbp<S(0), B>>
!c = tensor<2x4xi32, #weft.sbp<S(0), B>>
!y = tensor<4x4x5xf32, #weft.sbp<P, S(0)>>
%x, %d, %c = "test.values"() : () -> (!x, !d, !c)
%0 = weft.grouped_outer %x, %d, %c groups(4) : (!x, !d, !c) -> !y

// -----

!x = tensor<2x6x4xf32, #weft.sbp<S(1)>>
!w = tensor<4x4x5xf32, #weft.sbp<B>>
!c = tensor<2x4xi32, #weft.sbp<B>>
!y = tensor<2x6x5xf32, #weft.sbp<S(1)>>
%x, %w, %c = "test.values"() : () -> (!x, !w, !c)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1), B, B) -> (S(1))}}
%0 = weft.grouped_matmul %x, %w, %c : (!x, !w, !c) -> !y
