// RUN: weft-opt %s | weft-opt | FileCheck %s

!x = !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
!b = !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
!p = !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>
!m = !task.buffer<tensor<8x4xf32, #weft.sbp<P(max), B>>>
!s = !task.buffer<tensor<8x4xf32, #weft.sbp<P, S(1)>>>
!t = !task.buffer<tensor<8x4xf32, #weft.sbp<S(1), B>>>
!f = !task.buffer<tensor<32xf32, #weft.sbp<B, B>>>

// Everything that an op may have and may lack.
// CHECK-LABEL: task.program @stage0 on <"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(4)
// CHECK-SAME: attributes {graph = "train"} {
task.program @stage0 on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(4) attributes {graph = "train"} {
  // CHECK-NEXT: %[[X:.*]] = task.buffer "x" input slots(2) : <tensor<8x4xf32, #weft.sbp<S(0), B>>>
  %x = task.buffer "x" input slots(2) : !x
  // CHECK-NEXT: %[[B:.*]] = task.buffer "b" parameter init "random_normal" {seed = 3 : i64, std = 2.000000e-02 : f64} stored [4, 8] : <tensor<8x4xf32, #weft.sbp<B, B>>>
  %b = task.buffer "b" parameter init "random_normal" {seed = 3, std = 0.02} stored [4, 8] : !b
  // CHECK-NEXT: task.buffer "o" optimizer init "fill" {} : <tensor<8x4xf32, #weft.sbp<B, B>>>
  %o = task.buffer "o" optimizer init "fill" {} : !b
  // CHECK-NEXT: %[[P:.*]] = task.buffer "p" gradient : <tensor<8x4xf32, #weft.sbp<P, P>>>
  %p = task.buffer "p" gradient : !p
  // CHECK-NEXT: %[[M:.*]] = task.buffer "m" activation {note = "n"} : <tensor<8x4xf32, #weft.sbp<P(max), B>>>
  %m = task.buffer "m" activation {note = "n"} : !m
  // CHECK-NEXT: %[[S:.*]] = task.buffer "s" communication : <tensor<8x4xf32, #weft.sbp<P, S(1)>>>
  %s = task.buffer "s" communication : !s
  // CHECK-NEXT: %[[T:.*]] = task.buffer "t" output : <tensor<8x4xf32, #weft.sbp<S(1), B>>>
  %t = task.buffer "t" output : !t
  // CHECK-NEXT: %[[F:.*]] = task.alias %[[B]] : <tensor<8x4xf32, #weft.sbp<B, B>>> as <tensor<32xf32, #weft.sbp<B, B>>>
  %f = task.alias %b : !b as !f
  // CHECK-NEXT: task.actor "graph.forward" compute micro {
  task.actor "graph.forward" compute micro {
    // CHECK-NEXT: task.kernel "empty" {} micro{{$}}
    task.kernel "empty" {} micro
    // CHECK-NEXT: task.kernel "two" {} micro cost [3.000000e+00, 1.000000e+00, 2.000000e+00] product {batch = 1 : i64, k = 2 : i64, m = 3 : i64, n = 4 : i64, type = "f32", within = "attention"} cell @k randoms [{seed = 1 : i64, tensor = tensor<4xf32>}]
    task.kernel "two" {} micro cost [3.0, 1.0, 2.0] product {batch = 1, k = 2, m = 3, n = 4, type = "f32", within = "attention"} cell @k randoms [{seed = 1, tensor = tensor<4xf32>}]
    // CHECK-NEXT: task.kernel "input" outs(%[[X]] : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>) {name = "x"} micro
    task.kernel "input" outs(%x : !x) {name = "x"} micro
    // CHECK-NEXT: task.kernel "k" ins(%[[B]], %[[F]] : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>, !task.buffer<tensor<32xf32, #weft.sbp<B, B>>>)
    // CHECK-SAME: outs(%[[P]], %[[M]] : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<P(max), B>>>)
    // CHECK-SAME: {} micro in_place [-1, 0] {scope = "h.0"}
    task.kernel "k" ins(%b, %f : !b, !f) outs(%p, %m : !p, !m) {} micro in_place [-1, 0] {scope = "h.0"}
    // CHECK-NEXT: task.collective all_reduce [0, 1] %[[P]] to %[[B]] micro : <tensor<8x4xf32, #weft.sbp<P, P>>>, <tensor<8x4xf32, #weft.sbp<B, B>>>
    task.collective all_reduce [0, 1] %p to %b micro : !p, !b
    // CHECK-NEXT: task.collective all_reduce [0] max %[[M]] to %[[B]] micro : <tensor<8x4xf32, #weft.sbp<P(max), B>>>, <tensor<8x4xf32, #weft.sbp<B, B>>>
    task.collective all_reduce [0] max %m to %b micro : !m, !b
    // CHECK-NEXT: task.collective reduce_scatter [1] dim 1 %[[P]] to %[[S]] micro : <tensor<8x4xf32, #weft.sbp<P, P>>>, <tensor<8x4xf32, #weft.sbp<P, S(1)>>>
    task.collective reduce_scatter [1] dim 1 %p to %s micro : !p, !s
    // CHECK-NEXT: task.collective all_gather [0] dim 0 %[[X]] to %[[B]] micro : <tensor<8x4xf32, #weft.sbp<S(0), B>>>, <tensor<8x4xf32, #weft.sbp<B, B>>>
    task.collective all_gather [0] dim 0 %x to %b micro : !x, !b
    // CHECK-NEXT: task.collective all_to_all [0] dim 0 split 1 %[[X]] to %[[T]] micro {scope = "h.0"} : <tensor<8x4xf32, #weft.sbp<S(0), B>>>, <tensor<8x4xf32, #weft.sbp<S(1), B>>>
    task.collective all_to_all [0] dim 0 split 1 %x to %t micro {scope = "h.0"} : !x, !t
    // CHECK-NEXT: task.collective shift [0] dim 0 by 1 %[[X]] to %[[X]] micro : <tensor<8x4xf32, #weft.sbp<S(0), B>>>, <tensor<8x4xf32, #weft.sbp<S(0), B>>>
    task.collective shift [0] dim 0 by 1 %x to %x micro : !x, !x
    // CHECK-NEXT: task.collective zigzag [0] dim 0 %[[X]] to %[[X]] micro : <tensor<8x4xf32, #weft.sbp<S(0), B>>>, <tensor<8x4xf32, #weft.sbp<S(0), B>>>
    task.collective zigzag [0] dim 0 %x to %x micro : !x, !x
    // CHECK-NEXT: task.collective zigzag [0] dim 0 back %[[X]] to %[[X]] micro : <tensor<8x4xf32, #weft.sbp<S(0), B>>>, <tensor<8x4xf32, #weft.sbp<S(0), B>>>
    task.collective zigzag [0] dim 0 back %x to %x micro : !x, !x
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: task.actor "h.0.send" communication step attributes {note = 1 : i64} {
  task.actor "h.0.send" communication step attributes {note = 1} {
    // CHECK-NEXT: task.send 3 %[[B]] step : <tensor<8x4xf32, #weft.sbp<B, B>>>
    task.send 3 %b step : !b
  }
  // CHECK: task.actor "h.0.receive" host step {
  task.actor "h.0.receive" host step {
    // CHECK-NEXT: task.receive 4 %[[T]] step {scope = "h.0"} : <tensor<8x4xf32, #weft.sbp<S(1), B>>>
    task.receive 4 %t step {scope = "h.0"} : !t
  }
  // CHECK: task.metric "loss" %[[F]] : <tensor<32xf32, #weft.sbp<B, B>>>
  task.metric "loss" %f : !f
}

// CHECK-LABEL: task.program @empty on <"cpu", [], [0]> micro_batches(1) {
// CHECK-NEXT: }
task.program @empty on #weft.placement<"cpu", [], [0]> micro_batches(1) {
}
