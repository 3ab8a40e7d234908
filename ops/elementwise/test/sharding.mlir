// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Any dimension may be split; ops that are linear in an operand pass on its pending sum.
!s = tensor<2x4xf32, #weft.sbp<S(0), S(1)>>
!p = tensor<2x4xf32, #weft.sbp<P, P>>
!b = tensor<2x4xf32, #weft.sbp<B, B>>
%s, %p, %b = "test.values"() : () -> (!s, !p, !b)
%0 = weft.neg %s : (!s) -> !s
%1 = weft.exp %s : (!s) -> !s
%2 = weft.log %s : (!s) -> !s
%3 = weft.sqrt %s : (!s) -> !s
%4 = weft.rsqrt %s : (!s) -> !s
%5 = weft.tanh %s : (!s) -> !s
%6 = weft.sigmoid %s : (!s) -> !s
%7 = weft.square %s : (!s) -> !s
%8 = weft.add %s, %s : (!s, !s) -> !s
%9 = weft.sub %s, %s : (!s, !s) -> !s
%10 = weft.mul %s, %s : (!s, !s) -> !s
%11 = weft.div %s, %s : (!s, !s) -> !s
%12 = weft.maximum %s, %s : (!s, !s) -> !s
%13 = weft.minimum %s, %s : (!s, !s) -> !s
%14 = weft.abs %s : (!s) -> !s
%15 = weft.clamp %s min(0) : (!s) -> !s
%16 = weft.neg %p : (!p) -> !p
%17 = weft.scale %p by(2) : (!p) -> !p
%18 = weft.add %p, %p : (!p, !p) -> !p
%19 = weft.sub %p, %p : (!p, !p) -> !p
%20 = weft.add_n %p, %p, %p : (!p, !p, !p) -> !p
%21 = weft.mul %p, %b : (!p, !b) -> !p
%22 = weft.mul %b, %p : (!b, !p) -> !p
%23 = weft.div %p, %b : (!p, !b) -> !p
%24 = weft.broadcast_to %p [3, 2, 4] : (!p) -> tensor<3x2x4xf32, #weft.sbp<P, P>>

// -----

// What is broadcast along a split dimension is whole there; what has it is split too.
!x = tensor<2x4xf32, #weft.sbp<S(0), S(1)>>
%x, %row, %column = "test.values"() : () -> (!x, tensor<4xf32, #weft.sbp<B, S(0)>>, tensor<2x1xf32, #weft.sbp<S(0), B>>)
%0 = weft.add %x, %row : (!x, tensor<4xf32, #weft.sbp<B, S(0)>>) -> !x
%1 = weft.mul %x, %column : (!x, tensor<2x1xf32, #weft.sbp<S(0), B>>) -> !x
%2 = weft.broadcast_to %row [2, 4] : (tensor<4xf32, #weft.sbp<B, S(0)>>) -> !x

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.exp %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.log %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.sqrt %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.rsqrt %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.tanh %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.sigmoid %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.square %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.mul %p, %p : (!p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.div %p, %p : (!p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.maximum %p, %p : (!p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.minimum %p, %p : (!p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, B) -> (P)}}
%0 = weft.add %p, %b : (!p, !b) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, B) -> (P)}}
%0 = weft.sub %p, %b : (!p, !b) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, P) -> (P)}}
%0 = weft.div %b, %p : (!b, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, B) -> (P)}}
%0 = weft.add_n %p, %b : (!p, !b) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.abs %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.sign %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.sin %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.cos %p : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.add_scalar %p by(1) : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.power %p by(2) : (!p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
%p, %b = "test.values"() : () -> (!p, !b)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.clamp %p min(0) : (!p) -> !p
