// RUN: weft-opt %s --weft-memory-in-place -split-input-file | FileCheck %s

// A chain of kernels that may overwrite their operand shares one buffer.
// CHECK-LABEL: task.program @chain
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[A]] : <tensor<16xf32, #weft.sbp<>>> as <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS1:.*]] = task.alias %[[ALIAS]] : <tensor<16xf32, #weft.sbp<>>> as <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[ALIAS]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "exp" ins(%[[ALIAS]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[ALIAS1]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "output" ins(%[[ALIAS1]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {name = "y"} micro
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @chain on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  %b = task.buffer "b" activation : !t
  %c = task.buffer "c" activation : !t
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%a : !t) {} micro
    task.kernel "neg" ins(%a : !t) outs(%b : !t) {} micro in_place [0]
    task.kernel "exp" ins(%b : !t) outs(%c : !t) {} micro in_place [0]
    task.kernel "output" ins(%c : !t) {name = "y"} micro
  }
}

// -----
// Nothing is shared when the operand is read later, when it is read twice, when the kernel does not allow it, when
// another operand is the one that may be overwritten, or when the bytes differ.
// CHECK-LABEL: task.program @kept
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[LATER:.*]] = task.buffer "later" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[TWICE:.*]] = task.buffer "twice" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[FORBIDDEN:.*]] = task.buffer "forbidden" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[OTHER:.*]] = task.buffer "other" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[NARROW:.*]] = task.buffer "narrow" activation : <tensor<16xbf16, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[LATER]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "mul" ins(%[[A]], %[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[TWICE]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "softmax" ins(%[[LATER]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[FORBIDDEN]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "add" ins(%[[TWICE]], %[[FORBIDDEN]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[OTHER]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "add" ins(%[[FORBIDDEN]], %[[TWICE]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[LATER]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "cast" ins(%[[OTHER]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[NARROW]] : !task.buffer<tensor<16xbf16, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "output" ins(%[[NARROW]], %[[LATER]] : !task.buffer<tensor<16xbf16, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) {name = "y"} micro
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<16xbf16, #weft.sbp<>>>
task.program @kept on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  %later = task.buffer "later" activation : !t
  %twice = task.buffer "twice" activation : !t
  %forbidden = task.buffer "forbidden" activation : !t
  %other = task.buffer "other" activation : !t
  %narrow = task.buffer "narrow" activation : !s
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%a : !t) {} micro
    task.kernel "neg" ins(%a : !t) outs(%later : !t) {} micro in_place [0]
    task.kernel "mul" ins(%a, %a : !t, !t) outs(%twice : !t) {} micro in_place [0]
    task.kernel "softmax" ins(%later : !t) outs(%forbidden : !t) {} micro
    task.kernel "add" ins(%twice, %forbidden : !t, !t) outs(%other : !t) {} micro in_place [0]
    task.kernel "add" ins(%forbidden, %twice : !t, !t) outs(%later : !t) {} micro in_place [0]
    task.kernel "cast" ins(%other : !t) outs(%narrow : !s) {} micro in_place [0]
    task.kernel "output" ins(%narrow, %later : !s, !t) {name = "y"} micro
  }
}

// -----
// Parameters, state and inputs keep their bytes; a metric is read at the end of the step.
// CHECK-LABEL: task.program @owned
// CHECK-NEXT: %[[W:.*]] = task.buffer "w" parameter init "fill" {} : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[M:.*]] = task.buffer "m" optimizer init "fill" {} : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[X:.*]] = task.buffer "x" input : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[B:.*]] = task.buffer "b" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[D:.*]] = task.buffer "d" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[E:.*]] = task.buffer "e" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "neg" ins(%[[W]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "neg" ins(%[[M]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[B]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "neg" ins(%[[X]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[C]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "fill" outs(%[[D]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "neg" ins(%[[D]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[E]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: }
// CHECK-NEXT: task.metric "d" %[[D]] : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: }
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @owned on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter init "fill" {} : !t
  %m = task.buffer "m" optimizer init "fill" {} : !t
  %x = task.buffer "x" input : !t
  %a = task.buffer "a" activation : !t
  %b = task.buffer "b" activation : !t
  %c = task.buffer "c" activation : !t
  %d = task.buffer "d" activation : !t
  %e = task.buffer "e" activation : !t
  task.actor "graph.forward" compute micro {
    task.kernel "neg" ins(%w : !t) outs(%a : !t) {} micro in_place [0]
    task.kernel "neg" ins(%m : !t) outs(%b : !t) {} micro in_place [0]
    task.kernel "neg" ins(%x : !t) outs(%c : !t) {} micro in_place [0]
    task.kernel "fill" outs(%d : !t) {} micro
    task.kernel "neg" ins(%d : !t) outs(%e : !t) {} micro in_place [0]
  }
  task.metric "d" %d : !t
}

// -----
// An all-reduce sums where it stands, also a pending maximum; other collectives move.
// CHECK-LABEL: task.program @collectives
// CHECK-NEXT: %[[P:.*]] = task.buffer "p" activation : <tensor<16xf32, #weft.sbp<P>>>
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[P]] : <tensor<16xf32, #weft.sbp<P>>> as <tensor<16xf32, #weft.sbp<B>>>
// CHECK-NEXT: %[[Q:.*]] = task.buffer "q" activation : <tensor<16xf32, #weft.sbp<P>>>
// CHECK-NEXT: %[[S:.*]] = task.buffer "s" communication : <tensor<16xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[P]], %[[Q]] : !task.buffer<tensor<16xf32, #weft.sbp<P>>>, !task.buffer<tensor<16xf32, #weft.sbp<P>>>) {} micro
// CHECK-NEXT: task.collective all_reduce [0] %[[P]] to %[[ALIAS]] micro : <tensor<16xf32, #weft.sbp<P>>>, <tensor<16xf32, #weft.sbp<B>>>
// CHECK-NEXT: task.collective reduce_scatter [0] dim 0 %[[Q]] to %[[S]] micro : <tensor<16xf32, #weft.sbp<P>>>, <tensor<16xf32, #weft.sbp<S(0)>>>
// CHECK-NEXT: task.kernel "output" ins(%[[ALIAS]], %[[S]] : !task.buffer<tensor<16xf32, #weft.sbp<B>>>, !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>) {} micro
// CHECK-NEXT: }
// CHECK-NEXT: }
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
!s = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
task.program @collectives on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %p = task.buffer "p" activation : !p
  %b = task.buffer "b" communication : !b
  %q = task.buffer "q" activation : !p
  %s = task.buffer "s" communication : !s
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%p, %q : !p, !p) {} micro
    task.collective all_reduce [0] %p to %b micro : !p, !b
    task.collective reduce_scatter [0] dim 0 %q to %s micro : !p, !s
    task.kernel "output" ins(%b, %s : !b, !s) {} micro
  }
}

// -----
// The collectives of a bundle run at once: what another one reads is not overwritten, though it dies here.
// CHECK-LABEL: task.program @bundle
// CHECK: task.buffer "p" gradient
// CHECK-NEXT: %[[B:.*]] = task.buffer "b" gradient
// CHECK-NEXT: %[[Q:.*]] = task.buffer "q" gradient
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[Q]]
// CHECK-NEXT: task.buffer "s" gradient
// CHECK: task.collective all_reduce [0] %{{.*}} to %[[B]] micro
// CHECK-NEXT: task.collective all_reduce [0] %[[Q]] to %[[ALIAS]] micro
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
!s = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
task.program @bundle on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %p = task.buffer "p" gradient : !p
  %b = task.buffer "b" gradient : !b
  %q = task.buffer "q" gradient : !p
  %c = task.buffer "c" gradient : !b
  %s = task.buffer "s" gradient : !s
  task.actor "backward" compute micro {
    task.kernel "fill" outs(%p, %q : !p, !p) {} micro
  }
  task.actor "bucket" compute micro {
    task.collective all_reduce [0] %p to %b micro : !p, !b
    task.collective all_reduce [0] %q to %c micro : !p, !b
    task.collective reduce_scatter [0] dim 0 %p to %s micro : !p, !s
  }
  task.actor "update" compute micro {
    task.kernel "output" ins(%b, %c, %s : !b, !b, !s) {} micro
  }
}

// -----
// What is carried from micro-batch to micro-batch is not overwritten in the middle; in the step section it may be.
// CHECK-LABEL: task.program @carried
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[SUM:.*]] = task.buffer "sum" gradient : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[B:.*]] = task.buffer "b" activation : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[SUM]] : <tensor<16xf32, #weft.sbp<>>> as <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "accumulate" ins(%[[A]], %[[SUM]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[SUM]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[B]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: }
// CHECK-NEXT: task.actor "optimizer" compute step {
// CHECK-NEXT: task.kernel "scale" ins(%[[SUM]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[ALIAS]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} step in_place [0]
// CHECK-NEXT: task.kernel "output" ins(%[[ALIAS]], %[[B]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>, !task.buffer<tensor<16xf32, #weft.sbp<>>>) {name = "y"} step
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @carried on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %a = task.buffer "a" activation : !t
  %sum = task.buffer "sum" gradient : !t
  %b = task.buffer "b" activation : !t
  %c = task.buffer "c" activation : !t
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%a : !t) {} micro
    task.kernel "accumulate" ins(%a, %sum : !t, !t) outs(%sum : !t) {} micro
    task.kernel "neg" ins(%a : !t) outs(%b : !t) {} micro in_place [0]
  }
  task.actor "optimizer" compute step {
    task.kernel "scale" ins(%sum : !t) outs(%c : !t) {} step in_place [0]
    task.kernel "output" ins(%c, %b : !t, !t) {name = "y"} step
  }
}

// -----
// Views count: a buffer is read as long as an alias of it is.
// CHECK-LABEL: task.program @views
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation : <tensor<4x4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[A]] : <tensor<4x4xf32, #weft.sbp<>>> as <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS1:.*]] = task.alias %[[ALIAS]] : <tensor<16xf32, #weft.sbp<>>> as <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS2:.*]] = task.alias %[[ALIAS1]] : <tensor<16xf32, #weft.sbp<>>> as <tensor<4x4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" activation : <tensor<4x4xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS3:.*]] = task.alias %[[C]] : <tensor<4x4xf32, #weft.sbp<>>> as <tensor<4x4xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[A]] : !task.buffer<tensor<4x4xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "neg" ins(%[[ALIAS]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[ALIAS1]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "neg" ins(%[[ALIAS2]] : !task.buffer<tensor<4x4xf32, #weft.sbp<>>>) outs(%[[C]] : !task.buffer<tensor<4x4xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "neg" ins(%[[C]] : !task.buffer<tensor<4x4xf32, #weft.sbp<>>>) outs(%[[ALIAS3]] : !task.buffer<tensor<4x4xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "output" ins(%[[ALIAS1]], %[[ALIAS3]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>, !task.buffer<tensor<4x4xf32, #weft.sbp<>>>) {name = "y"} micro
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<4x4xf32, #weft.sbp<>>>
!f = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @views on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  %v = task.alias %a : !t as !f
  %b = task.buffer "b" activation : !f
  %w = task.alias %b : !f as !t
  %c = task.buffer "c" activation : !t
  %d = task.buffer "d" activation : !t
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%a : !t) {} micro
    task.kernel "neg" ins(%v : !f) outs(%b : !f) {} micro in_place [0]
    task.kernel "neg" ins(%w : !t) outs(%c : !t) {} micro in_place [0]
    task.kernel "neg" ins(%c : !t) outs(%d : !t) {} micro in_place [0]
    task.kernel "output" ins(%b, %d : !f, !t) {name = "y"} micro
  }
}

// -----
// Of a pipeline's units: what the forward makes is overwritten in the backward, and read by the weight part. The bytes
// are kept as long as the one and the other together: then two micro-batches are under way, where each alone has one.
// CHECK-LABEL: task.program @units
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation slots(2) : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[B:.*]] = task.alias %[[A]]
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" gradient
// CHECK: outs(%[[B]] : {{.*}}) {} micro in_place [0]
// CHECK: ins(%[[B]] : {{.*}}) outs(%[[C]] :
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @units on #weft.placement<"cpu", [], [0]> micro_batches(2) units ["F0", "B0", "F1", "W0", "B1", "W1"] {
  %a = task.buffer "a" activation : !t
  %b = task.buffer "b" activation : !t
  %c = task.buffer "c" gradient : !t
  task.actor "graph.forward" compute micro unit "F" {
    task.kernel "fill" outs(%a : !t) {} micro
  }
  task.actor "graph.backward" compute micro unit "B" {
    task.kernel "neg" ins(%a : !t) outs(%b : !t) {} micro in_place [0]
  }
  task.actor "graph.weight" compute micro unit "W" {
    task.kernel "add" ins(%b : !t) outs(%c : !t) {} micro
  }
}

// -----
// The schedule says what comes behind what: the weight part of the later chunk stands before the backward of the earlier
// one here, but comes behind it and reads a, so c takes over nothing. Where nobody reads a later, c does.
// CHECK-LABEL: task.program @turn
// CHECK: task.buffer "a"
// CHECK-NEXT: %[[B:.*]] = task.buffer "b"
// CHECK-NEXT: task.buffer "c"
// CHECK-NEXT: task.alias %[[B]]
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @turn on #weft.placement<"cpu", [], [0]> micro_batches(1) units ["F0", "F0.1", "B0.1", "B0", "W0.1", "W0"] {
  %a = task.buffer "a" activation : !t
  %b = task.buffer "b" activation : !t
  %c = task.buffer "c" activation : !t
  %d = task.buffer "d" activation : !t
  task.actor "later.backward" compute micro unit "B.1" chunk 1 {
    task.kernel "fill" outs(%a, %b : !t, !t) {} micro
  }
  task.actor "later.weight" compute micro unit "W.1" chunk 1 {
    task.kernel "output" ins(%a : !t) {name = "y"} micro
  }
  task.actor "earlier.backward" compute micro unit "B" {
    task.kernel "neg" ins(%a : !t) outs(%c : !t) {} micro in_place [0]
    task.kernel "neg" ins(%b : !t) outs(%d : !t) {} micro in_place [0]
    task.kernel "output" ins(%c, %d : !t, !t) {name = "z"} micro
  }
}

// -----
// What the step section writes has one slot, so it takes over nothing that has two.
// CHECK-LABEL: task.program @last
// CHECK: task.buffer "a" activation slots(2)
// CHECK-NEXT: task.buffer "b"
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @last on #weft.placement<"cpu", [], [0]> micro_batches(2) units ["F0", "F1", "B0", "B1"] {
  %a = task.buffer "a" activation slots(2) : !t
  %b = task.buffer "b" activation : !t
  task.actor "graph.forward" compute micro unit "F" {
    task.kernel "fill" outs(%a : !t) {} micro
  }
  task.actor "graph.backward" compute micro unit "B" {
    task.kernel "output" ins(%a : !t) {name = "y"} micro
  }
  task.actor "graph.forward#2" compute step {
    task.kernel "neg" ins(%a : !t) outs(%b : !t) {} step in_place [0]
    task.kernel "output" ins(%b : !t) {name = "z"} step
  }
}
