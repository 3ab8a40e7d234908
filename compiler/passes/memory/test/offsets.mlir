// RUN: weft-opt %s --weft-memory-offsets -split-input-file | FileCheck %s

// Buffers whose lives do not meet share bytes, so the arena is what lives at once: a and b, b and c, c and d.
// CHECK-LABEL: task.program @disjoint
// CHECK-SAME: arena(256, 256)
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation at 0 : <tensor<32xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[B:.*]] = task.buffer "b" activation at 128 : <tensor<32xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" activation at 0 : <tensor<32xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[D:.*]] = task.buffer "d" activation at 128 : <tensor<32xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[A]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "k" ins(%[[A]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) outs(%[[B]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "k" ins(%[[B]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) outs(%[[C]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "k" ins(%[[C]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) outs(%[[D]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "output" ins(%[[D]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) {name = "y"} micro
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<32xf32, #weft.sbp<>>>
task.program @disjoint on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  %b = task.buffer "b" activation : !t
  %c = task.buffer "c" activation : !t
  %d = task.buffer "d" activation : !t
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%a : !t) {} micro
    task.kernel "k" ins(%a : !t) outs(%b : !t) {} micro
    task.kernel "k" ins(%b : !t) outs(%c : !t) {} micro
    task.kernel "k" ins(%c : !t) outs(%d : !t) {} micro
    task.kernel "output" ins(%d : !t) {name = "y"} micro
  }
}

// -----
// Bytes are those of one rank's tile, rounded up to 64; two slots take twice as much. Parameters and state live always,
// and so does what nobody touches; inputs are read ahead from the beginning of the step.
// CHECK-LABEL: task.program @bytes
// CHECK-SAME: arena(384, 384)
// CHECK-NEXT: %[[W:.*]] = task.buffer "w" parameter at 0 init "fill" {} : <tensor<64xf32, #weft.sbp<S(0), S(0)>>>
// CHECK-NEXT: %[[M:.*]] = task.buffer "m" optimizer at 64 init "fill" {} : <tensor<64xbf16, #weft.sbp<S(0), B>>>
// CHECK-NEXT: %[[X:.*]] = task.buffer "x" input slots(2) at 192 : <tensor<f32, #weft.sbp<B, B>>>
// CHECK-NEXT: %[[U:.*]] = task.buffer "u" parameter at 128 init "fill" {} : <tensor<f32, #weft.sbp<B, B>>>
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation at 320 : <tensor<f32, #weft.sbp<B, B>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" activation at 320 : <tensor<f32, #weft.sbp<B, B>>>
// CHECK-NEXT: task.actor "batch" host micro {
// CHECK-NEXT: task.kernel "input" outs(%[[X]] : !task.buffer<tensor<f32, #weft.sbp<B, B>>>) {name = "x"} micro
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "k" ins(%[[X]], %[[W]], %[[M]] : !task.buffer<tensor<f32, #weft.sbp<B, B>>>, !task.buffer<tensor<64xf32, #weft.sbp<S(0), S(0)>>>, !task.buffer<tensor<64xbf16, #weft.sbp<S(0), B>>>) outs(%[[A]] : !task.buffer<tensor<f32, #weft.sbp<B, B>>>) {} micro
// CHECK-NEXT: task.kernel "output" ins(%[[A]] : !task.buffer<tensor<f32, #weft.sbp<B, B>>>) {name = "y"} micro
// CHECK-NEXT: task.kernel "k" ins(%[[X]] : !task.buffer<tensor<f32, #weft.sbp<B, B>>>) outs(%[[C]] : !task.buffer<tensor<f32, #weft.sbp<B, B>>>) {} micro
// CHECK-NEXT: task.kernel "output" ins(%[[C]] : !task.buffer<tensor<f32, #weft.sbp<B, B>>>) {name = "z"} micro
// CHECK-NEXT: }
// CHECK-NEXT: }
!q = !task.buffer<tensor<64xf32, #weft.sbp<S(0), S(0)>>>
!h = !task.buffer<tensor<64xbf16, #weft.sbp<S(0), B>>>
!b = !task.buffer<tensor<f32, #weft.sbp<B, B>>>
task.program @bytes on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(2) {
  %w = task.buffer "w" parameter init "fill" {} : !q
  %m = task.buffer "m" optimizer init "fill" {} : !h
  %x = task.buffer "x" input slots(2) : !b
  %u = task.buffer "u" parameter init "fill" {} : !b
  %a = task.buffer "a" activation : !b
  %c = task.buffer "c" activation : !b
  task.actor "batch" host micro {
    task.kernel "input" outs(%x : !b) {name = "x"} micro
  }
  task.actor "graph.forward" compute micro {
    task.kernel "k" ins(%x, %w, %m : !b, !q, !h) outs(%a : !b) {} micro
    task.kernel "output" ins(%a : !b) {name = "y"} micro
    task.kernel "k" ins(%x : !b) outs(%c : !b) {} micro
    task.kernel "output" ins(%c : !b) {name = "z"} micro
  }
}

// -----
// A sum over micro-batches lives from the first act of the section to its last reader in the step section, as does what
// the step section reads of the last micro-batch; a and b meet neither each other nor c.
// CHECK-LABEL: task.program @carried
// CHECK-SAME: arena(192, 192)
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation at 0 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[B:.*]] = task.buffer "b" activation at 0 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[SUM:.*]] = task.buffer "sum" gradient at 64 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[LAST:.*]] = task.buffer "last" activation at 128 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" activation at 0 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "output" ins(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "fill" outs(%[[B]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "accumulate" ins(%[[B]], %[[SUM]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[SUM]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "fill" outs(%[[LAST]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "optimizer" compute step {
// CHECK-NEXT: task.kernel "k" ins(%[[SUM]], %[[LAST]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[C]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} step
// CHECK-NEXT: task.kernel "output" ins(%[[C]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} step
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @carried on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %a = task.buffer "a" activation : !t
  %b = task.buffer "b" activation : !t
  %sum = task.buffer "sum" gradient : !t
  %last = task.buffer "last" activation : !t
  %c = task.buffer "c" activation : !t
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%a : !t) {} micro
    task.kernel "output" ins(%a : !t) {} micro
    task.kernel "fill" outs(%b : !t) {} micro
    task.kernel "accumulate" ins(%b, %sum : !t, !t) outs(%sum : !t) {} micro
    task.kernel "fill" outs(%last : !t) {} micro
  }
  task.actor "optimizer" compute step {
    task.kernel "k" ins(%sum, %last : !t, !t) outs(%c : !t) {} step
    task.kernel "output" ins(%c : !t) {} step
  }
}

// -----
// The same with one micro-batch: the sum does not outlive the acts that touch it.
// CHECK-LABEL: task.program @not_carried
// CHECK-SAME: arena(64, 64)
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation at 0 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[SUM:.*]] = task.buffer "sum" gradient at 0 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" activation at 0 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "output" ins(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "fill" outs(%[[SUM]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "optimizer" compute step {
// CHECK-NEXT: task.kernel "output" ins(%[[SUM]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} step
// CHECK-NEXT: task.kernel "fill" outs(%[[C]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} step
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @not_carried on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  %sum = task.buffer "sum" gradient : !t
  %c = task.buffer "c" activation : !t
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%a : !t) {} micro
    task.kernel "output" ins(%a : !t) {} micro
    task.kernel "fill" outs(%sum : !t) {} micro
  }
  task.actor "optimizer" compute step {
    task.kernel "output" ins(%sum : !t) {} step
    task.kernel "fill" outs(%c : !t) {} step
  }
}

// -----
// An alias lengthens the life of its buffer, and a metric to the end of the step.
// CHECK-LABEL: task.program @lengthened
// CHECK-SAME: arena(192, 192)
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation at 0 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[A]] : <tensor<16xf32, #weft.sbp<>>> as <tensor<4x4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[B:.*]] = task.buffer "b" activation at 64 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" activation at 0 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[D:.*]] = task.buffer "d" activation at 128 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "fill" outs(%[[B]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "output" ins(%[[ALIAS]] : !task.buffer<tensor<4x4xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "fill" outs(%[[C]], %[[D]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: }
// CHECK-NEXT: task.metric "b" %[[B]] : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: }
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
!v = !task.buffer<tensor<4x4xf32, #weft.sbp<>>>
task.program @lengthened on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  %v = task.alias %a : !t as !v
  %b = task.buffer "b" activation : !t
  %c = task.buffer "c" activation : !t
  %d = task.buffer "d" activation : !t
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%a : !t) {} micro
    task.kernel "fill" outs(%b : !t) {} micro
    task.kernel "output" ins(%v : !v) {} micro
    task.kernel "fill" outs(%c, %d : !t, !t) {} micro
  }
  task.metric "b" %b : !t
}

// -----
// The largest is placed first, wherever it stands, and the arena is no larger than what lives at once.
// CHECK-LABEL: task.program @largest_first
// CHECK-SAME: arena(448, 448)
// CHECK-NEXT: %[[S:.*]] = task.buffer "s1" activation at 384 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[M:.*]] = task.buffer "m1" activation at 256 : <tensor<32xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[L:.*]] = task.buffer "l1" activation at 0 : <tensor<64xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[M1:.*]] = task.buffer "m2" activation at 256 : <tensor<32xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[S1:.*]] = task.buffer "s2" activation at 384 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "k" outs(%[[L]], %[[M]] : !task.buffer<tensor<64xf32, #weft.sbp<>>>, !task.buffer<tensor<32xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "k" ins(%[[M]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) outs(%[[S]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "k" ins(%[[S]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[M1]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "k" ins(%[[M1]], %[[L]] : !task.buffer<tensor<32xf32, #weft.sbp<>>>, !task.buffer<tensor<64xf32, #weft.sbp<>>>) outs(%[[S1]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "output" ins(%[[S1]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: }
// CHECK-NEXT: }
!l = !task.buffer<tensor<64xf32, #weft.sbp<>>>
!m = !task.buffer<tensor<32xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @largest_first on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %s1 = task.buffer "s1" activation : !s
  %m1 = task.buffer "m1" activation : !m
  %l1 = task.buffer "l1" activation : !l
  %m2 = task.buffer "m2" activation : !m
  %s2 = task.buffer "s2" activation : !s
  task.actor "graph.forward" compute micro {
    task.kernel "k" outs(%l1, %m1 : !l, !m) {} micro
    task.kernel "k" ins(%m1 : !m) outs(%s1 : !s) {} micro
    task.kernel "k" ins(%s1 : !s) outs(%m2 : !m) {} micro
    task.kernel "k" ins(%m2, %l1 : !m, !l) outs(%s2 : !s) {} micro
    task.kernel "output" ins(%s2 : !s) {} micro
  }
}

// -----
// A small buffer goes to the tightest gap between those that live at the same time: s fits at 192, between c and b, where 192
// bytes are free, but better at 896, where 128 are.
// CHECK-LABEL: task.program @tightest_gap
// CHECK-SAME: arena(1088, 1088)
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation at 0 : <tensor<96xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[B:.*]] = task.buffer "b" activation at 384 : <tensor<80xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" activation at 0 : <tensor<48xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[E:.*]] = task.buffer "e" activation at 704 : <tensor<48xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[G:.*]] = task.buffer "g" activation at 896 : <tensor<32xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[K:.*]] = task.buffer "k" activation at 1024 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[S:.*]] = task.buffer "s" activation at 896 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "k" outs(%[[A]], %[[B]], %[[E]], %[[G]], %[[K]] : !task.buffer<tensor<96xf32, #weft.sbp<>>>, !task.buffer<tensor<80xf32, #weft.sbp<>>>, !task.buffer<tensor<48xf32, #weft.sbp<>>>, !task.buffer<tensor<32xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "k" ins(%[[B]], %[[E]], %[[K]] : !task.buffer<tensor<80xf32, #weft.sbp<>>>, !task.buffer<tensor<48xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[C]], %[[S]] : !task.buffer<tensor<48xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: }
// CHECK-NEXT: }
task.program @tightest_gap on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<96xf32, #weft.sbp<>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<80xf32, #weft.sbp<>>>
  %c = task.buffer "c" activation : !task.buffer<tensor<48xf32, #weft.sbp<>>>
  %e = task.buffer "e" activation : !task.buffer<tensor<48xf32, #weft.sbp<>>>
  %g = task.buffer "g" activation : !task.buffer<tensor<32xf32, #weft.sbp<>>>
  %k = task.buffer "k" activation : !task.buffer<tensor<16xf32, #weft.sbp<>>>
  %s = task.buffer "s" activation : !task.buffer<tensor<16xf32, #weft.sbp<>>>
  task.actor "graph.forward" compute micro {
    task.kernel "k" outs(%a, %b, %e, %g, %k : !task.buffer<tensor<96xf32, #weft.sbp<>>>, !task.buffer<tensor<80xf32, #weft.sbp<>>>, !task.buffer<tensor<48xf32, #weft.sbp<>>>, !task.buffer<tensor<32xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
    task.kernel "k" ins(%b, %e, %k : !task.buffer<tensor<80xf32, #weft.sbp<>>>, !task.buffer<tensor<48xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%c, %s : !task.buffer<tensor<48xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
  }
}
