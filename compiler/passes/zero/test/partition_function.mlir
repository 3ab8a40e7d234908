// Of a function that is evaluated between steps of a training what that shares out is `shared`: it lies in shares, and is gathered
// to be read.
// RUN: weft-opt %s --weft-zero-partition=stage=1 | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: weft-opt %s --weft-zero-partition=stage=3 | FileCheck %s --check-prefixes=CHECK,THREE

#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @evaluate("x" %x: tensor<4x8xf32>) placements [#mesh] {
  // CHECK: %[[A:.*]] = weft.parameter "a" [8, 3] init(zeros) sbp(data = S(0)) {scope = "fc"}
  // ONE-NEXT: %[[COPY:.*]] = weft.to_global %[[A]] sbp(data = B) {scope = "fc"}
  // THREE-NEXT: %[[SHARD:.*]] = weft.to_global %[[A]] sbp(data = S(0)) {scope = "fc"}
  %a = weft.parameter "a" [8, 3] init(zeros) {scope = "fc", shared} : () -> tensor<8x3xf32>
  // Others lie as they did.
  // CHECK-NEXT: %[[B:.*]] = weft.parameter "b" [4] init(zeros) : ()
  %b = weft.parameter "b" [4] init(zeros) : () -> tensor<4xf32>
  // THREE-NEXT: %[[COPY:.*]] = weft.to_global %[[SHARD]] sbp(data = B) {on_use, scope = "fc"}
  // CHECK-NEXT: weft.einsum "bi,io->bo" %{{.*}}, %[[COPY]]
  %0 = weft.einsum "bi,io->bo" %x, %a {scope = "fc"} : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %1 = weft.reduce sum %0 over [1] : (tensor<4x3xf32>) -> tensor<4xf32>
  // CHECK: weft.add %{{.*}}, %[[B]]
  %2 = weft.add %1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %2 : (tensor<4xf32>)
}
