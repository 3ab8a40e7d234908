// RUN: weft-opt %s --weft-schedule-tiers --weft-schedule-actors | FileCheck %s

// Parts of as many bytes as the largest: the state of the third parameter, and that of the first two together. The second part is
// fetched while the first is in use, the third when that has been stored. The first fetch comes after what the backward has
// made when the rest of it takes as long as the fetches of two parts: 3 ms.
// CHECK: task.actor "optimizer.fetch" host lane "tier disk" step after(%[[G2:[^ ]*]] : {{.*}}) {
// CHECK-NEXT: task.kernel "fetch"
// CHECK-NEXT: task.kernel "fetch"
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: task.actor "optimizer.fetch#2" host lane "tier disk" step {
// CHECK-NEXT: task.kernel "fetch"
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: task.actor "optimizer" compute step {
// CHECK-NEXT: task.kernel "sgd_momentum"
// CHECK-NEXT: task.kernel "sgd_momentum"
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: task.actor "optimizer.store" host lane "tier disk" step {
// CHECK-NEXT: task.kernel "store"
// CHECK-NEXT: task.kernel "store"
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: task.actor "optimizer.fetch#3"
// CHECK-NEXT: task.kernel "fetch"
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: task.actor "optimizer#2" compute step {
// CHECK-NEXT: task.kernel "sgd_momentum"
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: task.actor "optimizer.store#2"
// CHECK: task.actor "optimizer#3" compute step {
// CHECK-NEXT: task.kernel "sgd_momentum"
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: task.actor "optimizer.store#3"
!a = !task.buffer<tensor<16xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<32xf32, #weft.sbp<>>>
task.program @parts on #weft.placement<"cpu", [], [0]> micro_batches(1)
    attributes {weft.machine = {tier.disk = array<f64: 1.0e9, 1.0e9, 1.0e-3, 0.0>, launch_s = 0.0, memory_bytes_s = 1.0e6}} {
  %w0 = task.buffer "w0" parameter init "fill" {} : !a
  %w1 = task.buffer "w1" parameter init "fill" {} : !a
  %w2 = task.buffer "w2" parameter init "fill" {} : !b
  %w3 = task.buffer "w3" parameter init "fill" {} : !b
  %m0 = task.buffer "m0" optimizer init "fill" {} tier "disk" : !a
  %m1 = task.buffer "m1" optimizer init "fill" {} tier "disk" : !a
  %m2 = task.buffer "m2" optimizer init "fill" {} tier "disk" : !b
  %m3 = task.buffer "m3" optimizer init "fill" {} tier "disk" : !b
  %g3 = task.buffer "g3" gradient : !b
  %g2 = task.buffer "g2" gradient : !b
  %g1 = task.buffer "g1" gradient : !a
  %g0 = task.buffer "g0" gradient : !a
  task.kernel "fill" outs(%g3 : !b) {} micro {scope = "h.3", phase = "backward"} cost [0., 0., 10000.]
  task.kernel "fill" outs(%g2 : !b) {} micro {scope = "h.2", phase = "backward"} cost [0., 0., 10000.]
  task.kernel "fill" outs(%g1 : !a) {} micro {scope = "h.1", phase = "backward"} cost [0., 0., 2000.]
  task.kernel "fill" outs(%g0 : !a) {} micro {scope = "h.0", phase = "backward"} cost [0., 0., 2000.]
  task.kernel "sgd_momentum" ins(%w0, %g0, %m0 : !a, !a, !a) outs(%w0, %m0 : !a, !a) {} step {scope = "optimizer", phase = "update"}
  task.kernel "sgd_momentum" ins(%w1, %g1, %m1 : !a, !a, !a) outs(%w1, %m1 : !a, !a) {} step {scope = "optimizer", phase = "update"}
  task.kernel "sgd_momentum" ins(%w2, %g2, %m2 : !b, !b, !b) outs(%w2, %m2 : !b, !b) {} step {scope = "optimizer", phase = "update"}
  task.kernel "sgd_momentum" ins(%w3, %g3, %m3 : !b, !b, !b) outs(%w3, %m3 : !b, !b) {} step {scope = "optimizer", phase = "update"}
}
