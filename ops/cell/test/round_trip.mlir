// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK-LABEL: cell.kernel @norm domain [4, 8] row 8 strides [array<i64: 8, 1>, array<i64: 8, 1>, array<i64: 0, 1>]
// CHECK-NEXT: ^bb0(%[[X:.*]]: bf16):
cell.kernel @norm domain [4, 8] row 8 strides [array<i64: 8, 1>, array<i64: 8, 1>, array<i64: 0, 1>] {
^bb0(%x: bf16):
  %wide = arith.extf %x : bf16 to f32
  // CHECK: cell.reduce max %{{.*}} : f32
  %max = cell.reduce max %wide : f32
  %0 = arith.subf %wide, %max : f32
  // CHECK: cell.random [8, 1]
  %bits = cell.random [8, 1]
  // CHECK: cell.sum_rows %{{.*}} : f32
  %sum = cell.sum_rows %0 : f32
  %y = arith.truncf %0 : f32 to bf16
  // CHECK: cell.yield %{{.*}}, %{{.*}} : bf16, f32
  cell.yield %y, %sum : bf16, f32
}

// CHECK-LABEL: cell.kernel @scaled batch domain [1] row 1 strides [array<i64: 0>, array<i64: 1>, array<i64: 1>]
cell.kernel @scaled batch domain [1] row 1 strides [array<i64: 0>, array<i64: 1>, array<i64: 1>] {
^bb0(%factor: f32, %x: f32):
  %0 = arith.mulf %x, %factor : f32
  cell.yield %0 : f32
}

// CHECK-LABEL: cell.kernel @part domain [4, 2] row 1 strides [array<i64: 8, 1>, array<i64: 2, 1>] from [6, 0] {
cell.kernel @part domain [4, 2] row 1 strides [array<i64: 8, 1>, array<i64: 2, 1>] from [6, 0] {
^bb0(%x: f32):
  cell.yield %x : f32
}
