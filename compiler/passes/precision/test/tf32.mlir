// RUN: weft-opt %s --weft-precision-tf32 | FileCheck %s
// RUN: sed s/cuda/cpu/ %s | weft-opt --weft-precision-tf32 | FileCheck %s --check-prefix=CPU --implicit-check-not=tf32
// What multiplies float32 may round it; what reads less, and what is no contraction, is left.
// CHECK: weft.einsum "bsi,io->bso" %{{.*}} {tf32} : (tensor<2x4x8xf32>
// CHECK: weft.attention %{{.*}} causal {scope = "h", tf32} : (tensor<2x4x2x4xf32>
// CHECK: weft.einsum "bsi,io->bso" %{{.*}} to f32 : (tensor<2x4x8xbf16>
// CHECK: weft.neg %{{.*}} : (tensor<2x4x8xf32>)
// A CPU has no TF32.
// CPU: weft.einsum
#one = #weft.placement<"cuda", [], [0]>
weft.graph @g("x" %x: tensor<2x4x8xf32>, "w" %w: tensor<8x8xf32>, "n" %n: tensor<2x4x8xbf16>, "m" %m: tensor<8x8xbf16>, "q" %q: tensor<2x4x2x4xf32>) placements [#one] {
  %0 = weft.einsum "bsi,io->bso" %x, %w : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %1 = weft.attention %q, %q, %q causal {scope = "h"} : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x4x2x4xf32>
  %2 = weft.einsum "bsi,io->bso" %n, %m to f32 : (tensor<2x4x8xbf16>, tensor<8x8xbf16>) -> tensor<2x4x8xf32>
  %3 = weft.neg %0 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
}
