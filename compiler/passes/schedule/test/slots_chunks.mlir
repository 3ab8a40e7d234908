// RUN: weft-opt %s --weft-schedule-units="schedule=interleaved chunks=2" --weft-schedule-actors --weft-schedule-slots | FileCheck %s --check-prefixes=CHECK,LOOP
// RUN: weft-opt %s --weft-schedule-units="file=%S/files/chunks.txt chunks=2" --weft-schedule-actors --weft-schedule-slots | FileCheck %s --check-prefixes=CHECK,FILE

// Chunks of a stage are counted from its first: model chunk 2 on stage 0 is its second. Each chunk's stash has the slots that the
// order keeps of this chunk, here 3 and 2 or 3 on stage 0. What passes from one chunk to the other on one stage is kept
// between their forwards.
// CHECK: task.program @stage0
// LOOP: "stash0" activation slots(3) :
// FILE: "stash0" activation slots(3) :
// LOOP: "between" activation slots(2) :
// FILE: "between" activation slots(2) :
// LOOP: "stash1" activation slots(2) :
// FILE: "stash1" activation slots(3) :
// CHECK: task.actor "h.0.forward" compute micro unit "F" {
// CHECK: task.actor "h.2.forward" compute micro unit "F.1" chunk 2 {
// CHECK: task.actor "h.2.backward" compute micro unit "B.1" chunk 2 {
// CHECK: task.actor "h.0.backward" compute micro unit "B" {
// CHECK: task.program @stage1
// CHECK: "stash1" activation slots(3) :
// CHECK: "stash3" activation :
// CHECK: task.actor "h.1.forward" compute micro unit "F" chunk 1 {
// CHECK: task.actor "h.3.forward" compute micro unit "F.1" chunk 3 {
// CHECK: task.actor "h.3.backward" compute micro unit "B.1" chunk 3 {
// CHECK: task.actor "h.1.backward" compute micro unit "B" chunk 1 {
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @stage0 on #weft.placement<"cpu", [], [0]> micro_batches(3) {
  %s0 = task.buffer "stash0" activation : !t
  task.kernel "fill" outs(%s0 : !t) {} micro {scope = "h.0"}
  %b = task.buffer "between" activation : !t
  task.kernel "fill" outs(%b : !t) {} micro {scope = "h.0"}
  %s1 = task.buffer "stash1" activation : !t
  task.kernel "neg" ins(%b : !t) outs(%s1 : !t) {} micro {scope = "h.2", chunk = 2 : i64}
  %g1 = task.buffer "g1" activation : !t
  task.kernel "neg" ins(%s1 : !t) outs(%g1 : !t) {} micro {scope = "h.2", chunk = 2 : i64, phase = "backward"}
  %g0 = task.buffer "g0" activation : !t
  task.kernel "neg" ins(%s0 : !t) outs(%g0 : !t) {} micro {scope = "h.0", phase = "backward"}
}
task.program @stage1 on #weft.placement<"cpu", [], [1]> micro_batches(3) {
  %s0 = task.buffer "stash1" activation : !t
  task.kernel "fill" outs(%s0 : !t) {} micro {scope = "h.1", chunk = 1 : i64}
  %s1 = task.buffer "stash3" activation : !t
  task.kernel "fill" outs(%s1 : !t) {} micro {scope = "h.3", chunk = 3 : i64}
  %g1 = task.buffer "g3" activation : !t
  task.kernel "neg" ins(%s1 : !t) outs(%g1 : !t) {} micro {scope = "h.3", chunk = 3 : i64, phase = "backward"}
  %g0 = task.buffer "g1" activation : !t
  task.kernel "neg" ins(%s0 : !t) outs(%g0 : !t) {} micro {scope = "h.1", chunk = 1 : i64, phase = "backward"}
}
