// RUN: weft-opt %s --weft-shard-infer | FileCheck %s --check-prefixes=CHECK,NEAR
// RUN: sed 's/{node_ranks = 64}/{node_bytes_s = 1.0e6, node_latency_s = 0.01, network_bytes_s = 1.0e6, network_latency_s = 0.01}/' %s | weft-opt --weft-shard-infer | FileCheck %s --check-prefixes=CHECK,FAR
// RUN: sed 's/{node_ranks = 64}/"fast"/' %s | not weft-opt --weft-shard-infer 2>&1 | FileCheck %s --check-prefix=BAD

// The layout follows the rates of the machine: over slow links it is cheaper to compute everything everywhere than to
// slice, compute a part and gather the result.
// BAD: 'weft.graph' op weft.machine: expected a dictionary of rates, got "fast"{{$}}
// CHECK-LABEL: weft.graph @gelu
// NEAR: weft.gelu {{.*}} -> tensor<4096x1024xf32, #weft.sbp<S(0)>>
// FAR-NEXT: %[[Y:.*]] = weft.gelu %arg0 : (tensor<4096x1024xf32, #weft.sbp<B>>) -> tensor<4096x1024xf32, #weft.sbp<B>>
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @gelu("x" %x: tensor<4096x1024xf32>) placements [#mesh] attributes {weft.machine = {node_ranks = 64}} {
  %0 = weft.gelu %x : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %1 = weft.square_sum %0 : (tensor<4096x1024xf32>) -> tensor<f32>
  weft.output "norm" metric %1 : (tensor<f32>)
}
