// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Batch and channels may be split, and a pending sum passes through what is linear.
!x = tensor<4x6x8xf32, #weft.sbp<S(0), S(2), P>>
!u = tensor<4x5x2x8xf32, #weft.sbp<S(0), S(3), P>>
%x = "test.value"() : () -> !x
%0 = weft.unfold %x dim(1) size [2] : (!x) -> !u
%1 = weft.fold %0 dim(1) size [2] extents [6] : (!u) -> !x

// -----

!x = tensor<4x6x8xf32, #weft.sbp<S(0), S(2)>>
!y = tensor<4x3x8xf32, #weft.sbp<S(0), S(2)>>
%x = "test.value"() : () -> !x
%0 = weft.max_pool %x dim(1) size [2] stride [2] : (!x) -> !y

// -----

// The weights of a channel go with it; their gradient is a sum over the batch.
!x = tensor<4x6x8xf32, #weft.sbp<S(0), S(2)>>
!w = tensor<3x8xf32, #weft.sbp<B, S(1)>>
!y = tensor<4x4x8xf32, #weft.sbp<S(0), S(2)>>
!dw = tensor<3x8xf32, #weft.sbp<P, S(1)>>
%x, %w = "test.values"() : () -> (!x, !w)
%0 = weft.depthwise_conv %x, %w : (!x, !w) -> !y
%1 = weft.depthwise_conv_grad_input %0, %w extents [6] : (!y, !w) -> !x
%2 = weft.depthwise_conv_grad_weight %x, %0 size [3] : (!x, !y) -> !dw

// -----

// What windows slide along is whole.
!x = tensor<4x6x8xf32, #weft.sbp<S(1)>>
!u = tensor<4x5x2x8xf32, #weft.sbp<S(1)>>
%x = "test.value"() : () -> !x
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1)) -> (S(1))}}
%0 = weft.unfold %x dim(1) size [2] : (!x) -> !u

// -----

!x = tensor<4x6x8xf32, #weft.sbp<P>>
!y = tensor<4x3x8xf32, #weft.sbp<P>>
%x = "test.value"() : () -> !x
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.max_pool %x dim(1) size [2] stride [2] : (!x) -> !y
