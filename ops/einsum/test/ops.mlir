// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%x, %w = "test.values"() : () -> (!weft.any, !weft.any)
// CHECK: weft.einsum "bsi,io->bso" %0#0, %0#1{{ *$}}
// CHECK-NEXT: weft.einsum "bsi,io->bso" %0#0, %0#1 to f32{{ *$}}
%0 = weft.einsum "bsi,io->bso" %x, %w
%1 = weft.einsum "bsi,io->bso" %x, %w to f32

%q, %k = "test.values"() : () -> (tensor<2x5x3x4xbf16>, tensor<2x6x3x4xbf16>)
// CHECK: weft.einsum "bsnd,btnd->bnst" %3#0, %3#1 to f32 : (tensor<2x5x3x4xbf16>, tensor<2x6x3x4xbf16>) -> tensor<2x3x5x6xf32>
// CHECK-NEXT: weft.einsum "bsnd,btnd->bnst" %3#0, %3#1 : (tensor<2x5x3x4xbf16>, tensor<2x6x3x4xbf16>) -> tensor<2x3x5x6xbf16>
%2 = weft.einsum "bsnd,btnd->bnst" %q, %k to f32 : (tensor<2x5x3x4xbf16>, tensor<2x6x3x4xbf16>) -> tensor<2x3x5x6xf32>
%3 = weft.einsum "bsnd,btnd->bnst" %q, %k : (tensor<2x5x3x4xbf16>, tensor<2x6x3x4xbf16>) -> tensor<2x3x5x6xbf16>

// Upper case, an outer product, scalars.
%a, %b, %c = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>, tensor<f32>)
// CHECK: weft.einsum "Aj,jB->BA" %6#0, %6#1 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: weft.einsum "ij,kl->ijkl" %6#0, %6#1 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3x3x4xf32>
// CHECK-NEXT: weft.einsum "ij,->ij" %6#0, %6#2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.einsum "ij,ij->" %6#0, %6#0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
%4 = weft.einsum "Aj,jB->BA" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
%5 = weft.einsum "ij,kl->ijkl" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3x3x4xf32>
%6 = weft.einsum "ij,->ij" %a, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%7 = weft.einsum "ij,ij->" %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
