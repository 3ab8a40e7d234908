// RUN: weft-opt %s --weft-schedule-units=file=%S/files/gpipe_and_1f1b.txt --weft-schedule-actors --weft-schedule-slots | FileCheck %s --check-prefixes=CHECK,FAR
// RUN: weft-opt %s --weft-schedule-units=schedule=1f1b --weft-schedule-actors --weft-schedule-slots | FileCheck %s --check-prefixes=CHECK,NEAR

// Stage 0 does all twelve forwards before its first backward, stage 1 a backward behind every forward. Two slots at either
// end of both transfers would let stage 1 write B3 at most before stage 0 takes a gradient, so come to F4, and stage 0
// to F8. All that stage 1 cannot yet take needs slots more: here the ends of the forward transfer have twelve less the
// five that it takes.
// CHECK: task.program @stage0
// FAR: "sent" communication slots(5) :
// NEAR: "sent" communication slots(2) :
// CHECK: "gradient" communication slots(2) :
// CHECK: task.program @stage1
// CHECK: "received" communication slots(2) :
// CHECK: "back" communication slots(2) :
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @stage0 on #weft.placement<"cpu", [], [0]> micro_batches(12) {
  %s = task.buffer "sent" communication : !t
  task.kernel "fill" outs(%s : !t) {} micro
  task.send 0 %s micro : !t
  %g = task.buffer "gradient" communication : !t
  task.receive 1 %g micro {phase = "backward"} : !t
  %e = task.buffer "end" activation : !t
  task.kernel "neg" ins(%g : !t) outs(%e : !t) {} micro {phase = "backward"}
}
task.program @stage1 on #weft.placement<"cpu", [], [1]> micro_batches(12) {
  %x = task.buffer "received" communication : !t
  task.receive 0 %x micro {chunk = 1 : i64} : !t
  %y = task.buffer "made" activation : !t
  task.kernel "neg" ins(%x : !t) outs(%y : !t) {} micro {chunk = 1 : i64}
  %g = task.buffer "back" communication : !t
  task.kernel "neg" ins(%y : !t) outs(%g : !t) {} micro {chunk = 1 : i64, phase = "backward"}
  task.send 1 %g micro {chunk = 1 : i64, phase = "backward"} : !t
}
