// RUN: weft-opt %s --weft-localize | FileCheck %s
// The kernel is told.
// CHECK: task.kernel "einsum" {{.*}}tf32 = 1 : i64
#mesh = #weft.placement<"cuda", [], [0]>
weft.graph @g("x" %x: tensor<4x8xf32, #weft.sbp<>>, "y" %y: tensor<8x4xf32, #weft.sbp<>>) placements [#mesh] {
  %0 = weft.einsum "bi,io->bo" %x, %y {tf32} : (tensor<4x8xf32, #weft.sbp<>>, tensor<8x4xf32, #weft.sbp<>>) -> tensor<4x4xf32, #weft.sbp<>>
  weft.output "z" %0 : (tensor<4x4xf32, #weft.sbp<>>)
}
