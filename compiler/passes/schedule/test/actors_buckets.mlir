// RUN: weft-opt %s --weft-schedule-actors -split-input-file | FileCheck %s

// Sums of gradients are reduced on the communication stream, in the order in which the backward completes them, those that
// fit in one bundle together; other collectives of the section follow them there. What reads the bundle waits for it.
// CHECK-LABEL: task.program @beside
// CHECK: task.actor "h.1.backward" compute micro unit "B"
// CHECK-NEXT: task.kernel "fill"
// CHECK-NEXT: task.kernel "accumulate"
// CHECK: task.actor "gradients.all_reduce" communication step {
// CHECK-NEXT: task.collective all_reduce [0] %[[LAST:.*]] to
// CHECK-NEXT: task.collective all_reduce [0] %[[FIRST:.*]] to
// CHECK: task.actor "loss.forward.all_reduce" communication step {
// CHECK: task.actor "optimizer" compute step {
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
task.program @beside on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(2) {
  %g1 = task.buffer "g1" activation : !p
  %s1 = task.buffer "s1" gradient : !p
  %g0 = task.buffer "g0" activation : !p
  %s0 = task.buffer "s0" gradient : !p
  %l = task.buffer "l" activation : !p
  %sl = task.buffer "sl" activation : !p
  %r0 = task.buffer "r0" gradient : !b
  %r1 = task.buffer "r1" gradient : !b
  %rl = task.buffer "rl" activation : !b
  task.kernel "fill" outs(%l : !p) {} micro {scope = "loss"}
  task.kernel "accumulate" ins(%l, %sl : !p, !p) outs(%sl : !p) {} micro {scope = "loss"}
  task.kernel "fill" outs(%g1 : !p) {} micro {scope = "h.1", phase = "backward"}
  task.kernel "fill" outs(%g0 : !p) {} micro {scope = "h.0", phase = "backward"}
  task.kernel "accumulate" ins(%g0, %s0 : !p, !p) outs(%s0 : !p) {} micro {scope = "h.0", phase = "backward"}
  task.kernel "accumulate" ins(%g1, %s1 : !p, !p) outs(%s1 : !p) {} micro {scope = "h.1", phase = "backward"}
  task.collective all_reduce [0] %sl to %rl step {scope = "loss"} : !p, !b
  task.collective all_reduce [0] %s0 to %r0 step {scope = "optimizer", phase = "update"} : !p, !b
  task.collective all_reduce [0] %s1 to %r1 step {scope = "optimizer", phase = "update"} : !p, !b
  task.kernel "output" ins(%r0, %r1, %rl : !b, !b, !b) {name = "y"} step {scope = "optimizer", phase = "update"}
}

// -----
// Where the backward ends with a collective over the same axis, ranks might issue the two in different orders: the bundle
// waits for its turn on the compute stream.
// CHECK-LABEL: task.program @overtakes
// CHECK: task.actor "gradients.all_reduce" compute step {
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
task.program @overtakes on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(2) {
  %g = task.buffer "g" activation : !p
  %s = task.buffer "s" gradient : !p
  %h = task.buffer "h" activation : !b
  %r = task.buffer "r" gradient : !b
  task.kernel "fill" outs(%g : !p) {} micro {scope = "h.0", phase = "backward"}
  task.kernel "accumulate" ins(%g, %s : !p, !p) outs(%s : !p) {} micro {scope = "h.0", phase = "backward"}
  task.collective all_reduce [0] %g to %h micro {scope = "h.0", phase = "backward"} : !p, !b
  task.kernel "output" ins(%h : !b) {name = "h"} micro {scope = "h.0", phase = "backward"}
  task.collective all_reduce [0] %s to %r step {scope = "optimizer", phase = "update"} : !p, !b
  task.kernel "output" ins(%r : !b) {name = "y"} step {scope = "optimizer", phase = "update"}
}
