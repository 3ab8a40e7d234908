// RUN: weft-opt %s --weft-schedule-tiers='host=true whole=true' -split-input-file | FileCheck %s --check-prefix=WHOLE
// RUN: weft-opt %s --weft-schedule-tiers='host=true' -split-input-file | FileCheck %s --check-prefix=LAYERS
// RUN: weft-opt %s --pass-pipeline='builtin.module(task.program(weft-schedule-tiers{host=true whole=true}, weft-schedule-actors))' -split-input-file | FileCheck %s --check-prefix=ACTORS

// The host casts and updates a parameter where it lies. What it casts is fetched once for the step, or by each layer in each
// unit; the gradient and the factor of the clipping are stored for it, and the learning rate it makes itself.
// WHOLE-LABEL: task.program @update
// WHOLE: %[[W:.*]] = task.buffer "w" parameter init "fill" {{.*}} tier "host"
// WHOLE: %[[N:.*]] = task.buffer "n" working tier "host"
// WHOLE-NEXT: %[[HERE:.*]] = task.buffer "n/here" working :
// WHOLE: task.kernel "cast" ins(%[[W]] : {{.*}}) outs(%[[N]] : {{.*}}) {} begin
// WHOLE-NEXT: task.kernel "fetch" ins(%[[N]] : {{.*}}) outs(%[[HERE]] : {{.*}}) {} begin {once, scope = "h.0"}
// WHOLE: task.kernel "matmul" ins(%[[HERE]] :
// WHOLE: task.kernel "fill" outs(%[[G:[^ ]*]] : {{.*}}) {} micro
// WHOLE: task.kernel "store" ins(%[[G]] : {{.*}}) outs(%[[BELOW:[^ ]*]] : {{.*}}) {} step {once, phase = "backward", scope = "h.0"}
// WHOLE: task.kernel "clip_scale" ins(%{{.*}}) outs(%[[CLIP:[^ ]*]] :
// WHOLE-NEXT: task.kernel "store" ins(%[[CLIP]] : {{.*}}) outs(%[[FACTOR:[^ ]*]] : {{.*}}) {} step
// WHOLE: task.kernel "learning_rate" outs(%[[LR:[^ ]*]] :
// WHOLE: task.kernel "adam" ins(%[[W]], %[[BELOW]], %{{.*}}, %[[LR]], %[[FACTOR]] : {{.*}}) outs(%[[W]], %{{.*}} :
// LAYERS-LABEL: task.program @update
// LAYERS: task.kernel "fetch" ins(%{{.*}}) outs(%[[HERE:[^ ]*]] : {{.*}}) {} micro {scope = "h.0"}
// LAYERS-NEXT: task.kernel "matmul" ins(%[[HERE]] :
// LAYERS: task.kernel "adam" ins(%{{.*}}) outs(%{{.*}})
// ACTORS-LABEL: task.program @update
// ACTORS: task.actor "h.0.forward" host lane "work in host" begin {
// ACTORS-NEXT: task.kernel "cast"
// ACTORS: task.actor "h.0.forward.fetch" host lane "tier host" begin {
// ACTORS: task.actor "optimizer" host lane "work in host" step {
// ACTORS-NEXT: task.kernel "learning_rate"
// ACTORS: task.actor "h.0.backward.store" host lane "tier host" step {
// ACTORS: task.actor "optimizer#2" compute step {
// ACTORS-NEXT: task.kernel "square_sum"
// ACTORS-NEXT: task.kernel "clip_scale"
// ACTORS: task.actor "optimizer.store" host lane "tier host" step {
// ACTORS: task.actor "optimizer#3" host lane "work in host" step {
// ACTORS-NEXT: task.kernel "adam"
!b = !task.buffer<tensor<4096xf32, #weft.sbp<>>>
!n = !task.buffer<tensor<4096xbf16, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @update on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter init "fill" {} tier "host" : !b
  %m = task.buffer "m" optimizer init "fill" {} tier "host" : !b
  %n = task.buffer "n" working : !n
  %x = task.buffer "x" activation : !n
  %g = task.buffer "g" gradient : !b
  %q = task.buffer "q" gradient : !s
  %c = task.buffer "c" activation : !s
  %lr = task.buffer "lr" activation : !s
  task.kernel "cast" ins(%w : !b) outs(%n : !n) {} begin {scope = "h.0"}
  task.kernel "matmul" ins(%n : !n) outs(%x : !n) {} micro {scope = "h.0"}
  task.kernel "fill" outs(%g : !b) {} micro {scope = "h.0", phase = "backward"}
  task.kernel "square_sum" ins(%g : !b) outs(%q : !s) {} step {scope = "optimizer", phase = "update"}
  task.kernel "clip_scale" ins(%q : !s) outs(%c : !s) {} step {scope = "optimizer", phase = "update"}
  task.kernel "learning_rate" outs(%lr : !s) {} step {scope = "optimizer", phase = "update"}
  task.kernel "adam" ins(%w, %g, %m, %lr, %c : !b, !b, !b, !s, !s) outs(%w, %m : !b, !b) {} step {scope = "optimizer", phase = "update"}
}

// -----
// What the device reads behind its update in the same step is the device's: a momentum that a product reads. What it makes of
// that the host takes to the parameter. A parameter that nobody updates lies on the device.
// WHOLE-LABEL: task.program @products
// WHOLE: %[[W:.*]] = task.buffer "w" parameter init "fill" {{.*}} tier "host"
// WHOLE: %[[M:.*]] = task.buffer "m" optimizer init "fill" {{.*}} tier "host"
// WHOLE: task.buffer "frozen" parameter init "fill" {} :
// WHOLE: task.kernel "fetch" ins(%[[M]] : {{.*}}) outs(%[[HERE:[^ ]*]] : {{.*}}) {} step
// WHOLE-NEXT: task.kernel "momentum" ins(%{{.*}}, %[[HERE]] :
// WHOLE: task.kernel "einsum" ins(%{{.*}}) outs(%[[U:[^ ]*]] :
// WHOLE: task.kernel "store" ins(%[[U]] : {{.*}}) outs(%[[BELOW:[^ ]*]] :
// WHOLE: task.kernel "sub" ins(%[[W]], %[[BELOW]] : {{.*}}) outs(%[[W]] :
!b = !task.buffer<tensor<64x64xf32, #weft.sbp<>>>
task.program @products on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter init "fill" {} tier "host" : !b
  %m = task.buffer "m" optimizer init "fill" {} tier "host" : !b
  %frozen = task.buffer "frozen" parameter init "fill" {} tier "host" : !b
  %g = task.buffer "g" gradient : !b
  %u = task.buffer "u" activation : !b
  task.kernel "add" ins(%w, %frozen : !b, !b) outs(%g : !b) {} micro {scope = "h.0", phase = "backward"}
  task.kernel "momentum" ins(%g, %m : !b, !b) outs(%m : !b) {} step {scope = "optimizer", phase = "update"}
  task.kernel "einsum" ins(%m, %m : !b, !b) outs(%u : !b) {} step {scope = "optimizer", phase = "update"} cost [524288.0, 0.0, 49152.0]
  task.kernel "sub" ins(%w, %u : !b, !b) outs(%w : !b) {} step {scope = "optimizer", phase = "update"}
}
