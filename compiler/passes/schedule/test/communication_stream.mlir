// RUN: weft-opt %s --weft-schedule-actors -split-input-file | FileCheck %s

// Stage 3 of ZeRO: the parameters of a layer are gathered by one operation, when the layer before begins, that of what
// lies in front of the layers at once; whoever reads them again right behind does not gather them again. Gradients are
// reduced in bundles. What sums them stands where the next bundle is complete, or at the end.
// CHECK-LABEL: task.program @shares
// CHECK: %[[KEPT:.*]] = task.buffer "w1.forward" communication
// CHECK-NOT: task.buffer "w1.backward"
// CHECK: task.actor "wte.forward.all_gather" communication micro unit "F" {
// CHECK-NEXT: task.collective all_gather [0] dim 0
// CHECK-NEXT: {{^ +}$}}
// CHECK: task.actor "h.0.forward.all_gather" communication micro unit "F" {
// CHECK-NEXT: task.collective all_gather [0] dim 0
// CHECK-NEXT: task.collective all_gather [0] dim 0
// CHECK-NEXT: {{^ +}$}}
// CHECK: task.actor "wte.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "use" {{.*}} outs(%[[X0:[^ ]*]] :
// CHECK: task.actor "h.1.forward.all_gather" communication micro unit "F" after(%[[X0]] :
// CHECK: task.actor "h.0.forward" compute micro unit "F" {
// CHECK: task.actor "h.1.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "use" {{.*}} outs(%[[X2:[^ ]*]] :
// CHECK: task.actor "h.0.backward.all_gather" communication micro unit "B" after(%[[X2]] :
// CHECK: task.actor "h.1.backward" compute micro unit "B" {
// CHECK-NEXT: task.kernel "use" ins({{[^,]*}}, %[[KEPT]] :
// CHECK-NEXT: task.kernel "fill"
// CHECK: task.actor "h.0.backward" compute micro unit "B" {
// CHECK: task.actor "gradients.reduce_scatter" communication micro unit "B" {
// CHECK-NEXT: task.collective reduce_scatter [0] dim 0
// CHECK-NEXT: task.collective reduce_scatter [0] dim 0
// CHECK-NEXT: {{^ +}$}}
// CHECK: task.actor "h.1.backward#2" compute micro unit "B" {
// CHECK-NEXT: task.kernel "accumulate"
// CHECK: task.actor "h.0.backward#2" compute micro unit "B" {
// CHECK-NEXT: task.kernel "accumulate"
!w = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
task.program @shares on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(2) {
  %e = task.buffer "e" parameter : !w
  %w0 = task.buffer "w0" parameter : !w
  %v0 = task.buffer "v0" parameter : !w
  %w1 = task.buffer "w1" parameter : !w
  %ef = task.buffer "e.forward" communication : !b
  %w0f = task.buffer "w0.forward" communication : !b
  %v0f = task.buffer "v0.forward" communication : !b
  %w1f = task.buffer "w1.forward" communication : !b
  %w1b = task.buffer "w1.backward" communication : !b
  %w0b = task.buffer "w0.backward" communication : !b
  %x0 = task.buffer "x0" activation : !b
  %x1 = task.buffer "x1" activation : !b
  %x2 = task.buffer "x2" activation : !b
  %d1 = task.buffer "d1" activation : !b
  %d0 = task.buffer "d0" activation : !b
  %g1 = task.buffer "g1" activation : !p
  %g0 = task.buffer "g0" activation : !p
  %r1 = task.buffer "r1" communication : !w
  %r0 = task.buffer "r0" communication : !w
  %s1 = task.buffer "s1" gradient : !w
  %s0 = task.buffer "s0" gradient : !w
  task.collective all_gather [0] dim 0 %e to %ef micro {scope = "wte", on_use} : !w, !b
  task.kernel "use" ins(%ef : !b) outs(%x0 : !b) {} micro {scope = "wte"}
  task.collective all_gather [0] dim 0 %w0 to %w0f micro {scope = "h.0.a", on_use} : !w, !b
  task.kernel "use" ins(%x0, %w0f : !b, !b) outs(%x1 : !b) {} micro {scope = "h.0.a"}
  task.collective all_gather [0] dim 0 %v0 to %v0f micro {scope = "h.0.b", on_use} : !w, !b
  task.kernel "use" ins(%x1, %v0f : !b, !b) outs(%x1 : !b) {} micro {scope = "h.0.b"}
  task.collective all_gather [0] dim 0 %w1 to %w1f micro {scope = "h.1.a", on_use} : !w, !b
  task.kernel "use" ins(%x1, %w1f : !b, !b) outs(%x2 : !b) {} micro {scope = "h.1.a"}
  task.collective all_gather [0] dim 0 %w1 to %w1b micro {scope = "h.1.a", phase = "backward", on_use} : !w, !b
  task.kernel "use" ins(%x2, %w1b : !b, !b) outs(%d1 : !b) {} micro {scope = "h.1.a", phase = "backward"}
  task.kernel "fill" ins(%d1 : !b) outs(%g1 : !p) {} micro {scope = "h.1.a", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %g1 to %r1 micro {scope = "h.1.a", phase = "backward"} : !p, !w
  task.kernel "accumulate" ins(%r1, %s1 : !w, !w) outs(%s1 : !w) {} micro {scope = "h.1.a", phase = "backward"}
  task.collective all_gather [0] dim 0 %w0 to %w0b micro {scope = "h.0.a", phase = "backward", on_use} : !w, !b
  task.kernel "use" ins(%d1, %w0b : !b, !b) outs(%d0 : !b) {} micro {scope = "h.0.a", phase = "backward"}
  task.kernel "fill" ins(%d0 : !b) outs(%g0 : !p) {} micro {scope = "h.0.a", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %g0 to %r0 micro {scope = "h.0.a", phase = "backward"} : !p, !w
  task.kernel "accumulate" ins(%r0, %s0 : !w, !w) outs(%s0 : !w) {} micro {scope = "h.0.a", phase = "backward"}
  task.kernel "output" ins(%s0, %s1 : !w, !w) {name = "y"} step {scope = "optimizer", phase = "update"}
}

// -----

// Stages 1 and 2: what is gathered once a step is so in the order in which it is read, behind all casts. Without a sum
// over micro-batches the computation waits for a bundle where the one after it is complete, and goes on in a new actor.
// CHECK-LABEL: task.program @copies
// CHECK: task.actor "h.0.forward" compute begin {
// CHECK-NEXT: task.kernel "cast"
// CHECK-NEXT: task.kernel "cast"
// CHECK: task.actor "parameters.all_gather" communication begin {
// CHECK-NEXT: task.collective all_gather [0] dim 0 %{{.*}} to %[[FIRST:.*]] begin
// CHECK-NEXT: task.collective all_gather [0] dim 0 %{{.*}} to %[[SECOND:.*]] begin
// CHECK: task.kernel "use" ins(%[[FIRST]] :
// CHECK: task.kernel "use" ins(%[[SECOND]] :
// CHECK: task.actor "gradients.reduce_scatter" communication micro unit "B" {
// CHECK-NEXT: task.collective reduce_scatter [0] dim 0 %{{.*}} to %[[R1:[^ ]*]] micro
// CHECK: task.actor "h.0.backward" compute micro unit "B" {
// CHECK: task.actor "gradients.reduce_scatter#2" communication micro unit "B" {
// CHECK: task.actor "wte.backward" compute micro unit "B" after(%[[R1]] :
!w = !task.buffer<tensor<1048576xf32, #weft.sbp<S(0)>>>
!n = !task.buffer<tensor<16xbf16, #weft.sbp<S(0)>>>
!m = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
!b = !task.buffer<tensor<16xbf16, #weft.sbp<B>>>
!p = !task.buffer<tensor<1048576xf32, #weft.sbp<P>>>
task.program @copies on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %w0 = task.buffer "w0" parameter : !m
  %w1 = task.buffer "w1" parameter : !m
  %n0 = task.buffer "n0" working : !n
  %n1 = task.buffer "n1" working : !n
  %c0 = task.buffer "c0" working : !b
  %c1 = task.buffer "c1" working : !b
  %x = task.buffer "x" activation : !b
  %g1 = task.buffer "g1" activation : !p
  %g0 = task.buffer "g0" activation : !p
  %d = task.buffer "d" activation : !b
  %r1 = task.buffer "r1" gradient : !w
  %r0 = task.buffer "r0" gradient : !w
  task.kernel "cast" ins(%w0 : !m) outs(%n0 : !n) {} begin {scope = "h.0"}
  task.collective all_gather [0] dim 0 %n0 to %c0 begin {scope = "h.0"} : !n, !b
  task.kernel "cast" ins(%w1 : !m) outs(%n1 : !n) {} begin {scope = "h.0"}
  task.collective all_gather [0] dim 0 %n1 to %c1 begin {scope = "h.1"} : !n, !b
  task.kernel "use" ins(%c1 : !b) outs(%x : !b) {} micro {scope = "h.0"}
  task.kernel "use" ins(%c0 : !b) outs(%x : !b) {} micro {scope = "h.0"}
  task.kernel "fill" ins(%x : !b) outs(%g1 : !p) {} micro {scope = "h.1", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %g1 to %r1 micro {scope = "h.1", phase = "backward"} : !p, !w
  task.kernel "fill" ins(%x : !b) outs(%g0 : !p) {} micro {scope = "h.0", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %g0 to %r0 micro {scope = "h.0", phase = "backward"} : !p, !w
  task.kernel "fill" ins(%x : !b) outs(%d : !b) {} micro {scope = "wte", phase = "backward"}
  task.kernel "output" ins(%r0, %r1, %d : !w, !w, !b) {name = "y"} step {scope = "optimizer", phase = "update"}
}

// -----

// A gradient of 64 MiB is more than a bundle has. That of a bias before it goes with it all the same: a bundle of its own would
// be complete at once, and the computation would wait there for the 64 MiB before it.
// CHECK-LABEL: task.program @large
// CHECK: task.actor "gradients.reduce_scatter" communication micro unit "B" {
// CHECK-NEXT: task.collective reduce_scatter [0] dim 0 %{{.*}} to %[[R1:[^ ]*]] micro
// CHECK-NEXT: {{^ +}$}}
// CHECK: task.actor "h.0.backward" compute micro unit "B" {
// CHECK-NEXT: task.kernel "fill"
// CHECK-NEXT: task.kernel "fill"
// CHECK-NEXT: {{^ +}$}}
// CHECK: task.actor "gradients.reduce_scatter#2" communication micro unit "B" {
// CHECK-NEXT: task.collective reduce_scatter [0] dim 0
// CHECK-NEXT: task.collective reduce_scatter [0] dim 0
// CHECK-NEXT: {{^ +}$}}
// CHECK: task.actor "wte.backward" compute micro unit "B" after(%[[R1]] :
!w = !task.buffer<tensor<16777216xf32, #weft.sbp<S(0)>>>
!s = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
!b = !task.buffer<tensor<16xbf16, #weft.sbp<B>>>
!p = !task.buffer<tensor<16777216xf32, #weft.sbp<P>>>
!q = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
task.program @large on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %x = task.buffer "input/x" input : !b
  task.kernel "input" outs(%x : !b) {name = "x"} micro {scope = "batch"}
  %g1 = task.buffer "g1" activation : !p
  %b0 = task.buffer "b0" activation : !q
  %g0 = task.buffer "g0" activation : !p
  %d = task.buffer "d" activation : !b
  %r1 = task.buffer "r1" gradient : !w
  %c0 = task.buffer "c0" gradient : !s
  %r0 = task.buffer "r0" gradient : !w
  task.kernel "fill" ins(%x : !b) outs(%g1 : !p) {} micro {scope = "h.1", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %g1 to %r1 micro {scope = "h.1", phase = "backward"} : !p, !w
  task.kernel "fill" ins(%x : !b) outs(%b0 : !q) {} micro {scope = "h.0", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %b0 to %c0 micro {scope = "h.0", phase = "backward"} : !q, !s
  task.kernel "fill" ins(%x : !b) outs(%g0 : !p) {} micro {scope = "h.0", phase = "backward"}
  task.collective reduce_scatter [0] dim 0 %g0 to %r0 micro {scope = "h.0", phase = "backward"} : !p, !w
  task.kernel "fill" ins(%x : !b) outs(%d : !b) {} micro {scope = "wte", phase = "backward"}
  task.kernel "output" ins(%r0, %r1, %c0, %d : !w, !w, !s, !b) {name = "y"} step {scope = "optimizer", phase = "update"}
}

// -----

// All collectives over an axis that shares are gathered over are on one stream, and what of the step section could
// overtake one of the computation over another axis comes after it.
// CHECK-LABEL: task.program @axes
// CHECK: task.actor "h.0.forward.all_gather" communication micro unit "F"
// CHECK: task.actor "h.0.forward.all_reduce" communication micro unit "F"
// CHECK: task.actor "h.0.forward.all_reduce#2" compute micro unit "F"
// CHECK-NEXT: task.collective all_reduce [1] %{{.*}} to %[[LAST:[^ ]*]] micro
// CHECK: task.actor "loss.forward.all_reduce" communication step after(%[[LAST]] :
!w = !task.buffer<tensor<16xf32, #weft.sbp<S(0), B>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B, B>>>
!d = !task.buffer<tensor<16xf32, #weft.sbp<P, B>>>
!t = !task.buffer<tensor<16xf32, #weft.sbp<B, P>>>
task.program @axes on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %w = task.buffer "w" parameter : !w
  %c = task.buffer "c" communication : !b
  %x = task.buffer "x" activation : !d
  %y = task.buffer "y" activation : !b
  %l = task.buffer "l" activation : !t
  %z = task.buffer "z" activation : !t
  %v = task.buffer "v" activation : !b
  %m = task.buffer "m" activation : !b
  task.collective all_gather [0] dim 0 %w to %c micro {scope = "h.0", on_use} : !w, !b
  task.kernel "use" ins(%c : !b) outs(%x : !d) {} micro {scope = "h.0"}
  task.collective all_reduce [0] %x to %y micro {scope = "h.0"} : !d, !b
  task.kernel "use" ins(%y : !b) outs(%l : !t) {} micro {scope = "loss"}
  task.kernel "use" ins(%y : !b) outs(%z : !t) {} micro {scope = "h.0"}
  task.collective all_reduce [1] %z to %v micro {scope = "h.0"} : !t, !b
  task.kernel "output" ins(%v : !b) {name = "v"} micro {scope = "h.0"}
  task.collective all_reduce [1] %l to %m step {scope = "loss"} : !t, !b
  task.kernel "output" ins(%m : !b) {name = "m"} step {scope = "loss"}
}

// -----

// A ring of three blocks: keys and values go on as one operation, on a stream of its own, while the block before them is computed.
// The next ones wait for that block, whose keys' memory is free then. What adds up what comes back does not hold the block before it up.
// CHECK-LABEL: task.program @ring
// CHECK: task.actor "h.0.forward" compute micro unit "F" {
// CHECK-NEXT: task.kernel "make" {{.*}} outs(%[[K:[^ ,]*]],
// CHECK: task.actor "h.0.forward.shift" communication micro unit "F" after(%[[K]] :
// CHECK-NEXT: task.collective shift [0] dim 0 by 1
// CHECK-NEXT: task.collective shift [0] dim 0 by 1
// CHECK-NEXT: {{^ +}$}}
// CHECK: task.actor "h.0.forward#2" compute micro unit "F" {
// CHECK-NEXT: task.kernel "block" {{.*}} outs(%[[D0:[^ ]*]] :
// CHECK: task.actor "h.0.forward.shift#2" communication micro unit "F" after(%[[D0]] :
// CHECK-NEXT: task.collective shift [0] dim 0 by 1 %[[D0]]
// CHECK-NEXT: task.collective shift [0] dim 0 by 1
// CHECK-NEXT: {{^ +}$}}
// CHECK: task.actor "h.0.forward#3" compute micro unit "F" {
// CHECK-NEXT: task.kernel "block"
// CHECK-NEXT: {{^ +}$}}
// CHECK: task.actor "h.0.forward#4" compute micro unit "F" {
// CHECK-NEXT: task.kernel "add"
!k = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
task.program @ring on #weft.placement<"cpu", [context = 4], [0, 1, 2, 3]> micro_batches(1) {
  %x = task.buffer "input/x" input : !k
  task.kernel "input" outs(%x : !k) {name = "x"} micro {scope = "batch"}
  %k0 = task.buffer "k0" activation : !k
  %v0 = task.buffer "v0" activation : !k
  task.kernel "make" ins(%x : !k) outs(%k0, %v0 : !k, !k) {} micro {scope = "h.0"}
  %k1 = task.buffer "k1" communication : !k
  %v1 = task.buffer "v1" communication : !k
  task.collective shift [0] dim 0 by 1 %k0 to %k1 micro {scope = "h.0"} : !k, !k
  task.collective shift [0] dim 0 by 1 %v0 to %v1 micro {scope = "h.0"} : !k, !k
  %d0 = task.buffer "d0" activation : !k
  task.kernel "block" ins(%k0, %v0 : !k, !k) outs(%d0 : !k) {} micro {scope = "h.0"}
  %s0 = task.buffer "s0" communication : !k
  task.collective shift [0] dim 0 by 1 %d0 to %s0 micro {scope = "h.0"} : !k, !k
  %k2 = task.buffer "k2" communication : !k
  task.collective shift [0] dim 0 by 1 %k1 to %k2 micro {scope = "h.0"} : !k, !k
  %d1 = task.buffer "d1" activation : !k
  task.kernel "block" ins(%k1, %v1 : !k, !k) outs(%d1 : !k) {} micro {scope = "h.0"}
  %sum = task.buffer "sum" activation : !k
  task.kernel "add" ins(%s0, %d1 : !k, !k) outs(%sum : !k) {} micro {scope = "h.0"}
  task.kernel "output" ins(%sum : !k) {name = "y"} micro {scope = "h.0"}
  task.kernel "use" ins(%k2 : !k) {} micro {scope = "h.0"}
}
