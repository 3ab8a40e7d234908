// RUN: weft-opt %s --weft-memory-offsets -split-input-file | FileCheck %s

// 1F1B's last stage alternates F and B, so that what F keeps for B needs no other place than one within a unit: k and t do
// not meet, nor g, which B makes when k has been read.
// CHECK-LABEL: task.program @alternating
// CHECK-SAME: arena(128, 128)
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @alternating on #weft.placement<"cpu", [], [0]> micro_batches(2) units ["F0", "B0", "F1", "B1"] {
  %t = task.buffer "t" activation : !t
  %k = task.buffer "k" activation : !t
  %g = task.buffer "g" activation : !t
  task.actor "h.forward" compute micro unit "F" {
    task.kernel "fill" outs(%t : !t) {} micro
    task.kernel "k" ins(%t : !t) outs(%k : !t) {} micro
  }
  task.actor "h.backward" compute micro unit "B" {
    task.kernel "k" ins(%k : !t) outs(%g : !t) {} micro
    task.kernel "output" ins(%g : !t) {name = "y"} micro
  }
}

// -----
// With all forwards first, each micro-batch's k is kept: two of them and t, whose place g may have.
// CHECK-LABEL: task.program @gpipe
// CHECK-SAME: arena(192, 192)
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @gpipe on #weft.placement<"cpu", [], [0]> micro_batches(2) units ["F0", "F1", "B0", "B1"] {
  %t = task.buffer "t" activation : !t
  %k = task.buffer "k" activation slots(2) : !t
  %g = task.buffer "g" activation : !t
  task.actor "h.forward" compute micro unit "F" {
    task.kernel "fill" outs(%t : !t) {} micro
    task.kernel "k" ins(%t : !t) outs(%k : !t) {} micro
  }
  task.actor "h.backward" compute micro unit "B" {
    task.kernel "k" ins(%k : !t) outs(%g : !t) {} micro
    task.kernel "output" ins(%g : !t) {name = "y"} micro
  }
}

// -----
// B makes two of g: beside both k when F has ended, but one more place is enough if what the other micro-batch does not
// need is used, so each has places of its own.
// CHECK-LABEL: task.program @apart
// CHECK-SAME: arena(192, 192)
// CHECK: task.buffer "g" activation slots(2) at {{[0-9]+}} each at [{{[0-9]+}}, {{[0-9]+}}]
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @apart on #weft.placement<"cpu", [], [0]> micro_batches(2) units ["F0", "F1", "B0", "B1"] {
  %k = task.buffer "k" activation slots(2) : !t
  %g = task.buffer "g" activation : !t
  %h = task.buffer "h" activation : !t
  task.actor "h.forward" compute micro unit "F" {
    task.kernel "fill" outs(%k : !t) {} micro
  }
  task.actor "h.backward" compute micro unit "B" {
    task.kernel "k" ins(%k : !t) outs(%g : !t) {} micro
    task.kernel "k" ins(%g : !t) outs(%h : !t) {} micro
    task.kernel "output" ins(%g, %h : !t, !t) {name = "y"} micro
  }
}

// -----
// What is sent may still be on its way in all that follows, and what is received come as soon as its slot is free: nothing
// takes their bytes. a and b do not meet.
// CHECK-LABEL: task.program @transfers
// CHECK-SAME: arena(192, 192)
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @transfers on #weft.placement<"cpu", [], [0]> micro_batches(2) units ["F0", "B0", "F1", "B1"] {
  %r = task.buffer "r" activation : !t
  %a = task.buffer "a" activation : !t
  %s = task.buffer "s" activation : !t
  %b = task.buffer "b" activation : !t
  task.actor "receive" communication lane "receive 0" micro unit "F" {
    task.receive 0 %r micro : !t
  }
  task.actor "h.forward" compute micro unit "F" {
    task.kernel "k" ins(%r : !t) outs(%a : !t) {} micro
    task.kernel "k" ins(%a : !t) outs(%s : !t) {} micro
  }
  task.actor "send" communication lane "send 1" micro unit "F" {
    task.send 1 %s micro : !t
  }
  task.actor "h.backward" compute micro unit "B" {
    task.kernel "fill" outs(%b : !t) {} micro
    task.kernel "output" ins(%b : !t) {name = "y"} micro
  }
}

// -----
// A reduction beside the backward: its bundle starts when sum is complete, and its result may not take what the rest of
// the backward still uses, but that of the forward.
// CHECK-LABEL: task.program @beside
// CHECK-SAME: arena(192, 192)
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
!l = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
task.program @beside on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) units ["F0", "B0"] {
  %a = task.buffer "a" activation : !l
  %sum = task.buffer "sum" gradient : !p
  %c = task.buffer "c" activation : !l
  %all = task.buffer "all" gradient : !b
  task.actor "h.forward" compute micro unit "F" {
    task.kernel "fill" outs(%a : !l) {} micro
    task.kernel "output" ins(%a : !l) {name = "a"} micro
  }
  task.actor "h.1.backward" compute micro unit "B" {
    task.kernel "fill" outs(%sum : !p) {} micro
  }
  task.actor "h.0.backward" compute micro unit "B" {
    task.kernel "fill" outs(%c : !l) {} micro
    task.kernel "output" ins(%c : !l) {name = "c"} micro
  }
  task.actor "gradients" communication step {
    task.collective all_reduce [0] %sum to %all step : !p, !b
  }
  task.actor "optimizer" compute step {
    task.kernel "output" ins(%all : !b) {name = "all"} step
  }
}

// -----
// What stage 0 receives is made of what it has sent, which is gone by then, so that one place is enough for both.
// CHECK-LABEL: task.program @first
// CHECK-SAME: arena(64, 64)
// CHECK-LABEL: task.program @second
// CHECK-SAME: arena(128, 128)
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @first on #weft.placement<"cpu", [], [0]> micro_batches(1) units ["F0", "B0"] {
  %s = task.buffer "s" activation : !t
  %r = task.buffer "r" activation : !t
  task.actor "h.forward" compute micro unit "F" {
    task.kernel "fill" outs(%s : !t) {} micro
  }
  task.actor "send" communication lane "send 0" micro unit "F" {
    task.send 0 %s micro : !t
  }
  task.actor "receive" communication lane "receive 1" micro unit "B" {
    task.receive 1 %r micro : !t
  }
  task.actor "h.backward" compute micro unit "B" {
    task.kernel "output" ins(%r : !t) {name = "y"} micro
  }
}
task.program @second on #weft.placement<"cpu", [], [1]> micro_batches(1) units ["F0"] {
  %x = task.buffer "x" activation : !t
  %y = task.buffer "y" activation : !t
  task.actor "receive" communication lane "receive 0" micro unit "F" {
    task.receive 0 %x micro : !t
  }
  task.actor "h.forward" compute micro unit "F" {
    task.kernel "k" ins(%x : !t) outs(%y : !t) {} micro
  }
  task.actor "send" communication lane "send 1" micro unit "F" {
    task.send 1 %y micro : !t
  }
}
