// RUN: weft-opt %s --weft-shard-infer=broadcast | FileCheck %s
// With `broadcast`, everything is B but what is pinned: the weight is gathered, its result not split.
// CHECK-LABEL: weft.graph @column
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [256, 1024] init(zeros) sbp(tensor = S(1)) : () -> tensor<256x1024xf32, #weft.sbp<S(1)>>
// CHECK-NEXT: %[[BOX:.*]] = weft.box %[[W]] : (tensor<256x1024xf32, #weft.sbp<S(1)>>) -> tensor<256x1024xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[EINSUM:.*]] = weft.einsum "bi,io->bo" %arg0, %[[BOX]] : (tensor<8x256xf32, #weft.sbp<B>>, tensor<256x1024xf32, #weft.sbp<B>>) -> tensor<8x1024xf32, #weft.sbp<B>>
// CHECK-NEXT: %[[RELU:.*]] = weft.relu %[[EINSUM]] : (tensor<8x1024xf32, #weft.sbp<B>>) -> tensor<8x1024xf32, #weft.sbp<B>>
// CHECK-NEXT: weft.output "y" %[[RELU]] : (tensor<8x1024xf32, #weft.sbp<B>>)
// CHECK-NEXT: }
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @column("x" %x: tensor<8x256xf32>) placements [#mesh] {
  %w = weft.parameter "w" [256, 1024] init(zeros) sbp(tensor = S(1)) : () -> tensor<256x1024xf32>
  %0 = weft.einsum "bi,io->bo" %x, %w : (tensor<8x256xf32>, tensor<256x1024xf32>) -> tensor<8x1024xf32>
  %1 = weft.relu %0 : (tensor<8x1024xf32>) -> tensor<8x1024xf32>
  weft.output "y" %1 : (tensor<8x1024xf32>)
}
