// RUN: weft-opt %s --weft-shard-infer -split-input-file | FileCheck %s
// A column split and a row split, from the pins of two weights: what is between them is split too, the result of the
// second is a pending sum, and it is summed once.
// CHECK-LABEL: weft.graph @column_row
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w1" [256, 1024] init(zeros) sbp(tensor = S(1)) : () -> tensor<256x1024xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: %[[B:.*]] = weft.parameter "b1" [1024] init(zeros) sbp(tensor = S(0)) : () -> tensor<1024xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[W1:.*]] = weft.parameter "w2" [1024, 256] init(zeros) sbp(tensor = S(0)) : () -> tensor<1024x256xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[B1:.*]] = weft.parameter "b2" [256] init(zeros) : () -> tensor<256xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bsi,io->bso" %arg0, %[[W]] : (tensor<8x64x256xf32, #weft.sbp<B>>, tensor<256x1024xf32, #weft.sbp<S(1)>>) -> tensor<8x64x1024xf32, #weft.sbp<S(2)>>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[EINSUM]], %[[B]] : (tensor<8x64x1024xf32, #weft.sbp<S(2)>>, tensor<1024xf32, #weft.sbp<S(0)>>) -> tensor<8x64x1024xf32, #weft.sbp<S(2)>>
// CHECK-NEXT: %[[GELU:.*]] = weft.gelu %[[ADD]] : (tensor<8x64x1024xf32, #weft.sbp<S(2)>>) -> tensor<8x64x1024xf32, #weft.sbp<S(2)>>
// CHECK-NEXT: %[[EINSUM1:.*]] = weft.einsum "bsi,io->bso" %[[GELU]], %[[W1]] : (tensor<8x64x1024xf32, #weft.sbp<S(2)>>, tensor<1024x256xf32, #weft.sbp<S(0)>>) -> tensor<8x64x256xf32, #weft.sbp<P>>
// CHECK-NEXT: %[[BOX:.*]] = weft.box %[[EINSUM1]] : (tensor<8x64x256xf32, #weft.sbp<P>>) -> tensor<8x64x256xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[ADD1:.*]] = weft.add %[[BOX]], %[[B1]] : (tensor<8x64x256xf32, #weft.sbp<S(0)>>, tensor<256xf32, #weft.sbp<B>>) -> tensor<8x64x256xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[RESULT:.*]] = weft.layer_norm %[[ADD1]], %[[B1]], %[[B1]] eps(1.000000e-05) : (tensor<8x64x256xf32, #weft.sbp<S(0)>>, tensor<256xf32, #weft.sbp<B>>, tensor<256xf32, #weft.sbp<B>>) -> tensor<8x64x256xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[RESULT]] : (tensor<8x64x256xf32, #weft.sbp<S(0)>>) -> tensor<8x64x256xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "y" %[[BOX1]] : (tensor<8x64x256xf32, #weft.sbp<B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @column_row("x" %x: tensor<8x64x256xf32>) placements [#mesh] {
  %w1 = weft.parameter "w1" [256, 1024] init(zeros) sbp(tensor = S(1)) : () -> tensor<256x1024xf32>
  %b1 = weft.parameter "b1" [1024] init(zeros) sbp(tensor = S(0)) : () -> tensor<1024xf32>
  %w2 = weft.parameter "w2" [1024, 256] init(zeros) sbp(tensor = S(0)) : () -> tensor<1024x256xf32>
  %b2 = weft.parameter "b2" [256] init(zeros) : () -> tensor<256xf32>
  %0 = weft.einsum "bsi,io->bso" %x, %w1 : (tensor<8x64x256xf32>, tensor<256x1024xf32>) -> tensor<8x64x1024xf32>
  %1 = weft.add %0, %b1 : (tensor<8x64x1024xf32>, tensor<1024xf32>) -> tensor<8x64x1024xf32>
  %2 = weft.gelu %1 : (tensor<8x64x1024xf32>) -> tensor<8x64x1024xf32>
  %3 = weft.einsum "bsi,io->bso" %2, %w2 : (tensor<8x64x1024xf32>, tensor<1024x256xf32>) -> tensor<8x64x256xf32>
  %4 = weft.add %3, %b2 : (tensor<8x64x256xf32>, tensor<256xf32>) -> tensor<8x64x256xf32>
  %5 = weft.layer_norm %4, %b2, %b2 eps(1.0e-5) : (tensor<8x64x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<8x64x256xf32>
  %6 = weft.to_global %5 sbp(tensor = B) : (tensor<8x64x256xf32>) -> tensor<8x64x256xf32>
  weft.output "y" %6 : (tensor<8x64x256xf32>)
}

// -----
// Pins of weft.to_global are honoured by boxes before it, by name and by position; then the op is gone.
// CHECK-LABEL: weft.graph @pins
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0), B>>) -> tensor<8x4xf32, #weft.sbp<B, S(1)>>
// CHECK-NEXT: %[[BOX1:.*]] = weft.box %[[BOX]] : (tensor<8x4xf32, #weft.sbp<B, S(1)>>) -> tensor<8x4xf32, #weft.sbp<P, S(0)>>
// CHECK-NEXT: %[[BOX2:.*]] = weft.box %[[BOX1]] : (tensor<8x4xf32, #weft.sbp<P, S(0)>>) -> tensor<8x4xf32, #weft.sbp<B, B>>
// CHECK-NEXT: weft.output "y" %[[BOX2]] : (tensor<8x4xf32, #weft.sbp<B, B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>
weft.graph @pins("x" %x: tensor<8x4xf32>) placements [#mesh] {
  %0 = weft.to_global %x sbp(tensor = S(1)) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = weft.to_global %0 sbp(P, S(0)) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = weft.to_global %1 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  weft.output "y" %2 : (tensor<8x4xf32>)
}

// -----
// A mesh of raw ranks has positions for names; a pin for an axis of the job that this mesh lacks means nothing.
// CHECK-LABEL: weft.graph @positional
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [8, 4] init(zeros) sbp(S(0), S(0)) : () -> tensor<8x4xf32, #weft.sbp<S(0), S(0)>>
// CHECK-NEXT: %[[V:.*]] = weft.parameter "v" [8, 4] init(zeros) sbp(tensor = S(0)) : () -> tensor<8x4xf32, #weft.sbp<B, B>>
// CHECK-NEXT: %[[BOX:.*]] = weft.box %[[W]] : (tensor<8x4xf32, #weft.sbp<S(0), S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0), S(1)>>
// CHECK-NEXT: weft.output "w" %[[BOX]] : (tensor<8x4xf32, #weft.sbp<S(0), S(1)>>)
// CHECK-NEXT: weft.output "v" %[[V]] : (tensor<8x4xf32, #weft.sbp<B, B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [_0 = 2, _1 = 2], [0, 1, 2, 3]>
weft.graph @positional("x" %x: tensor<8x4xf32>) placements [#mesh] {
  %w = weft.parameter "w" [8, 4] init(zeros) sbp(S(0), S(0)) : () -> tensor<8x4xf32>
  %v = weft.parameter "v" [8, 4] init(zeros) sbp(tensor = S(0)) : () -> tensor<8x4xf32>
  %0 = weft.to_global %w sbp(S(0), S(1)) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  weft.output "w" %0 : (tensor<8x4xf32>)
  %1 = weft.to_global %v : (tensor<8x4xf32>) -> tensor<8x4xf32>
  weft.output "v" %1 : (tensor<8x4xf32>)
}

// -----
// Inputs are split along dimension 0 over the axis data and along dimension 1 over context, where they have one.
// CHECK-LABEL: weft.graph @inputs
// CHECK-NEXT: weft.output "x" %arg0 : (tensor<4x8xf32, #weft.sbp<S(0), S(1)>>)
// CHECK-NEXT: weft.output "l" %arg1 : (tensor<4xf32, #weft.sbp<S(0), B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2, context = 2], [0, 1, 2, 3]>
weft.graph @inputs("x" %x: tensor<4x8xf32>, "l" %l: tensor<4xf32>) placements [#mesh] {
  weft.output "x" %x : (tensor<4x8xf32>)
  weft.output "l" %l : (tensor<4xf32>)
}

// -----
// A metric is a number that every rank has, however it was made.
// CHECK-LABEL: weft.graph @metric
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce sum %arg0 over [0, 1] : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<f32, #weft.sbp<P>>
// CHECK-NEXT: %[[BOX:.*]] = weft.box %[[REDUCE]] : (tensor<f32, #weft.sbp<P>>) -> tensor<f32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "sum" metric %[[BOX]] : (tensor<f32, #weft.sbp<B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @metric("x" %x: tensor<8x4xf32>) placements [#mesh] {
  %0 = weft.reduce sum %x over [0, 1] : (tensor<8x4xf32>) -> tensor<f32>
  weft.output "sum" metric %0 : (tensor<f32>)
}

// -----
// One box for all readers that want the same.
// CHECK-LABEL: weft.graph @shared_box
// CHECK-NEXT: %[[BOX:.*]] = weft.box %arg0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "a" %[[BOX]] : (tensor<8x4xf32, #weft.sbp<B>>)
// CHECK-NEXT: weft.output "b" %[[BOX]] : (tensor<8x4xf32, #weft.sbp<B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @shared_box("x" %x: tensor<8x4xf32>) placements [#mesh] {
  %0 = weft.to_global %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = weft.to_global %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  weft.output "a" %0 : (tensor<8x4xf32>)
  weft.output "b" %1 : (tensor<8x4xf32>)
}

// -----
// A value of another placement arrives in a box of its reader's stage.
// CHECK-LABEL: weft.graph @placements
// CHECK-NEXT: %[[NEG:.*]] = weft.neg %arg0 : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>
// CHECK-NEXT: %[[BOX:.*]] = weft.box %[[NEG]] {stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: weft.output "y" %[[BOX]] {stage = 1 : i64} : (tensor<8x4xf32, #weft.sbp<S(1)>>)
// CHECK-NEXT: }
#a = #weft.placement<"cpu", [data = 2], [0, 1]>
#b = #weft.placement<"cpu", [data = 2], [2, 3]>
weft.graph @placements("x" %x: tensor<8x4xf32>) placements [#a, #b] {
  %0 = weft.neg %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = weft.to_global %0 sbp(data = S(1)) placement("cpu", [2, 3]) {stage = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  weft.output "y" %1 {stage = 1 : i64} : (tensor<8x4xf32>)
}

// -----
// A split parameter is left split, although to gather this one would be cheaper than to gather the result: the split is a
// wish for its memory.
// CHECK-LABEL: weft.graph @split_parameter
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [64, 64] init(zeros) sbp(tensor = S(1)) : () -> tensor<64x64xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bi,io->bo" %arg0, %[[W]] : (tensor<4096x64xf32, #weft.sbp<B>>, tensor<64x64xf32, #weft.sbp<S(1)>>) -> tensor<4096x64xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: %[[BOX:.*]] = weft.box %[[EINSUM]] : (tensor<4096x64xf32, #weft.sbp<S(1)>>) -> tensor<4096x64xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "y" %[[BOX]] : (tensor<4096x64xf32, #weft.sbp<B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @split_parameter("x" %x: tensor<4096x64xf32>) placements [#mesh] {
  %w = weft.parameter "w" [64, 64] init(zeros) sbp(tensor = S(1)) : () -> tensor<64x64xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<4096x64xf32>, tensor<64x64xf32>) -> tensor<4096x64xf32>
  %1 = weft.to_global %0 : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  weft.output "y" %1 : (tensor<4096x64xf32>)
}
