// RUN: sed 's/"weight"}/"backward"}/' %s | weft-opt --weft-schedule-units=schedule=1f1b --weft-schedule-actors --weft-schedule-slots | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: sed 's/"weight"}/"backward"}/' %s | weft-opt --weft-schedule-units=schedule=gpipe --weft-schedule-actors --weft-schedule-slots | FileCheck %s --check-prefixes=CHECK,GPIPE
// RUN: weft-opt %s --weft-schedule-units=schedule=zero-bubble-h1 --weft-schedule-actors --weft-schedule-slots | FileCheck %s --check-prefixes=CHECK,H1

// How many micro-batches of a buffer are kept, with six of them on four stages. What the forward writes and the backward reads
// is the stash: p - i under 1F1B on stage i, all of them under GPIPE. What one unit alone touches has one slot. What another stream
// writes or reads has one more than its unit keeps. What the weight part of a backward reads is kept until then: p on each
// stage in H1. A sum over the micro-batches, and what the begin section made, has one.
// CHECK: task.program @stage0
// CHECK: "received" communication slots(2) :
// CHECK: "cast" working :
// ONE: "stash" activation slots(4) :
// GPIPE: "stash" activation slots(6) :
// H1: "stash" activation slots(4) :
// CHECK: "local" activation :
// CHECK: "sent" communication slots(2) :
// ONE: "gradient" activation :
// GPIPE: "gradient" activation :
// H1: "gradient" activation :
// CHECK: "of_weight" activation :
// CHECK: "sum" gradient :
// CHECK: task.program @stage1
// CHECK: "received" communication slots(2) :
// CHECK: "cast" working :
// ONE: "stash" activation slots(3) :
// GPIPE: "stash" activation slots(6) :
// H1: "stash" activation slots(4) :
// CHECK: "local" activation :
// CHECK: "sent" communication slots(2) :
// ONE: "gradient" activation :
// GPIPE: "gradient" activation :
// H1: "gradient" activation slots(2) :
// CHECK: "of_weight" activation :
// CHECK: "sum" gradient :
// CHECK: task.program @stage2
// CHECK: "received" communication slots(2) :
// CHECK: "cast" working :
// ONE: "stash" activation slots(2) :
// GPIPE: "stash" activation slots(6) :
// H1: "stash" activation slots(4) :
// CHECK: "local" activation :
// CHECK: "sent" communication slots(2) :
// ONE: "gradient" activation :
// GPIPE: "gradient" activation :
// H1: "gradient" activation slots(3) :
// CHECK: "of_weight" activation :
// CHECK: "sum" gradient :
// CHECK: task.program @stage3
// CHECK: "received" communication slots(2) :
// CHECK: "cast" working :
// ONE: "stash" activation :
// GPIPE: "stash" activation slots(6) :
// H1: "stash" activation slots(4) :
// CHECK: "local" activation :
// CHECK: "sent" communication slots(2) :
// ONE: "gradient" activation :
// GPIPE: "gradient" activation :
// H1: "gradient" activation slots(4) :
// CHECK: "of_weight" activation :
// CHECK: "sum" gradient :
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @stage0 on #weft.placement<"cpu", [], [0]> micro_batches(6) {
  %x = task.buffer "received" communication : !t
  task.receive 0 %x micro : !t
  %w = task.buffer "weight" parameter init "fill" {value = 0.0} : !t
  %c = task.buffer "cast" working : !t
  task.kernel "neg" ins(%w : !t) outs(%c : !t) {} begin
  %s = task.buffer "stash" activation : !t
  task.kernel "mul" ins(%x, %c : !t, !t) outs(%s : !t) {} micro
  %l = task.buffer "local" activation : !t
  task.kernel "neg" ins(%s : !t) outs(%l : !t) {} micro
  %o = task.buffer "sent" communication : !t
  task.kernel "neg" ins(%l : !t) outs(%o : !t) {} micro
  task.send 1 %o micro : !t
  %g = task.buffer "gradient" activation : !t
  task.kernel "mul" ins(%s, %c : !t, !t) outs(%g : !t) {} micro {phase = "backward"}
  %v = task.alias %s : !t as !t
  %d = task.buffer "of_weight" activation : !t
  task.kernel "mul" ins(%v, %g : !t, !t) outs(%d : !t) {} micro {phase = "weight"}
  %a = task.buffer "sum" gradient : !t
  task.kernel "accumulate" ins(%d, %a : !t, !t) outs(%a : !t) {} micro {phase = "weight"}
  task.kernel "sgd" ins(%w, %a : !t, !t) outs(%w : !t) {} step {phase = "update"}
}
task.program @stage1 on #weft.placement<"cpu", [], [1]> micro_batches(6) {
  %x = task.buffer "received" communication : !t
  task.receive 1 %x micro : !t
  %w = task.buffer "weight" parameter init "fill" {value = 0.0} : !t
  %c = task.buffer "cast" working : !t
  task.kernel "neg" ins(%w : !t) outs(%c : !t) {} begin
  %s = task.buffer "stash" activation : !t
  task.kernel "mul" ins(%x, %c : !t, !t) outs(%s : !t) {} micro
  %l = task.buffer "local" activation : !t
  task.kernel "neg" ins(%s : !t) outs(%l : !t) {} micro
  %o = task.buffer "sent" communication : !t
  task.kernel "neg" ins(%l : !t) outs(%o : !t) {} micro
  task.send 2 %o micro : !t
  %g = task.buffer "gradient" activation : !t
  task.kernel "mul" ins(%s, %c : !t, !t) outs(%g : !t) {} micro {phase = "backward"}
  %v = task.alias %s : !t as !t
  %d = task.buffer "of_weight" activation : !t
  task.kernel "mul" ins(%v, %g : !t, !t) outs(%d : !t) {} micro {phase = "weight"}
  %a = task.buffer "sum" gradient : !t
  task.kernel "accumulate" ins(%d, %a : !t, !t) outs(%a : !t) {} micro {phase = "weight"}
  task.kernel "sgd" ins(%w, %a : !t, !t) outs(%w : !t) {} step {phase = "update"}
}
task.program @stage2 on #weft.placement<"cpu", [], [2]> micro_batches(6) {
  %x = task.buffer "received" communication : !t
  task.receive 2 %x micro : !t
  %w = task.buffer "weight" parameter init "fill" {value = 0.0} : !t
  %c = task.buffer "cast" working : !t
  task.kernel "neg" ins(%w : !t) outs(%c : !t) {} begin
  %s = task.buffer "stash" activation : !t
  task.kernel "mul" ins(%x, %c : !t, !t) outs(%s : !t) {} micro
  %l = task.buffer "local" activation : !t
  task.kernel "neg" ins(%s : !t) outs(%l : !t) {} micro
  %o = task.buffer "sent" communication : !t
  task.kernel "neg" ins(%l : !t) outs(%o : !t) {} micro
  task.send 3 %o micro : !t
  %g = task.buffer "gradient" activation : !t
  task.kernel "mul" ins(%s, %c : !t, !t) outs(%g : !t) {} micro {phase = "backward"}
  %v = task.alias %s : !t as !t
  %d = task.buffer "of_weight" activation : !t
  task.kernel "mul" ins(%v, %g : !t, !t) outs(%d : !t) {} micro {phase = "weight"}
  %a = task.buffer "sum" gradient : !t
  task.kernel "accumulate" ins(%d, %a : !t, !t) outs(%a : !t) {} micro {phase = "weight"}
  task.kernel "sgd" ins(%w, %a : !t, !t) outs(%w : !t) {} step {phase = "update"}
}
task.program @stage3 on #weft.placement<"cpu", [], [3]> micro_batches(6) {
  %x = task.buffer "received" communication : !t
  task.receive 3 %x micro : !t
  %w = task.buffer "weight" parameter init "fill" {value = 0.0} : !t
  %c = task.buffer "cast" working : !t
  task.kernel "neg" ins(%w : !t) outs(%c : !t) {} begin
  %s = task.buffer "stash" activation : !t
  task.kernel "mul" ins(%x, %c : !t, !t) outs(%s : !t) {} micro
  %l = task.buffer "local" activation : !t
  task.kernel "neg" ins(%s : !t) outs(%l : !t) {} micro
  %o = task.buffer "sent" communication : !t
  task.kernel "neg" ins(%l : !t) outs(%o : !t) {} micro
  task.send 4 %o micro : !t
  %g = task.buffer "gradient" activation : !t
  task.kernel "mul" ins(%s, %c : !t, !t) outs(%g : !t) {} micro {phase = "backward"}
  %v = task.alias %s : !t as !t
  %d = task.buffer "of_weight" activation : !t
  task.kernel "mul" ins(%v, %g : !t, !t) outs(%d : !t) {} micro {phase = "weight"}
  %a = task.buffer "sum" gradient : !t
  task.kernel "accumulate" ins(%d, %a : !t, !t) outs(%a : !t) {} micro {phase = "weight"}
  task.kernel "sgd" ins(%w, %a : !t, !t) outs(%w : !t) {} step {phase = "update"}
}
