// Parameters lie as is best: whole where memory is free, by columns and then by rows where it is not. What is `pinned`
// stays.
// RUN: weft-opt %s --pass-pipeline="builtin.module(weft.graph(weft-shard-infer))" | FileCheck %s --check-prefixes=CHECK,PINNED
// RUN: weft-opt %s --pass-pipeline="builtin.module(weft.graph(weft-shard-infer{free=tensor}))" | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: weft-opt %s --pass-pipeline="builtin.module(weft.graph(weft-shard-infer{free=tensor limit=70000000}))" | FileCheck %s --check-prefixes=CHECK,LESS

// 64 MiB of parameters, beside 16 that must be whole.
// CHECK-LABEL: weft.graph @mlp
// PINNED: weft.parameter "up" {{.*}} -> tensor<1024x8192xf32, #weft.sbp<S(0)>>
// PINNED: weft.parameter "down" {{.*}} -> tensor<8192x1024xf32, #weft.sbp<S(1)>>
// FREE: weft.parameter "up" {{.*}} -> tensor<1024x8192xf32, #weft.sbp<B>>
// FREE: weft.parameter "down" {{.*}} -> tensor<8192x1024xf32, #weft.sbp<B>>
// LESS: weft.parameter "up" {{.*}} -> tensor<1024x8192xf32, #weft.sbp<S(1)>>
// LESS: weft.parameter "down" {{.*}} -> tensor<8192x1024xf32, #weft.sbp<S(0)>>
// CHECK: weft.parameter "whole" {{.*}} -> tensor<1024x4096xf32, #weft.sbp<B>>
// Rows of the batch are split where parameters are whole.
// FREE: weft.einsum "bi,io->bo" {{.*}} -> tensor<256x8192xf32, #weft.sbp<S(0)>>
// LESS: weft.einsum "bi,io->bo" {{.*}} -> tensor<256x8192xf32, #weft.sbp<S(1)>>
// LESS: weft.einsum "bi,io->bo" {{.*}} -> tensor<256x1024xf32, #weft.sbp<P>>
#mesh = #weft.placement<"cpu", [tensor = 8], [0, 1, 2, 3, 4, 5, 6, 7]>
weft.graph @mlp("x" %x: tensor<256x1024xf32>) placements [#mesh] attributes {weft.machine = {node_ranks = 8}} {
  %up = weft.parameter "up" [1024, 8192] init(zeros) sbp(tensor = S(0)) : () -> tensor<1024x8192xf32>
  %down = weft.parameter "down" [8192, 1024] init(zeros) sbp(tensor = S(1)) : () -> tensor<8192x1024xf32>
  %whole = weft.parameter "whole" [1024, 4096] init(zeros) pinned : () -> tensor<1024x4096xf32>
  %0 = weft.einsum "bi,io->bo" %x, %up : (tensor<256x1024xf32>, tensor<1024x8192xf32>) -> tensor<256x8192xf32>
  %1 = weft.tanh %0 : (tensor<256x8192xf32>) -> tensor<256x8192xf32>
  %2 = weft.einsum "bi,io->bo" %1, %down : (tensor<256x8192xf32>, tensor<8192x1024xf32>) -> tensor<256x1024xf32>
  %3 = weft.einsum "bi,io->bo" %2, %whole : (tensor<256x1024xf32>, tensor<1024x4096xf32>) -> tensor<256x4096xf32>
  weft.output "y" %3 : (tensor<256x4096xf32>)
}
