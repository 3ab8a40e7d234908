// RUN: weft-opt %s --weft-box-route | FileCheck %s
// RUN: sed 's/node_latency_s = 0.0/node_latency_s = -6.0/' %s | not weft-opt --weft-box-route 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// The route follows the rates of the machine: with collectives that begin at once, two gathers beat one all-reduce.
// NEGATIVE: 'weft.graph' op weft.machine: expected rates of 0 or more, of contraction_flops, {{.*}}, or node_ranks of 1 or more, got node_latency_s = -6.000000e+00 : f64{{$}}
// CHECK-LABEL: weft.graph @nested_small
// CHECK-NEXT: %[[INNER:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0), B>>
// CHECK-NEXT: %[[ALL:.*]] = weft.box %[[INNER]] : (tensor<8x4xf32, #weft.sbp<S(0), B>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
// CHECK-NEXT: weft.output "y" %[[ALL]]
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @nested_small("x" %x: tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) placements [#mesh] attributes {weft.machine = {network_bytes_s = 3.0e9, network_latency_s = 0.0, node_latency_s = 0.0}} {
  %0 = weft.box %x : (tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
  weft.output "y" %0 : (tensor<8x4xf32, #weft.sbp<B, B>>)
}
