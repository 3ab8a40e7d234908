// RUN: weft-opt %s --pass-pipeline='builtin.module(task.program(weft-schedule-tiers{activations=disk}, weft-schedule-actors), weft-schedule-slots)' | FileCheck %s
// RUN: weft-opt %s --pass-pipeline='builtin.module(task.program(weft-schedule-tiers{activations=disk layers=h.1=here}, weft-schedule-actors), weft-schedule-slots)' | FileCheck %s --check-prefix=SPARE
// RUN: weft-opt %s --pass-pipeline='builtin.module(task.program(weft-schedule-tiers{activations=disk others=false layers=h.0=below,h.2=here}, weft-schedule-actors), weft-schedule-slots)' | FileCheck %s --check-prefix=ALONE

// What layers 0, 1 and 2 leave to their backward is stored behind their forward, and fetched a layer ahead of their backward
// to a buffer of its own; layer 3, the last, keeps what it has. The forward of layer 2 waits for the store of layer 0. A view is one of
// the other buffer, too. What is small stays.
// CHECK: task.buffer "x0" activation :
// CHECK: %[[B0:.*]] = task.buffer "x0/below" activation tier "disk"
// CHECK-NEXT: %[[X0:.*]] = task.buffer "x0/back" activation :
// CHECK-NEXT: %[[V0:.*]] = task.alias %[[X0]]
// CHECK-NOT: task.buffer "s0/below"
// CHECK-NOT: task.buffer "x3/below"
// CHECK: task.actor "h.0.forward" compute micro unit "F"
// CHECK: task.actor "h.0.forward.store" host lane "tier disk" micro unit "F" {
// CHECK-NEXT: task.kernel "store" ins(%{{.*}}) outs(%[[B0]] :
// CHECK: task.actor "h.1.forward" compute micro unit "F" {
// CHECK: task.actor "h.1.forward.store"
// CHECK: task.actor "h.2.forward" compute micro unit "F" after(%[[B0]] :
// CHECK: task.actor "h.2.forward.store"
// CHECK: task.actor "h.3.forward"
// CHECK-NOT: "h.3.forward.store"
// CHECK: task.actor "h.2.backward.fetch" host lane "tier disk" micro unit "B" {
// CHECK: task.actor "h.3.backward" compute micro unit "B" {
// CHECK: task.actor "h.1.backward.fetch" host lane "tier disk" micro unit "B" after(
// CHECK: task.actor "h.2.backward" compute micro unit "B" {
// CHECK: task.actor "h.0.backward.fetch"
// CHECK: task.actor "h.1.backward"
// CHECK: task.actor "h.0.backward" compute
// CHECK-NEXT: task.kernel "gelu_grad" ins(%[[V0]],
// Layer 1 keeps what it has. The copies of layers 0 and 2 have the time of layer 1 too: not layer 2 waits for the store of
// layer 0, but layer 3, and the fetch for layer 0 comes when the backward comes to layer 2.
// SPARE-NOT: task.buffer "x1/below"
// SPARE: %[[B0:.*]] = task.buffer "x0/below" activation tier "disk"
// SPARE: task.actor "h.2.forward" compute micro unit "F" {
// SPARE: task.actor "h.3.forward" compute micro unit "F" after(%[[B0]] :
// SPARE: task.actor "h.2.backward.fetch"
// SPARE: task.actor "h.3.backward"
// SPARE: task.actor "h.0.backward.fetch"
// SPARE: task.actor "h.2.backward" compute
// SPARE: task.actor "h.1.backward" compute

// ALONE-COUNT-1: task.buffer "{{.*}}/below"
// ALONE-NOT: task.buffer "{{.*}}/below"
!b = !task.buffer<tensor<4x1024xf32, #weft.sbp<>>>
!v = !task.buffer<tensor<4096xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @kept on #weft.placement<"cpu", [], [0]> micro_batches(1)
    attributes {weft.machine = {tier.disk = array<f64: 1.0e9, 1.0e9, 1.0e-5, 0.0>}} {
  %x0 = task.buffer "x0" activation : !b
  %x1 = task.buffer "x1" activation : !b
  %x2 = task.buffer "x2" activation : !b
  %x3 = task.buffer "x3" activation : !b
  %s0 = task.buffer "s0" activation : !s
  %g3 = task.buffer "g3" gradient : !v
  %g2 = task.buffer "g2" gradient : !v
  %g1 = task.buffer "g1" gradient : !v
  %g0 = task.buffer "g0" gradient : !v
  %v0 = task.alias %x0 : !b as !v
  %v1 = task.alias %x1 : !b as !v
  %v2 = task.alias %x2 : !b as !v
  %v3 = task.alias %x3 : !b as !v
  task.kernel "fill" outs(%x0 : !b) {} micro {scope = "h.0"}
  task.kernel "reduce" ins(%x0 : !b) outs(%s0 : !s) {} micro {scope = "h.0"}
  task.kernel "gelu" ins(%x0 : !b) outs(%x1 : !b) {} micro {scope = "h.1"}
  task.kernel "gelu" ins(%x1 : !b) outs(%x2 : !b) {} micro {scope = "h.2"}
  task.kernel "gelu" ins(%x2 : !b) outs(%x3 : !b) {} micro {scope = "h.3"}
  task.kernel "gelu_grad" ins(%v3, %v3 : !v, !v) outs(%g3 : !v) {} micro {scope = "h.3", phase = "backward"}
  task.kernel "gelu_grad" ins(%v2, %g3 : !v, !v) outs(%g2 : !v) {} micro {scope = "h.2", phase = "backward"}
  task.kernel "gelu_grad" ins(%v1, %g2 : !v, !v) outs(%g1 : !v) {} micro {scope = "h.1", phase = "backward"}
  task.kernel "gelu_grad" ins(%v0, %g1, %s0 : !v, !v, !s) outs(%g0 : !v) {} micro {scope = "h.0", phase = "backward"}
}
