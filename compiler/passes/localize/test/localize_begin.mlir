// RUN: weft-opt %s --weft-localize | FileCheck %s

// What depends on parameters alone is computed once a step, before the micro-batches, and kept for them: a cast and what is made of it.
// With `on_use` it is computed for each micro-batch, and so is all that depends on it. What no micro-batch needs is computed after them.
// CHECK: %[[W:.*]] = task.buffer "w" parameter
// CHECK: %[[V:.*]] = task.buffer "v" parameter
// CHECK-NEXT: %[[C:.*]] = task.buffer "cast.0" working :
// CHECK-NEXT: task.kernel "cast" ins(%[[W]] {{.*}} outs(%[[C]] {{.*}} begin
// CHECK-NEXT: %[[D:.*]] = task.buffer "cast.1" activation :
// CHECK-NEXT: task.kernel "cast" ins(%[[V]] {{.*}} outs(%[[D]] {{.*}} micro
// CHECK-NEXT: %[[N:.*]] = task.buffer "neg.2" working :
// CHECK-NEXT: task.kernel "neg" ins(%[[C]] {{.*}} outs(%[[N]] {{.*}} begin
// CHECK-NEXT: %[[M:.*]] = task.buffer "add.3" activation :
// CHECK-NEXT: task.kernel "add" ins(%[[N]], %[[D]] {{.*}} outs(%[[M]] {{.*}} micro
// CHECK: task.kernel "einsum" ins({{.*}}, %[[M]] {{.*}} micro
// CHECK: task.kernel "neg" ins(%[[W]] {{.*}} step
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @begin("x" %x: tensor<4x8xbf16, #weft.sbp<>>) placements [#mesh] {
  %w = weft.parameter "w" [8, 2] init(zeros) : () -> tensor<8x2xf32, #weft.sbp<>>
  %v = weft.parameter "v" [8, 2] init(zeros) : () -> tensor<8x2xf32, #weft.sbp<>>
  %c = weft.cast %w to bf16 : (tensor<8x2xf32, #weft.sbp<>>) -> tensor<8x2xbf16, #weft.sbp<>>
  %d = weft.cast %v to bf16 {on_use} : (tensor<8x2xf32, #weft.sbp<>>) -> tensor<8x2xbf16, #weft.sbp<>>
  %n = weft.neg %c : (tensor<8x2xbf16, #weft.sbp<>>) -> tensor<8x2xbf16, #weft.sbp<>>
  %m = weft.add %n, %d : (tensor<8x2xbf16, #weft.sbp<>>, tensor<8x2xbf16, #weft.sbp<>>) -> tensor<8x2xbf16, #weft.sbp<>>
  %0 = weft.einsum "bi,io->bo" %x, %m to f32 : (tensor<4x8xbf16, #weft.sbp<>>, tensor<8x2xbf16, #weft.sbp<>>) -> tensor<4x2xf32, #weft.sbp<>>
  %1 = weft.accumulate %0 : (tensor<4x2xf32, #weft.sbp<>>) -> tensor<4x2xf32, #weft.sbp<>>
  %u = weft.neg %w : (tensor<8x2xf32, #weft.sbp<>>) -> tensor<8x2xf32, #weft.sbp<>>
  weft.output "u" %u : (tensor<8x2xf32, #weft.sbp<>>)
  weft.output "y" %1 : (tensor<4x2xf32, #weft.sbp<>>)
}
