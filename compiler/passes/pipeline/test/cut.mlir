// RUN: weft-opt %s --weft-pipeline-cut=stages=2 -split-input-file -mlir-print-local-scope | FileCheck %s

// Two halves that cost about the same, the embedding and the head counted: the large head is alone. A value goes with what made
// it, a parameter with its first reader. Stage 1 has ranks of its own. Chunk and stage 0 are not written.
// CHECK-LABEL: weft.graph @balanced
// CHECK-SAME: ("x" %arg0: tensor<8x64xf32>) placements [#weft.placement<"cpu", [data = 2], [0, 1]>, #weft.placement<"cpu", [data = 2], [2, 3]>]
// CHECK-NEXT: %0 = weft.parameter "h.0.w" [64, 64] init(zeros) {scope = "h.0.fc"} : () -> tensor<64x64xf32>
// CHECK-NEXT: %1 = weft.parameter "h.1.w" [64, 64] init(zeros) {scope = "h.1.fc"} : () -> tensor<64x64xf32>
// CHECK-NEXT: %2 = weft.parameter "head.w" [64, 160] init(zeros) {chunk = 1 : i64, scope = "head", stage = 1 : i64} : () -> tensor<64x160xf32>
// CHECK-NEXT: %3 = weft.einsum "bi,io->bo" %arg0, %0 {scope = "h.0.fc"} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %4 = weft.relu %3 {scope = "h.0.act"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %5 = weft.einsum "bi,io->bo" %4, %1 {scope = "h.1.fc"} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %6 = weft.einsum "bi,io->bo" %5, %2 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<8x64xf32>, tensor<64x160xf32>) -> tensor<8x160xf32>
// CHECK-NEXT: weft.output "y" %6 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<8x160xf32>)
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @balanced("x" %x: tensor<8x64xf32>) placements [#mesh] {
  %w0 = weft.parameter "h.0.w" [64, 64] init(zeros) {scope = "h.0.fc"} : () -> tensor<64x64xf32>
  %w1 = weft.parameter "h.1.w" [64, 64] init(zeros) {scope = "h.1.fc"} : () -> tensor<64x64xf32>
  %w2 = weft.parameter "head.w" [64, 160] init(zeros) {scope = "head"} : () -> tensor<64x160xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w0 {scope = "h.0.fc"} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = weft.relu %0 {scope = "h.0.act"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = weft.einsum "bi,io->bo" %1, %w1 {scope = "h.1.fc"} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %3 = weft.einsum "bi,io->bo" %2, %w2 {scope = "head"} : (tensor<8x64xf32>, tensor<64x160xf32>) -> tensor<8x160xf32>
  weft.output "y" %3 {scope = "head"} : (tensor<8x160xf32>)
}

// -----
// An op without a scope belongs to what is before it; one without operands is where its first reader is. An op without operands
// that nobody reads is on stage 0.
// CHECK-LABEL: weft.graph @between
// CHECK-SAME: ("x" %arg0: tensor<8x64xf32>) placements [#weft.placement<"cpu", [], [0]>, #weft.placement<"cpu", [], [1]>]
// CHECK-NEXT: %0 = weft.fill [8, 64] value(1.000000e+00) {chunk = 1 : i64, stage = 1 : i64} : () -> tensor<8x64xf32>
// CHECK-NEXT: %1 = weft.fill [8, 64] value(2.000000e+00) : () -> tensor<8x64xf32>
// CHECK-NEXT: %2 = weft.gelu %arg0 {scope = "a"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %3 = weft.neg %2 : (tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %4 = weft.gelu %3 {chunk = 1 : i64, scope = "b", stage = 1 : i64} : (tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %5 = weft.add %4, %0 {chunk = 1 : i64, stage = 1 : i64} : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: weft.output "y" %5 {chunk = 1 : i64, stage = 1 : i64} : (tensor<8x64xf32>)
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @between("x" %x: tensor<8x64xf32>) placements [#mesh] {
  %one = weft.fill [8, 64] value(1.0) : () -> tensor<8x64xf32>
  %two = weft.fill [8, 64] value(2.0) : () -> tensor<8x64xf32>
  %0 = weft.gelu %x {scope = "a"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %1 = weft.neg %0 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = weft.gelu %1 {scope = "b"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %3 = weft.add %2, %one : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  weft.output "y" %3 : (tensor<8x64xf32>)
}

// -----
// A parameter that two chunks read is where the first is, though its layer is called otherwise. An input that two stages read
// becomes an argument on each; one that a later stage alone reads is on that stage.
// CHECK-LABEL: weft.graph @shared
// CHECK-SAME: ("x" %arg0: tensor<8x8xf32>, "mask" %arg1: tensor<8x8xf32>, "late" %arg2: tensor<8x8xf32>, "unread" %arg3: tensor<4xf32>, "mask" %arg4: tensor<8x8xf32>) placements [#weft.placement<"cpu", [], [0]>, #weft.placement<"cpu", [], [1]>] attributes {input_stages = array<i64: 0, 0, 1, 0, 1>}
// CHECK-NEXT: %0 = weft.parameter "wte" [8, 8] init(zeros) {scope = "wte"} : () -> tensor<8x8xf32>
// CHECK-NEXT: %1 = weft.einsum "bi,io->bo" %arg0, %0 {scope = "wte"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %2 = weft.mul %1, %arg1 {scope = "wte"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %3 = weft.mul %2, %arg4 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %4 = weft.add %3, %arg2 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %5 = weft.einsum "bi,io->bo" %4, %0 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: weft.output "y" %5 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<8x8xf32>)
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @shared("x" %x: tensor<8x8xf32>, "mask" %mask: tensor<8x8xf32>, "late" %late: tensor<8x8xf32>, "unread" %u: tensor<4xf32>) placements [#mesh] {
  %w = weft.parameter "wte" [8, 8] init(zeros) {scope = "wte"} : () -> tensor<8x8xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w {scope = "wte"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = weft.mul %0, %mask {scope = "wte"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = weft.mul %1, %mask {scope = "head"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = weft.add %2, %late {scope = "head"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = weft.einsum "bi,io->bo" %3, %w {scope = "head"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  weft.output "y" %4 {scope = "head"} : (tensor<8x8xf32>)
}

// -----
// Pins of `model.stage` come before costs: the chunk that an op has is the one it gets, though the first is now much cheaper.
// CHECK-LABEL: weft.graph @pinned
// CHECK-SAME: ("x" %arg0: tensor<8x64xf32>) placements [#weft.placement<"cpu", [], [0]>, #weft.placement<"cpu", [], [1]>]
// CHECK-NEXT: %0 = weft.parameter "w" [64, 64] init(zeros) {chunk = 1 : i64, stage = 1 : i64} : () -> tensor<64x64xf32>
// CHECK-NEXT: %1 = weft.relu %arg0 {scope = "h.0"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %2 = weft.einsum "bi,io->bo" %1, %0 {chunk = 1 : i64, scope = "h.1", stage = 1 : i64} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %3 = weft.einsum "bi,io->bo" %2, %0 {chunk = 1 : i64, scope = "h.2", stage = 1 : i64} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: weft.output "y" %3 {chunk = 1 : i64, stage = 1 : i64} : (tensor<8x64xf32>)
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @pinned("x" %x: tensor<8x64xf32>) placements [#mesh] {
  %w = weft.parameter "w" [64, 64] init(zeros) {chunk = 1 : i64} : () -> tensor<64x64xf32>
  %0 = weft.relu %x {scope = "h.0"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %1 = weft.einsum "bi,io->bo" %0, %w {scope = "h.1", chunk = 1 : i64} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %2 = weft.einsum "bi,io->bo" %1, %w {scope = "h.2", chunk = 1 : i64} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  weft.output "y" %2 {chunk = 1 : i64} : (tensor<8x64xf32>)
}
