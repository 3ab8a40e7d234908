// Which dimension is split, and what is left alone.
// RUN: weft-opt %s --weft-zero-partition=stage=1 -split-input-file | FileCheck %s

// The first dimension that data divides (`a`: not 3, not 5) and that no other axis cuts (`b`); a pin of the model to
// that axis stays (`c`); what no dimension lets split stays whole (`d`), and so does what nothing updates (`e`).
// CHECK-LABEL: weft.graph @dimensions
// CHECK: weft.parameter "a" [3, 5, 8] init(zeros) sbp(data = S(2), tensor = B)
// CHECK: weft.parameter "b" [8, 4] init(zeros) sbp(data = S(1), tensor = S(0))
// CHECK: weft.parameter "c" [8, 4] init(zeros) sbp(data = S(1)) :
// CHECK: weft.parameter "d" [6] init(zeros) :
// CHECK: weft.parameter "e" [8] init(zeros) :
#mesh = #weft.placement<"cpu", [data = 4, tensor = 2], [0, 1, 2, 3, 4, 5, 6, 7]>
weft.graph @dimensions("g" %g: tensor<f32>) placements [#mesh] {
  %a = weft.parameter "a" [3, 5, 8] init(zeros) : () -> tensor<3x5x8xf32>
  %b = weft.parameter "b" [8, 4] init(zeros) sbp(tensor = S(0)) : () -> tensor<8x4xf32>
  %c = weft.parameter "c" [8, 4] init(zeros) sbp(data = S(1)) : () -> tensor<8x4xf32>
  %d = weft.parameter "d" [6] init(zeros) : () -> tensor<6xf32>
  %e = weft.parameter "e" [8] init(zeros) : () -> tensor<8xf32>
  %ga = weft.fill [3, 5, 8] value(1.0) : () -> tensor<3x5x8xf32>
  %gb = weft.fill [8, 4] value(1.0) : () -> tensor<8x4xf32>
  %gd = weft.fill [6] value(1.0) : () -> tensor<6xf32>
  %na = weft.sgd %a, %ga, %g, %g weight_decay(0.0) : (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<f32>, tensor<f32>) -> tensor<3x5x8xf32>
  %nb = weft.sgd %b, %gb, %g, %g weight_decay(0.0) : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> tensor<8x4xf32>
  %nc = weft.sgd %c, %gb, %g, %g weight_decay(0.0) : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> tensor<8x4xf32>
  %nd = weft.sgd %d, %gd, %g, %g weight_decay(0.0) : (tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<f32>) -> tensor<6xf32>
  weft.assign %a, %na : (tensor<3x5x8xf32>, tensor<3x5x8xf32>)
  weft.assign %b, %nb : (tensor<8x4xf32>, tensor<8x4xf32>)
  weft.assign %c, %nc : (tensor<8x4xf32>, tensor<8x4xf32>)
  weft.assign %d, %nd : (tensor<6xf32>, tensor<6xf32>)
  weft.output "e" %e : (tensor<8xf32>)
}

// -----

// A mesh without an axis that may be shared over is left as it is, raw ranks too.
// CHECK-LABEL: weft.graph @others
// CHECK-NEXT: weft.parameter "w" [8] init(zeros) :
// CHECK-NEXT: weft.fill
// CHECK-NEXT: weft.accumulate %{{[0-9a-z]+}} :
// CHECK-NEXT: weft.sgd
#others = #weft.placement<"cpu", [expert = 2, context = 2, tensor = 2], [0, 1, 2, 3, 4, 5, 6, 7]>
weft.graph @others("g" %g: tensor<f32>) placements [#others] {
  %w = weft.parameter "w" [8] init(zeros) : () -> tensor<8xf32>
  %0 = weft.fill [8] value(1.0) : () -> tensor<8xf32>
  %1 = weft.accumulate %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = weft.sgd %w, %1, %g, %g weight_decay(0.0) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  weft.assign %w, %2 : (tensor<8xf32>, tensor<8xf32>)
}

// -----

// CHECK-LABEL: weft.graph @raw
// CHECK-NEXT: weft.parameter "w" [8] init(zeros) :
#raw = #weft.placement<"cpu", [_0 = 2], [0, 1]>
weft.graph @raw("g" %g: tensor<f32>) placements [#raw] {
  %w = weft.parameter "w" [8] init(zeros) : () -> tensor<8xf32>
  %0 = weft.fill [8] value(1.0) : () -> tensor<8xf32>
  %2 = weft.sgd %w, %0, %g, %g weight_decay(0.0) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  weft.assign %w, %2 : (tensor<8xf32>, tensor<8xf32>)
}

// -----

// A reader on a stage without data ranks gets the whole; on one whose ranks do not divide the dimension too. There the
// sum of the gradient stays unpinned.
// CHECK-LABEL: weft.graph @stages
// CHECK: %[[W:.*]] = weft.parameter "w" [8] init(zeros) sbp(data = S(0))
// CHECK-DAG: weft.to_global %[[W]] sbp(tensor = B) {stage = 1 : i64}
// CHECK-DAG: weft.to_global %[[W]] sbp(data = B) {stage = 2 : i64}
// CHECK: weft.accumulate %{{[0-9a-z]+}} {stage = 1 : i64}
// CHECK: weft.accumulate %{{[0-9a-z]+}} sbp(data = P) {stage = 2 : i64}
#two = #weft.placement<"cpu", [data = 2], [0, 1]>
#tensor = #weft.placement<"cpu", [tensor = 2], [2, 3]>
#three = #weft.placement<"cpu", [data = 3], [4, 5, 6]>
weft.graph @stages("x" %x: tensor<8xf32>, "g" %g: tensor<f32>) placements [#two, #tensor, #three] {
  %w = weft.parameter "w" [8] init(zeros) : () -> tensor<8xf32>
  %0 = weft.mul %x, %w {stage = 1 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = weft.mul %0, %w {stage = 2 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = weft.accumulate %0 {stage = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = weft.accumulate %1 {stage = 2 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %4 = weft.add %2, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = weft.sgd %w, %4, %g, %g weight_decay(0.0) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  weft.assign %w, %5 : (tensor<8xf32>, tensor<8xf32>)
}
