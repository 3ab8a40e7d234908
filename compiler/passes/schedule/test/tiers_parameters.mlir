// RUN: weft-opt %s --weft-schedule-tiers -split-input-file | FileCheck %s

// A parameter comes for a layer's forward, for its backward, and for its update; what a micro-batch reads outside layers
// stays. The gradient of one micro-batch is stored behind the backward, where its squares are summed.
// CHECK-LABEL: task.program @one
// CHECK: %[[W:.*]] = task.buffer "w" parameter init "fill" {{.*}} tier "disk"
// CHECK-DAG: %[[F:.*]] = task.buffer "w/forward" communication
// CHECK-DAG: %[[B:.*]] = task.buffer "w/backward" communication
// CHECK-DAG: %[[S:.*]] = task.buffer "w/here" communication
// CHECK: %[[T:.*]] = task.buffer "table" parameter init "fill" {} :
// CHECK: task.kernel "fetch" ins(%[[W]] : {{.*}}) outs(%[[F]] : {{.*}}) {} micro {scope = "h.0"}
// CHECK-NEXT: task.kernel "add" ins(%[[F]], %[[T]] :
// CHECK: %[[G:.*]] = task.buffer "g" gradient tier "disk"
// CHECK-DAG: %[[GB:.*]] = task.buffer "g/backward" communication
// CHECK-DAG: %[[GS:.*]] = task.buffer "g/here" communication
// CHECK: task.kernel "fetch" ins(%[[W]] : {{.*}}) outs(%[[B]] : {{.*}}) {} micro {phase = "backward", scope = "h.0"}
// CHECK-NEXT: task.kernel "copy" ins(%[[B]] : {{.*}}) outs(%[[GB]] :
// CHECK-NEXT: %[[N:.*]] = task.buffer "n" gradient
// CHECK-NEXT: task.kernel "square_sum" ins(%[[GB]] : {{.*}}) outs(%[[N]] : {{.*}}) {} micro {phase = "backward", scope = "h.0"}
// CHECK-NEXT: task.kernel "store" ins(%[[GB]] : {{.*}}) outs(%[[G]] :
// CHECK: task.kernel "fetch" ins(%[[G]] : {{.*}}) outs(%[[GS]] :
// CHECK: task.kernel "sgd" ins(%[[S]], %[[GS]] : {{.*}}) outs(%[[NEW:.*]] :
// CHECK-NEXT: task.kernel "store" ins(%[[NEW]] : {{.*}}) outs(%[[W]] :
!b = !task.buffer<tensor<16xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @one on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter init "fill" {} tier "disk" : !b
  %t = task.buffer "table" parameter init "fill" {} tier "disk" : !b
  %a = task.buffer "a" activation : !b
  task.kernel "copy" ins(%t : !b) outs(%a : !b) {} micro {scope = "wte"}
  %x = task.buffer "x" activation : !b
  task.kernel "add" ins(%w, %t : !b, !b) outs(%x : !b) {} micro {scope = "h.0"}
  %g = task.buffer "g" gradient tier "disk" : !b
  task.kernel "copy" ins(%w : !b) outs(%g : !b) {} micro {scope = "h.0", phase = "backward"}
  %n = task.buffer "n" gradient : !s
  task.kernel "square_sum" ins(%g : !b) outs(%n : !s) {} step {scope = "optimizer", phase = "update"}
  task.kernel "sgd" ins(%w, %g : !b, !b) outs(%w : !b) {} step {scope = "optimizer", phase = "update"}
}

// -----
// A sum over micro-batches comes to each, which the fetch of the first does not do; for the norm and for the update apart. A
// narrow copy lies in the tier too.
// CHECK-LABEL: task.program @sums
// CHECK: %[[C:.*]] = task.buffer "c" working tier "disk"
// CHECK: %[[G:.*]] = task.buffer "g" gradient tier "disk"
// CHECK: %[[NEW:.*]] = task.alias %[[HERE:[^ ]*]]
// CHECK-NEXT: task.kernel "fetch" ins(%[[G]] : {{.*}}) outs(%[[HERE]] : {{.*}}) {sum = 1 : i64} micro
// CHECK-NEXT: task.kernel "accumulate" ins(%{{.*}}, %[[HERE]] : {{.*}}) outs(%[[NEW]] :
// CHECK-NEXT: task.kernel "store" ins(%[[NEW]] : {{.*}}) outs(%[[G]] :
// CHECK: task.kernel "fetch" ins(%[[G]] : {{.*}}) outs(%[[NORM:.*]] : {{.*}}) {} step
// CHECK-NEXT: task.kernel "square_sum" ins(%[[NORM]] :
// CHECK: task.kernel "fetch" ins(%[[G]] : {{.*}}) outs(%[[UPDATE:.*]] : {{.*}}) {} step
// CHECK: task.kernel "sgd" ins(%{{.*}}, %[[UPDATE]] :
!b = !task.buffer<tensor<16xf32, #weft.sbp<>>>
!h = !task.buffer<tensor<16xbf16, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @sums on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %w = task.buffer "w" parameter init "fill" {} tier "disk" : !b
  %c = task.buffer "c" working : !h
  task.kernel "cast" ins(%w : !b) outs(%c : !h) {} begin {scope = "h.0"}
  %x = task.buffer "x" gradient : !b
  task.kernel "cast" ins(%c : !h) outs(%x : !b) {} micro {scope = "h.0", phase = "backward"}
  %g = task.buffer "g" gradient tier "disk" : !b
  task.kernel "accumulate" ins(%x, %g : !b, !b) outs(%g : !b) {} micro {scope = "h.0", phase = "backward"}
  %n = task.buffer "n" gradient : !s
  task.kernel "square_sum" ins(%g : !b) outs(%n : !s) {} step {scope = "optimizer", phase = "update"}
  task.kernel "sgd" ins(%w, %g : !b, !b) outs(%w : !b) {} step {scope = "optimizer", phase = "update"}
}
