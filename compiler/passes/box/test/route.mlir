// RUN: weft-opt %s --weft-box-route -split-input-file | FileCheck %s

// Every pair of states on one axis: one step each, but for those that pass through B.
// CHECK-LABEL: weft.graph @one_axis
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: weft.output "S(0) to S(1)" %[[BOX]] : (tensor<8x4xf32, #weft.sbp<S(1)>>)
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "S(0) to B" %[[BOX1]] : (tensor<8x4xf32, #weft.sbp<B>>)
// CHECK-NEXT: %[[BOX2:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<P>>
// CHECK-NEXT: weft.output "S(0) to P" %[[BOX2]] : (tensor<8x4xf32, #weft.sbp<P>>)
// CHECK-NEXT: %[[BOX3:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[BOX4:.*]] = weft.box %[[BOX3]] : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<P(max)>>
// CHECK-NEXT: weft.output "S(0) to P(max)" %[[BOX4]] : (tensor<8x4xf32, #weft.sbp<P(max)>>)
// CHECK-NEXT: %[[BOX5:.*]] = weft.box %arg1 : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: weft.output "B to S(0)" %[[BOX5]] : (tensor<8x4xf32, #weft.sbp<S(0)>>)
// CHECK-NEXT: %[[BOX6:.*]] = weft.box %arg1 : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: weft.output "B to S(1)" %[[BOX6]] : (tensor<8x4xf32, #weft.sbp<S(1)>>)
// CHECK-NEXT: %[[BOX7:.*]] = weft.box %arg1 : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<P>>
// CHECK-NEXT: weft.output "B to P" %[[BOX7]] : (tensor<8x4xf32, #weft.sbp<P>>)
// CHECK-NEXT: %[[BOX8:.*]] = weft.box %arg1 : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<P(max)>>
// CHECK-NEXT: weft.output "B to P(max)" %[[BOX8]] : (tensor<8x4xf32, #weft.sbp<P(max)>>)
// CHECK-NEXT: %[[BOX9:.*]] = weft.box %arg2 : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: weft.output "P to S(0)" %[[BOX9]] : (tensor<8x4xf32, #weft.sbp<S(0)>>)
// CHECK-NEXT: %[[BOX10:.*]] = weft.box %arg2 : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: weft.output "P to S(1)" %[[BOX10]] : (tensor<8x4xf32, #weft.sbp<S(1)>>)
// CHECK-NEXT: %[[BOX11:.*]] = weft.box %arg2 : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "P to B" %[[BOX11]] : (tensor<8x4xf32, #weft.sbp<B>>)
// CHECK-NEXT: %[[BOX12:.*]] = weft.box %arg2 : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[BOX13:.*]] = weft.box %[[BOX12]] : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<P(max)>>
// CHECK-NEXT: weft.output "P to P(max)" %[[BOX13]] : (tensor<8x4xf32, #weft.sbp<P(max)>>)
// CHECK-NEXT: %[[BOX14:.*]] = weft.box %arg3 : (tensor<8x4xf32, #weft.sbp<P(max)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: weft.output "P(max) to S(0)" %[[BOX14]] : (tensor<8x4xf32, #weft.sbp<S(0)>>)
// CHECK-NEXT: %[[BOX15:.*]] = weft.box %arg3 : (tensor<8x4xf32, #weft.sbp<P(max)>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: weft.output "P(max) to S(1)" %[[BOX15]] : (tensor<8x4xf32, #weft.sbp<S(1)>>)
// CHECK-NEXT: %[[BOX16:.*]] = weft.box %arg3 : (tensor<8x4xf32, #weft.sbp<P(max)>>) -> tensor<8x4xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "P(max) to B" %[[BOX16]] : (tensor<8x4xf32, #weft.sbp<B>>)
// CHECK-NEXT: %[[BOX17:.*]] = weft.box %arg3 : (tensor<8x4xf32, #weft.sbp<P(max)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[BOX18:.*]] = weft.box %[[BOX17]] : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<P>>
// CHECK-NEXT: weft.output "P(max) to P" %[[BOX18]] : (tensor<8x4xf32, #weft.sbp<P>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @one_axis("s0" %s0: tensor<8x4xf32, #weft.sbp<S(0)>>, "b" %b: tensor<8x4xf32, #weft.sbp<B>>, "p" %p: tensor<8x4xf32, #weft.sbp<P>>, "m" %m: tensor<8x4xf32, #weft.sbp<P(max)>>) placements [#mesh] {
  %0 = weft.box %s0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
  weft.output "S(0) to S(1)" %0 : (tensor<8x4xf32, #weft.sbp<S(1)>>)
  %1 = weft.box %s0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<B>>
  weft.output "S(0) to B" %1 : (tensor<8x4xf32, #weft.sbp<B>>)
  %2 = weft.box %s0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<P>>
  weft.output "S(0) to P" %2 : (tensor<8x4xf32, #weft.sbp<P>>)
  %3 = weft.box %s0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<P(max)>>
  weft.output "S(0) to P(max)" %3 : (tensor<8x4xf32, #weft.sbp<P(max)>>)
  %4 = weft.box %b : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
  weft.output "B to S(0)" %4 : (tensor<8x4xf32, #weft.sbp<S(0)>>)
  %5 = weft.box %b : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
  weft.output "B to S(1)" %5 : (tensor<8x4xf32, #weft.sbp<S(1)>>)
  %6 = weft.box %b : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<P>>
  weft.output "B to P" %6 : (tensor<8x4xf32, #weft.sbp<P>>)
  %7 = weft.box %b : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<P(max)>>
  weft.output "B to P(max)" %7 : (tensor<8x4xf32, #weft.sbp<P(max)>>)
  %8 = weft.box %p : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
  weft.output "P to S(0)" %8 : (tensor<8x4xf32, #weft.sbp<S(0)>>)
  %9 = weft.box %p : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
  weft.output "P to S(1)" %9 : (tensor<8x4xf32, #weft.sbp<S(1)>>)
  %10 = weft.box %p : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<B>>
  weft.output "P to B" %10 : (tensor<8x4xf32, #weft.sbp<B>>)
  %11 = weft.box %p : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<P(max)>>
  weft.output "P to P(max)" %11 : (tensor<8x4xf32, #weft.sbp<P(max)>>)
  %12 = weft.box %m : (tensor<8x4xf32, #weft.sbp<P(max)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
  weft.output "P(max) to S(0)" %12 : (tensor<8x4xf32, #weft.sbp<S(0)>>)
  %13 = weft.box %m : (tensor<8x4xf32, #weft.sbp<P(max)>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
  weft.output "P(max) to S(1)" %13 : (tensor<8x4xf32, #weft.sbp<S(1)>>)
  %14 = weft.box %m : (tensor<8x4xf32, #weft.sbp<P(max)>>) -> tensor<8x4xf32, #weft.sbp<B>>
  weft.output "P(max) to B" %14 : (tensor<8x4xf32, #weft.sbp<B>>)
  %15 = weft.box %m : (tensor<8x4xf32, #weft.sbp<P(max)>>) -> tensor<8x4xf32, #weft.sbp<P>>
  weft.output "P(max) to P" %15 : (tensor<8x4xf32, #weft.sbp<P>>)
}
// -----
// Pending over both axes: one all-reduce over all ranks.
// CHECK-LABEL: weft.graph @all_reduce_together
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<P, P>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
// CHECK-NEXT: weft.output "y" %[[BOX]] : (tensor<8x4xf32, #weft.sbp<B, B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @all_reduce_together("x" %x: tensor<8x4xf32, #weft.sbp<P, P>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<8x4xf32, #weft.sbp<P, P>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
  weft.output "y" %0 : (tensor<8x4xf32, #weft.sbp<B, B>>)
}
// -----
// The other axis is not touched.
// CHECK-LABEL: weft.graph @beside
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<B, P>>) -> tensor<8x4xf32, #weft.sbp<B, S(1)>>
// CHECK-NEXT: weft.output "y" %[[BOX]] : (tensor<8x4xf32, #weft.sbp<B, S(1)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @beside("x" %x: tensor<8x4xf32, #weft.sbp<B, P>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<8x4xf32, #weft.sbp<B, P>>) -> tensor<8x4xf32, #weft.sbp<B, S(1)>>
  weft.output "y" %0 : (tensor<8x4xf32, #weft.sbp<B, S(1)>>)
}
// -----
// One dimension cut by both axes: the inner axis gives up its part first ...
// CHECK-LABEL: weft.graph @nested_gather
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>) -> tensor<2048x1024xf32, #weft.sbp<S(0), B>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] : (tensor<2048x1024xf32, #weft.sbp<S(0), B>>) -> tensor<2048x1024xf32, #weft.sbp<B, B>>
// CHECK-NEXT: weft.output "y" %[[BOX1]] : (tensor<2048x1024xf32, #weft.sbp<B, B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @nested_gather("x" %x: tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>) -> tensor<2048x1024xf32, #weft.sbp<B, B>>
  weft.output "y" %0 : (tensor<2048x1024xf32, #weft.sbp<B, B>>)
}
// -----
// ... and the outer one cuts first.
// CHECK-LABEL: weft.graph @nested_slice
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<2048x1024xf32, #weft.sbp<B, B>>) -> tensor<2048x1024xf32, #weft.sbp<S(0), B>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] : (tensor<2048x1024xf32, #weft.sbp<S(0), B>>) -> tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>
// CHECK-NEXT: weft.output "y" %[[BOX1]] : (tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @nested_slice("x" %x: tensor<2048x1024xf32, #weft.sbp<B, B>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<2048x1024xf32, #weft.sbp<B, B>>) -> tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>
  weft.output "y" %0 : (tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>)
}
// -----
// A small one is padded to pending sums and summed at once: there latency counts more than bytes.
// CHECK-LABEL: weft.graph @nested_small
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0), P>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] : (tensor<8x4xf32, #weft.sbp<S(0), P>>) -> tensor<8x4xf32, #weft.sbp<P, P>>
// CHECK-NEXT: %[[BOX2:.*]] = weft.box %[[BOX1]] : (tensor<8x4xf32, #weft.sbp<P, P>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
// CHECK-NEXT: weft.output "y" %[[BOX2]] : (tensor<8x4xf32, #weft.sbp<B, B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @nested_small("x" %x: tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
  weft.output "y" %0 : (tensor<8x4xf32, #weft.sbp<B, B>>)
}
// -----
// Only the inner axis may move on alone.
// CHECK-LABEL: weft.graph @nested_inner
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>) -> tensor<2048x1024xf32, #weft.sbp<S(0), S(1)>>
// CHECK-NEXT: weft.output "y" %[[BOX]] : (tensor<2048x1024xf32, #weft.sbp<S(0), S(1)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @nested_inner("x" %x: tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>) -> tensor<2048x1024xf32, #weft.sbp<S(0), S(1)>>
  weft.output "y" %0 : (tensor<2048x1024xf32, #weft.sbp<S(0), S(1)>>)
}
// -----
// The outer axis moves only when the inner one is out of the way.
// CHECK-LABEL: weft.graph @nested_outer
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>) -> tensor<2048x1024xf32, #weft.sbp<S(0), B>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] : (tensor<2048x1024xf32, #weft.sbp<S(0), B>>) -> tensor<2048x1024xf32, #weft.sbp<S(1), B>>
// CHECK-NEXT: %[[BOX2:.*]] = weft.box %[[BOX1]] : (tensor<2048x1024xf32, #weft.sbp<S(1), B>>) -> tensor<2048x1024xf32, #weft.sbp<S(1), S(0)>>
// CHECK-NEXT: weft.output "y" %[[BOX2]] : (tensor<2048x1024xf32, #weft.sbp<S(1), S(0)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @nested_outer("x" %x: tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<2048x1024xf32, #weft.sbp<S(0), S(0)>>) -> tensor<2048x1024xf32, #weft.sbp<S(1), S(0)>>
  weft.output "y" %0 : (tensor<2048x1024xf32, #weft.sbp<S(1), S(0)>>)
}
// -----
// Two axes trade dimensions.
// CHECK-LABEL: weft.graph @trade
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<2048x1024xf32, #weft.sbp<S(0), S(1)>>) -> tensor<2048x1024xf32, #weft.sbp<B, S(1)>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] : (tensor<2048x1024xf32, #weft.sbp<B, S(1)>>) -> tensor<2048x1024xf32, #weft.sbp<B, S(0)>>
// CHECK-NEXT: %[[BOX2:.*]] = weft.box %[[BOX1]] : (tensor<2048x1024xf32, #weft.sbp<B, S(0)>>) -> tensor<2048x1024xf32, #weft.sbp<S(1), S(0)>>
// CHECK-NEXT: weft.output "y" %[[BOX2]] : (tensor<2048x1024xf32, #weft.sbp<S(1), S(0)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @trade("x" %x: tensor<2048x1024xf32, #weft.sbp<S(0), S(1)>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<2048x1024xf32, #weft.sbp<S(0), S(1)>>) -> tensor<2048x1024xf32, #weft.sbp<S(1), S(0)>>
  weft.output "y" %0 : (tensor<2048x1024xf32, #weft.sbp<S(1), S(0)>>)
}
// -----
// From split to pending: zeros elsewhere, nothing is sent.
// CHECK-LABEL: weft.graph @pad
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0), B>>) -> tensor<8x4xf32, #weft.sbp<P, B>>
// CHECK-NEXT: weft.output "y" %[[BOX]] : (tensor<8x4xf32, #weft.sbp<P, B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @pad("x" %x: tensor<8x4xf32, #weft.sbp<S(0), B>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<8x4xf32, #weft.sbp<S(0), B>>) -> tensor<8x4xf32, #weft.sbp<P, B>>
  weft.output "y" %0 : (tensor<8x4xf32, #weft.sbp<P, B>>)
}
// -----
// A dimension that both axes do not divide together forces a way around.
// CHECK-LABEL: weft.graph @uneven
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<2x4xf32, #weft.sbp<B, S(0)>>) -> tensor<2x4xf32, #weft.sbp<S(1), S(0)>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] : (tensor<2x4xf32, #weft.sbp<S(1), S(0)>>) -> tensor<2x4xf32, #weft.sbp<S(1), S(1)>>
// CHECK-NEXT: weft.output "y" %[[BOX1]] : (tensor<2x4xf32, #weft.sbp<S(1), S(1)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @uneven("x" %x: tensor<2x4xf32, #weft.sbp<B, S(0)>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<2x4xf32, #weft.sbp<B, S(0)>>) -> tensor<2x4xf32, #weft.sbp<S(1), S(1)>>
  weft.output "y" %0 : (tensor<2x4xf32, #weft.sbp<S(1), S(1)>>)
}

// -----
// A box of a box is one change, if nobody else reads between; scope and phase stay.
// CHECK-LABEL: weft.graph @merge
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 {phase = "backward", scope = "h.0"} : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: weft.output "y" %[[BOX]] : (tensor<8x4xf32, #weft.sbp<S(1)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @merge("x" %x: tensor<8x4xf32, #weft.sbp<P>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<B>>
  %1 = weft.box %0 {phase = "backward", scope = "h.0"} : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
  weft.output "y" %1 : (tensor<8x4xf32, #weft.sbp<S(1)>>)
}

// -----
// There and back is nothing.
// CHECK-LABEL: weft.graph @merge_to_nothing
// CHECK-NEXT: weft.output "y" %arg0 : (tensor<8x4xf32, #weft.sbp<S(0)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @merge_to_nothing("x" %x: tensor<8x4xf32, #weft.sbp<S(0)>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<B>>
  %1 = weft.box %0 : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
  weft.output "y" %1 : (tensor<8x4xf32, #weft.sbp<S(0)>>)
}

// -----
// With a reader between, both boxes stay; a box without readers goes.
// CHECK-LABEL: weft.graph @no_merge
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: weft.output "b" %[[BOX]] : (tensor<8x4xf32, #weft.sbp<B>>)
// CHECK-NEXT: weft.output "y" %[[BOX1]] : (tensor<8x4xf32, #weft.sbp<S(1)>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @no_merge("x" %x: tensor<8x4xf32, #weft.sbp<P>>) placements [#mesh] {
  %0 = weft.box %x : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<B>>
  %1 = weft.box %0 : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
  %2 = weft.box %0 : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
  weft.output "b" %0 : (tensor<8x4xf32, #weft.sbp<B>>)
  weft.output "y" %1 : (tensor<8x4xf32, #weft.sbp<S(1)>>)
}

// -----
// To another placement: pending sums are shed before, taken up after; the crossing goes from S and B to S and B, also
// between meshes of other shapes.
// CHECK-LABEL: weft.graph @crossing
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 {scope = "h.1"} : (tensor<8x4xf32, #weft.sbp<S(0), P>>) -> tensor<8x4xf32, #weft.sbp<S(0), B>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] {scope = "h.1", stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<S(0), B>>) -> tensor<8x4xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[BOX2:.*]] = weft.box %[[BOX1]] {scope = "h.1", stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<B>>) -> tensor<8x4xf32, #weft.sbp<P>>
// CHECK-NEXT: weft.output "y" %[[BOX2]] {stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<P>>)
// CHECK-NEXT: }
#a = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
#b = #weft.placement<"cpu", [_0 = 2], [4, 5]>
weft.graph @crossing("x" %x: tensor<8x4xf32, #weft.sbp<S(0), P>>) placements [#a, #b] {
  %0 = weft.box %x {scope = "h.1", stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<S(0), P>>) -> tensor<8x4xf32, #weft.sbp<P>>
  weft.output "y" %0 {stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<P>>)
}

// -----
// Back to the first placement: there the steps have no stage. The same states on two placements are still a crossing.
// CHECK-LABEL: weft.graph @there_and_back
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 {stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: weft.output "y" %[[BOX1]] : (tensor<8x4xf32, #weft.sbp<S(1)>>)
// CHECK-NEXT: }
#a = #weft.placement<"cpu", [data = 2], [0, 1]>
#b = #weft.placement<"cpu", [data = 2], [2, 3]>
weft.graph @there_and_back("x" %x: tensor<8x4xf32, #weft.sbp<S(0)>>) placements [#a, #b] {
  %0 = weft.box %x {stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
  %1 = weft.box %0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
  weft.output "y" %1 : (tensor<8x4xf32, #weft.sbp<S(1)>>)
}
