// RUN: weft-opt %s --weft-schedule-units="overlap=2" --weft-schedule-actors --weft-schedule-slots | FileCheck %s
// RUN: weft-opt %s --weft-schedule-actors --weft-schedule-slots | FileCheck %s --check-prefix=APART

// Of two micro-batches that overlap, what goes from actor to actor has a slot each, and what is gathered is on the communication
// stream, beside what the other one computes. What one actor alone touches has one slot; so has a sum over the micro-batches.
// CHECK: task.program @split {{.*}} units ["F0", "F1", "B0", "B1", "F2", "F3", "B2", "B3"] overlap(2)
// CHECK: "part" activation slots(2)
// CHECK: "whole" activation slots(2)
// CHECK: "local" activation :
// CHECK: "kept" activation slots(2)
// CHECK: "sum" gradient :
// CHECK: task.actor "h.0.forward.all_gather" communication micro unit "F"

// One after the other: all of it is free again before the next.
// APART: task.program @split
// APART-NOT: overlap
// APART: "part" activation :
// APART: "whole" activation :
// APART: "local" activation :
// APART: "kept" activation :
// APART: task.actor "h.0.forward.all_gather" compute micro unit "F"
!s = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
task.program @split on #weft.placement<"cpu", [tensor = 2], [0, 1]> micro_batches(4) {
  %w = task.buffer "w" parameter init "fill" {value = 0.0 : f64} : !b
  %part = task.buffer "part" activation : !s
  %whole = task.buffer "whole" activation : !b
  %local = task.buffer "local" activation : !b
  %kept = task.buffer "kept" activation : !b
  %sum = task.buffer "sum" gradient : !b
  task.kernel "fill" outs(%part : !s) {} micro {scope = "h.0"}
  task.collective all_gather [0] dim 0 %part to %whole micro {scope = "h.0"} : !s, !b
  task.kernel "neg" ins(%whole : !b) outs(%local : !b) {} micro {scope = "h.0"}
  task.kernel "mul" ins(%local, %w : !b, !b) outs(%kept : !b) {} micro {scope = "h.0"}
  task.kernel "accumulate" ins(%kept, %sum : !b, !b) outs(%sum : !b) {} micro {scope = "h.0", phase = "backward"}
  task.kernel "sgd" ins(%w, %sum : !b, !b) outs(%w : !b) {} step {scope = "optimizer"}
}
