// RUN: weft-opt %s --weft-shard-infer | FileCheck %s --check-prefixes=CHECK,NEAR
// RUN: weft-opt %s --weft-shard-infer=machine=1e11:4e9:1e10:1e-6:1e6:0.01:1e6:0.01:64 | FileCheck %s --check-prefixes=CHECK,FAR
// RUN: not weft-opt %s --weft-shard-infer=machine=fast 2>&1 | FileCheck %s --check-prefix=BAD

// The layout follows the rates of the machine: over slow links it is cheaper to compute everything everywhere than to
// slice, compute a part and gather the result.
// BAD: 'weft.graph' op machine: expected rates, got fast{{$}}
// CHECK-LABEL: weft.graph @gelu
// NEAR: weft.gelu {{.*}} -> tensor<4096x1024xf32, #weft.sbp<S(0)>>
// FAR-NEXT: %[[Y:.*]] = weft.gelu %arg0 : (tensor<4096x1024xf32, #weft.sbp<B>>) -> tensor<4096x1024xf32, #weft.sbp<B>>
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @gelu("x" %x: tensor<4096x1024xf32>) placements [#mesh] {
  %0 = weft.gelu %x : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %1 = weft.square_sum %0 : (tensor<4096x1024xf32>) -> tensor<f32>
  weft.output "norm" metric %1 : (tensor<f32>)
}
