// RUN: weft-opt %s --weft-precision-tables | FileCheck %s
// The rows come from one copy; a table that is computed is read as it is.
// CHECK-LABEL: weft.graph @rows
// CHECK: %[[W:.*]] = weft.parameter "w"
// CHECK-NEXT: %[[COPY:.*]] = weft.cast %[[W]] to bf16 {scope = "wte"}
// CHECK: %[[ROWS:.*]] = weft.embedding %arg0, %[[COPY]] {scope = "h"} : (tensor<4xi32>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = weft.cast %[[ROWS]] to f32 {scope = "h"}
// CHECK-NEXT: %[[SECOND:.*]] = weft.embedding %arg0, %[[COPY]] :
// CHECK: %[[RELU:.*]] = weft.relu %[[W]]
// CHECK-NEXT: weft.embedding %arg0, %[[RELU]] : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK: weft.output "a" %[[WIDE]]
#one = #weft.placement<"cpu", [], [0]>
weft.graph @rows("ids" %ids: tensor<4xi32>) placements [#one] {
  %w = weft.parameter "w" [8, 8] init(zeros) {scope = "wte"} : () -> tensor<8x8xf32>
  %0 = weft.embedding %ids, %w {scope = "h"} : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.embedding %ids, %w : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = weft.relu %w : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = weft.embedding %ids, %2 : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  weft.output "a" %0 : (tensor<4x8xf32>)
  weft.output "b" %1 : (tensor<4x8xf32>)
  weft.output "c" %3 : (tensor<4x8xf32>)
}
