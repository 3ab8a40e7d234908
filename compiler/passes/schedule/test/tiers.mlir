// RUN: weft-opt %s --weft-schedule-tiers -split-input-file | FileCheck %s

// A buffer of the device takes the place of one in a tier: fetched before its first use, stored behind the last. What writes
// it writes a view, which is what comes after sees.
// CHECK-LABEL: task.program @update
// CHECK: %[[M:.*]] = task.buffer "m" optimizer init "fill" {{.*}} tier "disk"
// CHECK-NEXT: %[[HERE:.*]] = task.buffer "m/here" communication
// CHECK: %[[NEW:.*]] = task.alias %[[HERE]]
// CHECK-NEXT: task.kernel "fetch" ins(%[[M]] : {{.*}}) outs(%[[HERE]] : {{.*}}) {} step {phase = "update", scope = "optimizer"} cost [{{.*}}, {{.*}}, 6.400000e+01]
// CHECK-NEXT: task.kernel "sgd_momentum" ins(%{{.*}}, %{{.*}}, %[[HERE]] : {{.*}}) outs(%{{.*}}, %[[NEW]] :
// CHECK-NEXT: task.kernel "square_sum" ins(%[[NEW]] :
// CHECK-NEXT: task.kernel "store" ins(%[[NEW]] : {{.*}}) outs(%[[M]] :
!b = !task.buffer<tensor<16xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<f32, #weft.sbp<>>>
task.program @update on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %w = task.buffer "w" parameter init "fill" {} : !b
  %m = task.buffer "m" optimizer init "fill" {} tier "disk" : !b
  %g = task.buffer "g" gradient : !b
  %n = task.buffer "n" activation : !s
  task.kernel "fill" outs(%g : !b) {} micro {scope = "h.0", phase = "backward"}
  task.kernel "sgd_momentum" ins(%w, %g, %m : !b, !b, !b) outs(%w, %m : !b, !b) {} step {scope = "optimizer", phase = "update"}
  task.kernel "square_sum" ins(%m : !b) outs(%n : !s) {} step {scope = "optimizer", phase = "update"}
}

// -----
// What is written before it is read need not come; what a micro-batch reads outside layers lies on the device after all,
// and what nobody uses too.
// CHECK-LABEL: task.program @others
// CHECK: %[[A:.*]] = task.buffer "a" optimizer init "fill" {} tier "disk"
// CHECK-NEXT: %[[HERE:.*]] = task.buffer "a/here" communication
// CHECK: task.buffer "b" optimizer init "fill" {} :
// CHECK: task.buffer "c" optimizer init "fill" {} :
// CHECK-NOT: "fetch"
// CHECK: task.kernel "copy" ins(%{{.*}}) outs(%[[HERE]] :
// CHECK-NEXT: task.kernel "store" ins(%[[HERE]] : {{.*}}) outs(%[[A]] :
!b = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @others on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" optimizer init "fill" {} tier "disk" : !b
  %b = task.buffer "b" optimizer init "fill" {} tier "disk" : !b
  %c = task.buffer "c" optimizer init "fill" {} tier "disk" : !b
  %g = task.buffer "g" gradient : !b
  task.kernel "copy" ins(%b : !b) outs(%g : !b) {} micro {scope = "wte", phase = "backward"}
  task.kernel "copy" ins(%g : !b) outs(%a : !b) {} step {scope = "optimizer", phase = "update"}
}
