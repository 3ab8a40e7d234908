// RUN: weft-opt %s --weft-box-route=machine=1e11:4e9:1e10:1e-6:3e9:0:3e9:0:64 | FileCheck %s
// RUN: not weft-opt %s --weft-box-route=machine=fast 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not weft-opt %s --weft-box-route=machine=1:2:3:4:5:-6:7:8:9 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// The route follows the rates of the machine: with collectives that begin at once, two gathers beat one all-reduce.
// BAD: 'weft.graph' op machine: expected rates, got fast{{$}}
// NEGATIVE: 'weft.graph' op machine: expected rates, got 1:2:3:4:5:-6:7:8:9{{$}}
// CHECK-LABEL: weft.graph @nested_small
// CHECK-NEXT: %[[INNER:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0), B>>
// CHECK-NEXT: %[[ALL:.*]] = weft.box %[[INNER]] : (tensor<8x4xf32, #weft.sbp<S(0), B>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
// CHECK-NEXT: weft.output "y" %[[ALL]]
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @nested_small("x" %x: tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
  weft.output "y" %0 : (tensor<8x4xf32, #weft.sbp<B, B>>)
}
