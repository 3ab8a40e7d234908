// RUN: weft-opt %s --weft-precision-narrow -split-input-file | FileCheck %s

// From contraction to contraction everything is narrow; what the op is given else is cast where it is first read, with its
// scope, phase and stage; a parameter beside itself, once. What is asked for is float32.
// CHECK-LABEL: weft.graph @chain
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w"
// CHECK-NEXT: %[[W16:.*]] = weft.cast %[[W]] to bf16 {scope = "w"} : (tensor<8x8xf32>) -> tensor<8x8xbf16>
// CHECK-NEXT: %[[B:.*]] = weft.parameter "b"
// CHECK-NEXT: %[[B16:.*]] = weft.cast %[[B]] to bf16 :
// CHECK-NEXT: %[[X16:.*]] = weft.cast %arg0 to bf16 {phase = "backward", scope = "h.0", stage = 0 : i64} :
// CHECK-NEXT: %[[A:.*]] = weft.einsum "bi,io->bo" %[[X16]], %[[W16]] {phase = "backward", scope = "h.0", stage = 0 : i64} : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[A]], %[[B16]] : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
// CHECK-NEXT: %[[GELU:.*]] = weft.gelu %[[ADD]] : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK-NEXT: %[[Y:.*]] = weft.einsum "bi,io->bo" %[[GELU]], %[[W16]] to f32 : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT: weft.output "y" %[[Y]] : (tensor<4x8xf32>)
// CHECK-NEXT: weft.einsum "bi,bj->ij" %[[X16]], %[[GELU]] :
#one = #weft.placement<"cpu", [], [0]>
weft.graph @chain("x" %x: tensor<4x8xf32>) placements [#one] {
  %w = weft.parameter "w" [8, 8] init(zeros) {scope = "w"} : () -> tensor<8x8xf32>
  %b = weft.parameter "b" [8] init(zeros) : () -> tensor<8xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w {phase = "backward", scope = "h.0", stage = 0 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = weft.gelu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = weft.einsum "bi,io->bo" %2, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  weft.output "y" %3 : (tensor<4x8xf32>)
  %4 = weft.einsum "bi,bj->ij" %x, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
}

// -----

// What nobody reads but in float32 is float32 from the contraction on, and an op of several types does not mix them.
// CHECK-LABEL: weft.graph @asked
// CHECK: %[[A:.*]] = weft.einsum "bi,bj->ij" %{{.*}}, %{{.*}} to f32 :
// CHECK-NEXT: %[[SCALE:.*]] = weft.scale %[[A]] by(2.000000e+00) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: weft.exp %[[SCALE]]
// CHECK-NEXT: %[[C:.*]] = weft.einsum "bi,bj->ij" %{{.*}} : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x8xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = weft.cast %[[C]] to f32
// CHECK-NEXT: weft.exp %[[WIDE]]
// CHECK-NEXT: weft.einsum "ij,jk->ik" %[[C]], %[[C]] :
// CHECK-NEXT: %[[SUM:.*]] = weft.reduce sum %[[C]] over [0] to f32 : (tensor<8x8xbf16>) -> tensor<8xf32>
// CHECK-NEXT: weft.accumulate %[[SUM]] : (tensor<8xf32>) -> tensor<8xf32>
#one = #weft.placement<"cpu", [], [0]>
weft.graph @asked("x" %x: tensor<4x8xf32>) placements [#one] {
  %0 = weft.einsum "bi,bj->ij" %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = weft.scale %0 by(2.0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = weft.exp %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = weft.einsum "bi,bj->ij" %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = weft.exp %3 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = weft.einsum "ij,jk->ik" %3, %3 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = weft.reduce sum %3 over [0] : (tensor<8x8xf32>) -> tensor<8xf32>
  %7 = weft.accumulate %6 : (tensor<8xf32>) -> tensor<8xf32>
}

// -----

// What is float32 of itself stays that: an input, beside which an op of one type is float32 too.
// CHECK-LABEL: weft.graph @mixed
// CHECK: %[[A:.*]] = weft.einsum "bi,ij->bj" %{{.*}}, %{{.*}} to f32 :
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[A]], %arg0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[ADD16:.*]] = weft.cast %[[ADD]] to bf16
// CHECK-NEXT: weft.einsum "bi,bj->ij" %[[ADD16]], %[[ADD16]] :
#one = #weft.placement<"cpu", [], [0]>
weft.graph @mixed("x" %x: tensor<4x8xf32>) placements [#one] {
  %w = weft.parameter "w" [8, 8] init(zeros) : () -> tensor<8x8xf32>
  %0 = weft.einsum "bi,ij->bj" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.add %0, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = weft.einsum "bi,bj->ij" %1, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
}

// -----

// A norm reads and writes what it is given, its weights and statistics are float32; so are those of a loss, and the
// gradient of a table.
// CHECK-LABEL: weft.graph @parts
// CHECK: %[[ROWS:.*]] = weft.embedding %arg0, %{{.*}} : (tensor<4xi32>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
// CHECK: weft.layer_norm %[[ROWS]], %{{.*}} : (tensor<4x8xbf16>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xbf16>, tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[LOGITS:.*]] = weft.einsum {{.*}} -> tensor<4x8xbf16>
// CHECK-NEXT: %[[MAX:.*]] = weft.reduce max %[[LOGITS]] over [1] to f32
// CHECK-NEXT: %[[SUM:.*]] = weft.sum_exp %[[LOGITS]], %[[MAX]] : (tensor<4x8xbf16>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[D:.*]] = weft.cross_entropy_grad %{{.*}}, %[[LOGITS]], %[[MAX]], %[[SUM]], %arg0 : (tensor<f32>, tensor<4x8xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x8xbf16>
// CHECK: weft.embedding_grad %arg0, %{{.*}} vocab(8) : (tensor<4xi32>, tensor<4x8xbf16>) -> tensor<8x8xf32>
#one = #weft.placement<"cpu", [], [0]>
weft.graph @parts("ids" %ids: tensor<4xi32>) placements [#one] {
  %w = weft.parameter "w" [8, 8] init(zeros) : () -> tensor<8x8xf32>
  %g = weft.parameter "g" [8] init(ones) : () -> tensor<8xf32>
  %0 = weft.embedding %ids, %w : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1, %mean, %rstd = weft.layer_norm %0, %g, %g eps(1.0e-5) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  %2 = weft.einsum "bi,vi->bv" %1, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = weft.reduce max %2 over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %4 = weft.sum_exp %2, %3 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
  %one = weft.fill [] value(1.0) : () -> tensor<f32>
  %5 = weft.cross_entropy_grad %one, %2, %3, %4, %ids : (tensor<f32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %6 = weft.einsum "bv,vi->bi" %5, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %7 = weft.embedding_grad %ids, %6 vocab(8) : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<8x8xf32>
}

// -----

// Ops of another type stay as they are, and what was cast to float32 is not cast back.
// CHECK-LABEL: weft.graph @narrow
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bi,ci->bc" %arg0, %arg0
// CHECK-NEXT: %[[WIDE:.*]] = weft.cast %[[EINSUM]] to f32
// CHECK-NEXT: weft.einsum "bc,cd->bd" %[[EINSUM]], %[[EINSUM]] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
// CHECK-NEXT: weft.output "y" %[[WIDE]]
#one = #weft.placement<"cpu", [], [0]>
weft.graph @narrow("x" %x: tensor<4x8xbf16>) placements [#one] {
  %0 = weft.einsum "bi,ci->bc" %x, %x : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x4xbf16>
  %1 = weft.cast %0 to f32 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  %2 = weft.einsum "bc,cd->bd" %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  weft.output "y" %1 : (tensor<4x4xf32>)
}

// -----

// Cast once a stage, where it is read.
// CHECK-LABEL: weft.graph @stages
// CHECK-NEXT: %[[FIRST:.*]] = weft.cast %arg0 to bf16 :
// CHECK-NEXT: weft.einsum "bi,ci->bc" %[[FIRST]], %[[FIRST]] :
// CHECK-NEXT: %[[SECOND:.*]] = weft.cast %arg0 to bf16 {stage = 1 : i64} :
// CHECK-NEXT: weft.einsum "bi,ci->bc" %[[SECOND]], %[[SECOND]] {stage = 1 : i64} :
// CHECK-NEXT: weft.einsum "bi,bj->ij" %[[SECOND]], %[[SECOND]] {stage = 1 : i64} :
#first = #weft.placement<"cpu", [], [0]>
#second = #weft.placement<"cpu", [], [1]>
weft.graph @stages("x" %x: tensor<4x8xf32>) placements [#first, #second] {
  %0 = weft.einsum "bi,ci->bc" %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %1 = weft.einsum "bi,ci->bc" %x, %x {stage = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %2 = weft.einsum "bi,bj->ij" %x, %x {stage = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
}

// -----

// A cast that the graph has itself is none where its operand has become of that type.
// CHECK-LABEL: weft.graph @own
// CHECK: %[[A:.*]] = weft.einsum "bi,ci->bc" %{{.*}} -> tensor<4x4xbf16>
// CHECK-NEXT: weft.einsum "bc,cd->bd" %[[A]], %[[A]] :
// CHECK-NEXT: weft.output "y" %[[A]] : (tensor<4x4xbf16>)
#one = #weft.placement<"cpu", [], [0]>
weft.graph @own("x" %x: tensor<4x8xf32>) placements [#one] {
  %0 = weft.einsum "bi,ci->bc" %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %1 = weft.einsum "bc,cd->bd" %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = weft.cast %0 to bf16 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  weft.output "y" %2 : (tensor<4x4xbf16>)
}
