// RUN: weft-opt %s --weft-schedule-units="overlap=2" --weft-schedule-actors --weft-schedule-slots --weft-schedule-turns | FileCheck %s

// A layer of two products, a reduction, a norm, a gather, and two products. Each pair of products is cut in two actors. The norm of
// the first micro-batch comes between the products of the second, so that the gather of the first is beside the second of them;
// and the norm of the second between the products of the first that follow.
// CHECK-LABEL: task.program @layer
// CHECK: task.actor "h.0.forward" compute micro unit "F" attributes {turn = array<i64: 0, 3>}
// CHECK: task.actor "h.0.forward#2" compute micro unit "F" attributes {turn = array<i64: 1, 6>}
// CHECK: task.actor "h.0.forward.reduce_scatter" communication micro unit "F" attributes {turn = array<i64: 2, 7>}
// CHECK: task.actor "h.0.forward#3" compute micro unit "F" attributes {turn = array<i64: 4, 9>}
// CHECK: task.actor "h.0.forward.all_gather" communication micro unit "F" attributes {turn = array<i64: 5, 10>}
// CHECK: task.actor "h.0.forward#4" compute micro unit "F" attributes {turn = array<i64: 8, 12>}
// CHECK: task.actor "h.0.forward#5" compute micro unit "F" attributes {turn = array<i64: 11, 13>}
!s = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
task.program @layer on #weft.placement<"cpu", [tensor = 2], [0, 1]> micro_batches(4)
    attributes {weft.machine = {node_bytes_s = 1.0e6, node_latency_s = 0.0, launch_s = 0.0, memory_bytes_s = 1.0e6}} {
  %w = task.buffer "w" parameter init "fill" {value = 0.0 : f64} : !b
  %x = task.buffer "x" activation : !b
  %y = task.buffer "y" activation : !p
  %part = task.buffer "part" activation : !s
  %norm = task.buffer "norm" activation : !s
  %whole = task.buffer "whole" activation : !b
  %z = task.buffer "z" activation : !b
  %end = task.buffer "end" activation : !b
  task.kernel "neg" ins(%w : !b) outs(%x : !b) {} micro {scope = "h.0"} cost [0., 0., 100.]
  task.kernel "neg" ins(%x : !b) outs(%y : !p) {} micro {scope = "h.0"} cost [0., 0., 100.]
  task.collective reduce_scatter [0] dim 0 %y to %part micro {scope = "h.0"} : !p, !s
  task.kernel "neg" ins(%part : !s) outs(%norm : !s) {} micro {scope = "h.0"} cost [0., 0., 1.]
  task.collective all_gather [0] dim 0 %norm to %whole micro {scope = "h.0"} : !s, !b
  task.kernel "neg" ins(%whole : !b) outs(%z : !b) {} micro {scope = "h.0"} cost [0., 0., 100.]
  task.kernel "mul" ins(%z, %w : !b, !b) outs(%end : !b) {} micro {scope = "h.0"} cost [0., 0., 100.]
}

// A sum has one place: it goes from the actor that adds to it to the one that adds more for the first micro-batch, then for the
// second, although a collective lies between.
// CHECK-LABEL: task.program @sum
// CHECK: task.actor "lm_head.backward" compute micro unit "B" attributes {turn = array<i64: 0, 3>}
// CHECK: task.actor "lm_head.backward.all_gather" communication micro unit "B" attributes {turn = array<i64: 1, 4>}
// CHECK: task.actor "lm_head.backward#2" compute micro unit "B" attributes {turn = array<i64: 2, 5>}
task.program @sum on #weft.placement<"cpu", [tensor = 2], [0, 1]> micro_batches(4)
    attributes {weft.machine = {node_bytes_s = 1.0e6, node_latency_s = 0.0, launch_s = 0.0, memory_bytes_s = 1.0e6}} {
  %t = task.buffer "t" activation : !b
  %part = task.buffer "part" activation : !s
  %whole = task.buffer "whole" activation : !b
  %sum = task.buffer "sum" gradient : !b
  %more = task.alias %sum : !b as !b
  task.kernel "fill" outs(%t : !b) {} micro {scope = "lm_head", phase = "backward"} cost [0., 0., 1.]
  task.kernel "fill" outs(%part : !s) {} micro {scope = "lm_head", phase = "backward"} cost [0., 0., 1.]
  task.kernel "accumulate" ins(%t, %sum : !b, !b) outs(%sum : !b) {} micro {scope = "lm_head", phase = "backward"} cost [0., 0., 1.]
  task.collective all_gather [0] dim 0 %part to %whole micro {scope = "lm_head", phase = "backward"} : !s, !b
  task.kernel "add" ins(%whole, %sum : !b, !b) outs(%more : !b) {} micro {scope = "lm_head", phase = "backward"} cost [0., 0., 1.]
}
