// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

!x = tensor<2x4x3xf32, #weft.sbp<S(0), S(1)>>
!w = tensor<3xf32, #weft.sbp<B, B>>
!s = tensor<2x4xf32, #weft.sbp<S(0), S(1)>>
!dw = tensor<3xf32, #weft.sbp<P, P>>
// Rows may be split; the gradients of the weights are then pending sums.
%x, %w = "test.values"() : () -> (!x, !w)
%y, %mean, %rstd = weft.layer_norm %x, %w, %w eps(1.0e-5) : (!x, !w, !w) -> (!x, !s, !s)
%dx, %dw, %db = weft.layer_norm_grad %y, %x, %w, %mean, %rstd : (!x, !x, !w, !s, !s) -> (!x, !dw, !dw)
%z, %rms = weft.rms_norm %x, %w eps(1.0e-5) : (!x, !w) -> (!x, !s)
%dx2, %dw2 = weft.rms_norm_grad %z, %x, %w, %rms : (!x, !x, !w, !s) -> (!x, !dw)

// -----

!b = tensor<2x3xf32, #weft.sbp<B>>
!p = tensor<2x3xf32, #weft.sbp<P>>
!w = tensor<3xf32, #weft.sbp<B>>
!s = tensor<2xf32, #weft.sbp<B>>
!dw = tensor<3xf32, #weft.sbp<P>>
// Gradients are linear in dy.
%dy, %x, %w, %s = "test.values"() : () -> (!p, !b, !w, !s)
%dx, %dw, %db = weft.layer_norm_grad %dy, %x, %w, %s, %s : (!p, !b, !w, !s, !s) -> (!p, !dw, !dw)
%dx2, %dw2 = weft.rms_norm_grad %dy, %x, %w, %s : (!p, !b, !w, !s) -> (!p, !dw)

// -----

!x = tensor<2x4xf32, #weft.sbp<S(1)>>
!w = tensor<4xf32, #weft.sbp<S(0)>>
%x, %w = "test.values"() : () -> (!x, !w)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1), S(0), S(0)) -> (S(1))}}
%0 = weft.layer_norm %x, %w, %w eps(1.0e-5) : (!x, !w, !w) -> !x

// -----

!x = tensor<2x4xf32, #weft.sbp<S(1)>>
!w = tensor<4xf32, #weft.sbp<S(0)>>
%x, %w = "test.values"() : () -> (!x, !w)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1), S(0)) -> (S(1))}}
%0 = weft.rms_norm %x, %w eps(1.0e-5) : (!x, !w) -> !x

// -----

!x = tensor<2x4xf32, #weft.sbp<P>>
!w = tensor<4xf32, #weft.sbp<B>>
%x, %w = "test.values"() : () -> (!x, !w)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, B, B) -> (P)}}
%0 = weft.layer_norm %x, %w, %w eps(1.0e-5) : (!x, !w, !w) -> !x
