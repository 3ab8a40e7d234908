// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// Any dimension may be split; a choice between pending sums is one.
!s = tensor<2x4xf32, #weft.sbp<S(0), S(1)>>
!p = tensor<2x4xf32, #weft.sbp<P, P>>
!t = tensor<2x4xi8, #weft.sbp<S(0), S(1)>>
!b = tensor<2x4xi8, #weft.sbp<B, B>>
!row = tensor<4xf32, #weft.sbp<B, S(0)>>
%s, %p, %t, %b, %row = "test.values"() : () -> (!s, !p, !t, !b, !row)
%0 = weft.greater %s, %row : (!s, !row) -> !t
%1 = weft.greater_equal %s, %row : (!s, !row) -> !t
%2 = weft.less %s, %row : (!s, !row) -> !t
%3 = weft.less_equal %s, %row : (!s, !row) -> !t
%4 = weft.equal %s, %row : (!s, !row) -> !t
%5 = weft.not_equal %s, %row : (!s, !row) -> !t
%6 = weft.logical_and %t, %t : (!t, !t) -> !t
%7 = weft.logical_or %t, %t : (!t, !t) -> !t
%8 = weft.logical_not %t : (!t) -> !t
%9 = weft.select %t, %s, %row : (!t, !s, !row) -> !s
%10 = weft.select %b, %p, %p : (!b, !p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
%p = "test.value"() : () -> !p
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.greater %p, %p as_number : (!p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
%p = "test.value"() : () -> !p
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.greater_equal %p, %p as_number : (!p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
%p = "test.value"() : () -> !p
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.less %p, %p as_number : (!p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
%p = "test.value"() : () -> !p
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.less_equal %p, %p as_number : (!p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
%p = "test.value"() : () -> !p
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.equal %p, %p as_number : (!p, !p) -> !p

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
%p = "test.value"() : () -> !p
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.not_equal %p, %p as_number : (!p, !p) -> !p

// -----

!t = tensor<2x4xi8, #weft.sbp<P>>
%t = "test.value"() : () -> !t
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.logical_and %t, %t : (!t, !t) -> !t

// -----

!t = tensor<2x4xi8, #weft.sbp<P>>
%t = "test.value"() : () -> !t
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.logical_or %t, %t : (!t, !t) -> !t

// -----

!t = tensor<2x4xi8, #weft.sbp<P>>
%t = "test.value"() : () -> !t
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P) -> (P)}}
%0 = weft.logical_not %t : (!t) -> !t

// -----

!p = tensor<2x4xf32, #weft.sbp<P>>
!b = tensor<2x4xf32, #weft.sbp<B>>
!t = tensor<2x4xi8, #weft.sbp<B>>
%p, %b, %t = "test.values"() : () -> (!p, !b, !t)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (B, P, B) -> (P)}}
%0 = weft.select %t, %p, %b : (!t, !p, !b) -> !p
