// RUN: weft-opt %s --weft-autodiff-prune | FileCheck %s

// A chain that ends nowhere goes as a whole; what an output or an assignment needs stays, and so does a parameter that
// nobody reads.
// CHECK-LABEL: weft.graph @chain
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w"
// CHECK-NEXT: weft.parameter "unread"
// CHECK-NEXT: %[[EXP:.*]] = weft.exp %arg0
// CHECK-NEXT: %[[TANH:.*]] = weft.tanh %[[EXP]]
// CHECK-NEXT: weft.assign %[[W]], %[[TANH]]
// CHECK-NEXT: weft.output "y" %[[EXP]]
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @chain("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %u = weft.parameter "unread" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.square %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = weft.add %2, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = weft.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  weft.assign %w, %4 : (tensor<4xf32>, tensor<4xf32>)
  weft.output "y" %0 : (tensor<4xf32>)
}
