// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// One axis each: rows, a contracted letter, a column, a pending sum of the left and of the right operand.
%x, %w = "test.values"() : () -> (tensor<2x4x6xf32, #weft.sbp<S(0), S(2), B, P, B>>, tensor<6x8xf32, #weft.sbp<B, S(0), S(1), B, P>>)
%0 = weft.einsum "bsi,io->bso" %x, %w : (tensor<2x4x6xf32, #weft.sbp<S(0), S(2), B, P, B>>, tensor<6x8xf32, #weft.sbp<B, S(0), S(1), B, P>>) -> tensor<2x4x8xf32, #weft.sbp<S(0), P, S(2), P, P>>

// -----

// A letter of all three tensors is split in all three; an upper-case letter is as good as any other.
%q, %k = "test.values"() : () -> (tensor<2x4x6xf32, #weft.sbp<S(0), S(1)>>, tensor<2x8x6xf32, #weft.sbp<S(0), B>>)
%0 = weft.einsum "Bsd,Btd->Bst" %q, %k : (tensor<2x4x6xf32, #weft.sbp<S(0), S(1)>>, tensor<2x8x6xf32, #weft.sbp<S(0), B>>) -> tensor<2x4x8xf32, #weft.sbp<S(0), S(1)>>

// -----

%x, %w = "test.values"() : () -> (tensor<2x4xf32, #weft.sbp<S(1)>>, tensor<4x8xf32, #weft.sbp<B>>)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (S(1), B) -> (P)}}
%0 = weft.einsum "ij,jk->ik" %x, %w : (tensor<2x4xf32, #weft.sbp<S(1)>>, tensor<4x8xf32, #weft.sbp<B>>) -> tensor<2x8xf32, #weft.sbp<P>>

// -----

%x, %w = "test.values"() : () -> (tensor<2x4xf32, #weft.sbp<P>>, tensor<4x8xf32, #weft.sbp<P>>)
// expected-error @+1 {{axis 0: expected an SBP signature of its rule, got (P, P) -> (P)}}
%0 = weft.einsum "ij,jk->ik" %x, %w : (tensor<2x4xf32, #weft.sbp<P>>, tensor<4x8xf32, #weft.sbp<P>>) -> tensor<2x8xf32, #weft.sbp<P>>

// -----

weft.graph @odd("x" %x: tensor<2x3xf32, #weft.sbp<S(1)>>, "w" %w: tensor<3x4xf32, #weft.sbp<S(0)>>) placements [#weft.placement<"cpu", [tensor = 2], [0, 1]>] {
  // expected-error @+1 {{expected every split dimension to be divisible by its mesh axes}}
  %0 = weft.einsum "ij,jk->ik" %x, %w : (tensor<2x3xf32, #weft.sbp<S(1)>>, tensor<3x4xf32, #weft.sbp<S(0)>>) -> tensor<2x4xf32, #weft.sbp<P>>
}
