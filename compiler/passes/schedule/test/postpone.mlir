// RUN: weft-opt %s --weft-schedule-actors -split-input-file | FileCheck %s

// Of one micro-batch, a gradient that is rounded after it has been reduced is reduced in the step section, with the last of
// the bundles beside the backward, and it is rounded there.
// CHECK-LABEL: task.program @one
// CHECK: task.actor "h.0.backward" compute micro unit "B" {
// CHECK: task.actor "wte.backward" compute micro unit "B" {
// CHECK: task.actor "gradients.all_reduce" communication step {
// CHECK-NEXT: task.collective all_reduce
// CHECK-NEXT: task.collective reduce_scatter
// CHECK: task.actor "wte.backward#2" compute step {
// CHECK-NEXT: task.kernel "cast"
// CHECK: task.actor "optimizer" compute step {
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
!s = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
!n = !task.buffer<tensor<16xbf16, #weft.sbp<S(0)>>>
task.program @one on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %g = task.buffer "g" gradient : !p
  %t = task.buffer "t" activation : !p
  %r = task.buffer "r" communication : !s
  %n = task.buffer "n" gradient : !n
  %b = task.buffer "b" communication : !b
  task.kernel "use" outs(%g : !p) {} micro {scope = "h.0", phase = "backward"}
  task.kernel "use" outs(%t : !p) {} micro {scope = "wte", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %t to %r micro {scope = "wte", phase = "backward"} : !p, !s
  task.kernel "cast" ins(%r : !s) outs(%n : !n) {} micro {scope = "wte", phase = "backward"}
  task.collective all_reduce [0] %g to %b step {scope = "optimizer", phase = "update"} : !p, !b
  task.kernel "use" ins(%b, %n : !b, !n) {} step {scope = "optimizer", phase = "update"}
}

// -----

// What more of the backward is made of stays in it, as a gradient of an activation that ranks sum up.
// CHECK-LABEL: task.program @activation
// CHECK: task.actor "h.0.backward.all_reduce" compute micro unit "B" {
// CHECK: task.actor "wte.backward" compute micro unit "B" {
// CHECK-NEXT: task.kernel "embedding_grad"
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
task.program @activation on #weft.placement<"cpu", [tensor = 2], [0, 1]> micro_batches(1) {
  %d = task.buffer "d" activation : !p
  %x = task.buffer "x" communication : !b
  %g = task.buffer "g" gradient : !b
  task.kernel "use" outs(%d : !p) {} micro {scope = "h.0", phase = "backward"}
  task.collective all_reduce [0] %d to %x micro {scope = "h.0", phase = "backward"} : !p, !b
  task.kernel "embedding_grad" ins(%x : !b) outs(%g : !b) {} micro {scope = "wte", phase = "backward"}
  task.kernel "use" ins(%g : !b) {} step {scope = "optimizer", phase = "update"}
}

// -----

// Each of several micro-batches adds what it has rounded to a sum, so each rounds in its own backward.
// CHECK-LABEL: task.program @two
// CHECK: task.actor "wte.backward.reduce_scatter" compute micro unit "B" {
// CHECK: task.kernel "cast" {{.*}} micro
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!s = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
!n = !task.buffer<tensor<16xbf16, #weft.sbp<S(0)>>>
task.program @two on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(2) {
  %t = task.buffer "t" activation : !p
  %r = task.buffer "r" communication : !s
  %n = task.buffer "n" activation : !n
  %a = task.buffer "a" gradient : !n
  task.kernel "use" outs(%t : !p) {} micro {scope = "wte", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %t to %r micro {scope = "wte", phase = "backward"} : !p, !s
  task.kernel "cast" ins(%r : !s) outs(%n : !n) {} micro {scope = "wte", phase = "backward"}
  task.kernel "accumulate" ins(%n, %a : !n, !n) outs(%a : !n) {} micro {scope = "wte", phase = "backward"}
  task.kernel "use" ins(%a : !n) {} step {scope = "optimizer", phase = "update"}
}
