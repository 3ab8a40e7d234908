// RUN: weft-opt %s --weft-schedule-actors -split-input-file | FileCheck %s

// What is done after the micro-batches follows the reductions beside it: what waits for the first bundle, for the second,
// and then for the loss, whose reduction comes behind them; in the program the loss comes first.
// CHECK-LABEL: task.program @completion
// CHECK: task.actor "gradients.all_reduce" communication step {
// CHECK-NEXT: task.collective all_reduce [0] %{{.*}} to %[[LAST:[a-z0-9]*]] step
// CHECK: task.actor "optimizer" compute step {
// CHECK-NEXT: task.kernel "fill"
// CHECK: task.actor "optimizer#2" compute step {
// CHECK-NEXT: task.kernel "square_sum" ins(%[[LAST]] :
// CHECK: }
// CHECK: task.actor "optimizer#3" compute step {
// CHECK-NEXT: task.kernel "square_sum"
// CHECK: task.actor "loss.forward#2" compute step {
// CHECK: task.actor "optimizer#4" compute step {
// CHECK-NEXT: task.kernel "clip_scale"
!p = !task.buffer<tensor<300000xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<300000xf32, #weft.sbp<B>>>
!q = !task.buffer<tensor<f32, #weft.sbp<P>>>
!s = !task.buffer<tensor<f32, #weft.sbp<B>>>
task.program @completion on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %l = task.buffer "l" activation : !q
  %g1 = task.buffer "g1" gradient : !p
  %g0 = task.buffer "g0" gradient : !p
  %rl = task.buffer "rl" activation : !s
  %r1 = task.buffer "r1" gradient : !b
  %r0 = task.buffer "r0" gradient : !b
  %n0 = task.buffer "n0" activation : !s
  %n1 = task.buffer "n1" activation : !s
  %rate = task.buffer "rate" activation : !s
  %y = task.buffer "y" activation : !s
  task.kernel "fill" outs(%l : !q) {} micro {scope = "loss"}
  task.kernel "fill" outs(%g1 : !p) {} micro {scope = "h.1", phase = "backward"}
  task.kernel "fill" outs(%g0 : !p) {} micro {scope = "h.0", phase = "backward"}
  task.collective all_reduce [0] %l to %rl step {scope = "loss"} : !q, !s
  task.kernel "output" ins(%rl : !s) {name = "loss"} step {scope = "loss"}
  task.collective all_reduce [0] %g0 to %r0 step {scope = "optimizer", phase = "update"} : !p, !b
  task.kernel "square_sum" ins(%r0 : !b) outs(%n0 : !s) {} step {scope = "optimizer", phase = "update"}
  task.collective all_reduce [0] %g1 to %r1 step {scope = "optimizer", phase = "update"} : !p, !b
  task.kernel "square_sum" ins(%r1 : !b) outs(%n1 : !s) {} step {scope = "optimizer", phase = "update"}
  task.kernel "fill" outs(%rate : !s) {} step {scope = "optimizer", phase = "update"}
  task.kernel "clip_scale" ins(%n0, %n1, %rl : !s, !s, !s) outs(%y : !s) {} step {scope = "optimizer", phase = "update"}
  task.kernel "output" ins(%y, %rate : !s, !s) {name = "y"} step {scope = "optimizer", phase = "update"}
}

// -----
// What another stage sends comes last, though it waits for no reduction: that stage may wait for this one before.
// CHECK-LABEL: task.program @stages
// CHECK: task.actor "optimizer" compute step {
// CHECK-NEXT: task.kernel "square_sum"
// CHECK: task.actor "optimizer.receive"
// CHECK: task.actor "optimizer#2" compute step {
// CHECK-NEXT: task.kernel "output"
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
task.program @stages on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %g = task.buffer "g" gradient : !p
  %r = task.buffer "r" gradient : !b
  %n = task.buffer "n" activation : !b
  %other = task.buffer "other" communication : !b
  task.kernel "fill" outs(%g : !p) {} micro {scope = "h.0", phase = "backward"}
  task.receive 0 %other step {scope = "optimizer", phase = "update"} : !b
  task.kernel "output" ins(%other : !b) {name = "other"} step {scope = "optimizer", phase = "update"}
  task.collective all_reduce [0] %g to %r step {scope = "optimizer", phase = "update"} : !p, !b
  task.kernel "square_sum" ins(%r : !b) outs(%n : !b) {} step {scope = "optimizer", phase = "update"}
}

// -----
// Gathers of what ranks have updated shares of are one operation, as far as none needs another and their bytes allow:
// `c` is made of the first one, and `e` is too large. What is made of both is one actor.
// CHECK-LABEL: task.program @gathers
// CHECK: task.actor "optimizer.all_gather" communication step {
// CHECK-NEXT: task.collective all_gather [0] dim 0 %{{.*}} to %[[A:[a-z0-9]*]] step
// CHECK-NEXT: task.collective all_gather [0] dim 0 %{{.*}} to %[[B:[a-z0-9]*]] step
// CHECK-NEXT: {{^ *}$}}
// CHECK: task.actor "optimizer#3" compute step {
// CHECK-NEXT: task.kernel "copy" ins(%[[A]] :
// CHECK-NEXT: task.kernel "output" ins(%[[B]] :
// CHECK-NEXT: {{^ *}$}}
// CHECK: task.actor "optimizer.all_gather#2" communication step {
// CHECK-NEXT: task.collective all_gather
// CHECK-NEXT: {{^ *}$}}
// CHECK: task.actor "optimizer.all_gather#3" communication step {
// CHECK-NEXT: task.collective all_gather
// CHECK-NEXT: {{^ *}$}}
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!s = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
!ls = !task.buffer<tensor<7000000xf32, #weft.sbp<S(0)>>>
!lb = !task.buffer<tensor<7000000xf32, #weft.sbp<B>>>
task.program @gathers on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %g = task.buffer "g" gradient : !p
  %r = task.buffer "r" gradient : !s
  %x = task.buffer "x" activation : !s
  %y = task.buffer "y" activation : !s
  %z = task.buffer "z" activation : !s
  %v = task.buffer "v" activation : !ls
  %a = task.buffer "a" activation : !b
  %b = task.buffer "b" activation : !b
  %c = task.buffer "c" activation : !b
  %e = task.buffer "e" activation : !lb
  task.kernel "fill" outs(%g : !p) {} micro {scope = "h.0", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %g to %r step {scope = "optimizer", phase = "update"} : !p, !s
  task.kernel "copy" ins(%r : !s) outs(%x : !s) {} step {scope = "optimizer", phase = "update"}
  task.collective all_gather [0] dim 0 %x to %a step {scope = "optimizer", phase = "update"} : !s, !b
  task.kernel "copy" ins(%r : !s) outs(%y : !s) {} step {scope = "optimizer", phase = "update"}
  task.kernel "copy" ins(%a : !b) outs(%z : !s) {} step {scope = "optimizer", phase = "update"}
  task.collective all_gather [0] dim 0 %y to %b step {scope = "optimizer", phase = "update"} : !s, !b
  task.kernel "output" ins(%b : !b) {name = "b"} step {scope = "optimizer", phase = "update"}
  task.collective all_gather [0] dim 0 %z to %c step {scope = "optimizer", phase = "update"} : !s, !b
  task.kernel "output" ins(%c : !b) {name = "c"} step {scope = "optimizer", phase = "update"}
  task.kernel "fill" outs(%v : !ls) {} step {scope = "optimizer", phase = "update"}
  task.collective all_gather [0] dim 0 %v to %e step {scope = "optimizer", phase = "update"} : !ls, !lb
  task.kernel "output" ins(%e : !lb) {name = "e"} step {scope = "optimizer", phase = "update"}
}
