// Random ops draw apart from each other, and the same after an edit elsewhere.
// RUN: weft-opt %s --weft-elaborate-instantiate=graph=before > %t.before
// RUN: weft-opt %s --weft-elaborate-instantiate=graph=after > %t.after
// RUN: cat %t.before %t.after | FileCheck %s

model.layer @noisy(%x) {
  %1 = weft.dropout %x rate(0.5)
  %2 = weft.dropout %1 rate(0.5)
  %n = weft.random_normal [4] mean(0) std(1)
  %3 = weft.add %2, %n
  model.return %3
}

// CHECK-LABEL: @before
// CHECK: dropout {{.*}} seed([[#A:]]) {scope = "a"}
// CHECK: dropout {{.*}} seed([[#B:]]) {scope = "a"}
// CHECK: random_normal {{.*}} seed([[#N:]])
// CHECK: random_uniform {{.*}} seed(7)
model.graph @before(%x [4] f32) {
  %0 = model.call @noisy "a" (%x)
  %u = weft.random_uniform [4] low(0) high(1) seed(7)
}

// CHECK-LABEL: @after
// CHECK-NOT: seed([[#A]]) {scope = "other"}
// CHECK: dropout {{.*}} {scope = "other"}
// CHECK-NOT: seed([[#B]]) {scope = "other"}
// CHECK: dropout {{.*}} {scope = "other"}
// CHECK: dropout {{.*}} seed([[#A]]) {scope = "a"}
// CHECK-NOT: seed([[#A]])
// CHECK: dropout {{.*}} seed([[#B]]) {scope = "a"}
// CHECK: random_normal {{.*}} seed([[#N]])
model.graph @after(%x [4] f32) {
  %0 = model.call @noisy "other" (%x)
  %1 = weft.tanh %0
  %2 = model.call @noisy "a" (%1)
}
