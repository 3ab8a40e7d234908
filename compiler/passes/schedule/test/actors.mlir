// RUN: weft-opt %s --weft-schedule-actors --weft-schedule-slots -split-input-file | FileCheck %s

// Kernels that follow each other, of one layer and phase, are one actor named after them; of a scope without a number
// the first part counts. What belongs to the forward is one unit, the backward another. Reading inputs happens on the host
// stream. Metrics go to the end.
// CHECK-LABEL: task.program @names
// CHECK-NEXT: %[[X:.*]] = task.buffer "input/x" input : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[Y:.*]] = task.buffer "input/y" input : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "batch" host micro unit "F" {
// CHECK-NEXT: task.kernel "input" outs(%[[X]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {name = "x"} micro {scope = "batch"}
// CHECK-NEXT: task.kernel "input" outs(%[[Y]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {name = "y"} micro {scope = "batch"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "h.0.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "neg" ins(%[[X]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "h.0.attn"}
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "h.0.mlp.c_fc"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "h.1.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "h.1.attn"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "ln_f.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "ln_f.norm"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "graph.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = ""}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "h.0.forward#2" compute micro unit "F" {
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "h.0"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "optimizer" compute micro unit "F" {
// CHECK-NEXT: task.kernel "sgd" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {phase = "update", scope = "optimizer"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "ln_f.backward" compute micro unit "B" {
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {phase = "backward", scope = "ln_f"}
// CHECK-NEXT: }
// CHECK-NEXT: task.metric "a" %[[A]] : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: }
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @names on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "input/x" input : !t
  task.kernel "input" outs(%x : !t) {name = "x"} micro {scope = "batch"}
  %y = task.buffer "input/y" input : !t
  task.kernel "input" outs(%y : !t) {name = "y"} micro {scope = "batch"}
  %a = task.buffer "a" activation : !t
  task.kernel "neg" ins(%x : !t) outs(%a : !t) {} micro {scope = "h.0.attn"}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.0.mlp.c_fc"}
  task.metric "a" %a : !t
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.1.attn"}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "ln_f.norm"}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {phase = "backward", scope = "ln_f"}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = ""}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.0"}
  task.kernel "sgd" ins(%a : !t) outs(%a : !t) {} micro {phase = "update", scope = "optimizer"}
}

// -----
// The micro section comes before the step section, wherever the ops stood; within a section order stays. With several
// micro-batches the next input is read while this one is used: two slots.
// CHECK-LABEL: task.program @sections
// CHECK-NEXT: %[[X:.*]] = task.buffer "input/x" input slots(2) : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[SUM:.*]] = task.buffer "sum" gradient : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "batch" host micro unit "F" {
// CHECK-NEXT: task.kernel "input" outs(%[[X]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {name = "x"} micro {scope = "batch"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "head.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "accumulate" ins(%[[X]], %[[SUM]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>, !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[SUM]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "head"}
// CHECK-NEXT: task.kernel "neg" ins(%[[X]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "head"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "head.forward#2" compute step {
// CHECK-NEXT: task.kernel "neg" ins(%[[SUM]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} step {scope = "head"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "optimizer" compute step {
// CHECK-NEXT: task.kernel "sgd" ins(%[[SUM]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} step {scope = "optimizer"}
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @sections on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %x = task.buffer "input/x" input : !t
  task.kernel "input" outs(%x : !t) {name = "x"} micro {scope = "batch"}
  %sum = task.buffer "sum" gradient : !t
  %a = task.buffer "a" activation : !t
  task.kernel "accumulate" ins(%x, %sum : !t, !t) outs(%sum : !t) {} micro {scope = "head"}
  task.kernel "neg" ins(%sum : !t) outs(%a : !t) {} step {scope = "head"}
  task.kernel "neg" ins(%x : !t) outs(%a : !t) {} micro {scope = "head"}
  task.kernel "sgd" ins(%sum : !t) outs(%a : !t) {} step {scope = "optimizer"}
}

// -----
// A collective and each end of a transfer is an actor of its own, whose name says what it is; the same name again gets a
// number. Transfers have streams of their own.
// CHECK-LABEL: task.program @communication
// CHECK-NEXT: %[[P:.*]] = task.buffer "p" activation : <tensor<4xf32, #weft.sbp<P>>>
// CHECK-NEXT: %[[B:.*]] = task.buffer "b" communication : <tensor<4xf32, #weft.sbp<B>>>
// CHECK-NEXT: task.actor "h.0.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "fill" outs(%[[P]] : !task.buffer<tensor<4xf32, #weft.sbp<P>>>) {} micro {scope = "h.0"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "h.0.forward.all_reduce" compute micro unit "F" {
// CHECK-NEXT: task.collective all_reduce [0] %[[P]] to %[[B]] micro {scope = "h.0"} : <tensor<4xf32, #weft.sbp<P>>>, <tensor<4xf32, #weft.sbp<B>>>
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "h.0.forward#2" compute micro unit "F" {
// CHECK-NEXT: task.kernel "neg" ins(%[[B]] : !task.buffer<tensor<4xf32, #weft.sbp<B>>>) outs(%[[B]] : !task.buffer<tensor<4xf32, #weft.sbp<B>>>) {} micro {scope = "h.0"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "h.0.forward.all_reduce#2" compute micro unit "F" {
// CHECK-NEXT: task.collective all_reduce [0] %[[P]] to %[[B]] micro {scope = "h.0"} : <tensor<4xf32, #weft.sbp<P>>>, <tensor<4xf32, #weft.sbp<B>>>
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "h.1.forward.send" communication lane "send 0" micro unit "F" {
// CHECK-NEXT: task.send 0 %[[B]] micro {scope = "h.1"} : <tensor<4xf32, #weft.sbp<B>>>
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "h.1.backward.receive" communication lane "receive 1" micro unit "B" {
// CHECK-NEXT: task.receive 1 %[[B]] micro {phase = "backward", scope = "h.1"} : <tensor<4xf32, #weft.sbp<B>>>
// CHECK-NEXT: }
// CHECK-NEXT: }
!p = !task.buffer<tensor<4xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<4xf32, #weft.sbp<B>>>
task.program @communication on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %p = task.buffer "p" activation : !p
  %b = task.buffer "b" communication : !b
  task.kernel "fill" outs(%p : !p) {} micro {scope = "h.0"}
  task.collective all_reduce [0] %p to %b micro {scope = "h.0"} : !p, !b
  task.kernel "neg" ins(%b : !b) outs(%b : !b) {} micro {scope = "h.0"}
  task.collective all_reduce [0] %p to %b micro {scope = "h.0"} : !p, !b
  task.send 0 %b micro {scope = "h.1"} : !b
  task.receive 1 %b micro {phase = "backward", scope = "h.1"} : !b
}

// -----
// A layer of the model may be called batch: it does not land on the host stream.
// CHECK-LABEL: task.program @layer_called_batch
// CHECK-NEXT: %[[X:.*]] = task.buffer "input/x" input : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "batch" host micro unit "F" {
// CHECK-NEXT: task.kernel "input" outs(%[[X]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {name = "x"} micro {scope = "batch"}
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "batch#2" compute micro unit "F" {
// CHECK-NEXT: task.kernel "neg" ins(%[[X]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "batch.norm"}
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @layer_called_batch on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "input/x" input : !t
  task.kernel "input" outs(%x : !t) {name = "x"} micro {scope = "batch"}
  %a = task.buffer "a" activation : !t
  task.kernel "neg" ins(%x : !t) outs(%a : !t) {} micro {scope = "batch.norm"}
}

// -----
// Names are counted for each program anew.
// CHECK-LABEL: task.program @stage0
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "h.0.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "h.0"}
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-LABEL: task.program @stage1
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<4xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "h.0.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro {scope = "h.0"}
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @stage0 on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.0"}
}
task.program @stage1 on #weft.placement<"cpu", [], [1]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.0"}
}

// -----
// What is made of parameters comes first, once a step; then the forwards of the chunks, which are counted from 0 within the program,
// then from the last chunk to the first their backwards; what is recomputed belongs to the backward, and the part of one for
// parameters alone is a unit of its own.
// CHECK-LABEL: task.program @units
// CHECK: task.actor "h.0.forward" compute begin {
// CHECK: task.actor "h.0.forward#2" compute micro unit "F" chunk 1 {
// CHECK: task.actor "h.5.forward" compute micro unit "F.1" chunk 5 {
// CHECK: task.actor "h.5.backward" compute micro unit "B.1" chunk 5 {
// CHECK: task.actor "h.0.recompute" compute micro unit "B" chunk 1 {
// CHECK: task.actor "h.0.backward" compute micro unit "B" chunk 1 {
// CHECK: task.actor "h.0.weight" compute micro unit "W" chunk 1 {
// CHECK: task.actor "optimizer" compute step {
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @units on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  task.kernel "fill" outs(%a : !t) {} micro {scope = "h.0", chunk = 1 : i64}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.0", chunk = 1 : i64, phase = "recompute"}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.0", chunk = 1 : i64, phase = "backward"}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.0", chunk = 1 : i64, phase = "weight"}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.5", chunk = 5 : i64}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} micro {scope = "h.5", chunk = 5 : i64, phase = "backward"}
  task.kernel "neg" ins(%a : !t) outs(%a : !t) {} step {scope = "optimizer", phase = "update"}
  task.kernel "fill" outs(%a : !t) {} begin {scope = "h.0"}
}
