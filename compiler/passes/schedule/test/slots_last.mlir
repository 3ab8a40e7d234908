// RUN: weft-opt %s --weft-schedule-units=schedule=gpipe --weft-schedule-actors --weft-schedule-slots | FileCheck %s

// What a unit makes and the step section reads, also by a view, is read of the last micro-batch, so it has as many slots
// as the units need: three between a forward and its backward in GPIPE. A parameter that no update writes is read by many
// units, and has one slot.
// CHECK: "frozen" parameter init "fill"{{[^s]*}} :
// CHECK: "stash" activation slots(3) :
// CHECK: "viewed" activation slots(3) :
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @stage0 on #weft.placement<"cpu", [], [0]> micro_batches(3) {
  %p = task.buffer "frozen" parameter init "fill" {} : !t
  %s = task.buffer "stash" activation : !t
  %w = task.buffer "viewed" activation : !t
  %g = task.buffer "gradient" activation : !t
  %v = task.alias %w : !t as !t
  task.kernel "neg" ins(%p : !t) outs(%s : !t) {} micro
  task.kernel "neg" ins(%s : !t) outs(%w : !t) {} micro
  task.kernel "mul" ins(%s, %w : !t, !t) outs(%g : !t) {} micro {phase = "backward"}
  task.kernel "output" ins(%s : !t) {name = "y"} step
  task.kernel "output" ins(%v : !t) {name = "z"} step
}
