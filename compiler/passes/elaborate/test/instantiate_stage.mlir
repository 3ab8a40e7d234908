// RUN: weft-opt %s --weft-elaborate-instantiate | FileCheck %s
// RUN: weft-opt %s --phase-elaborate | FileCheck %s
// RUN: weft-opt %s --phase-elaborate --weft-pipeline-cut=stages=3 | FileCheck %s --check-prefix=CUT
// RUN: weft-opt %s --phase-elaborate --weft-pipeline-cut | FileCheck %s --check-prefix=ONE
// RUN: not weft-opt %s --phase-elaborate --weft-pipeline-cut=stages=2 2>&1 | FileCheck %s --check-prefix=COUNT

// `model.stage` leaves its number on what is placed after it, within calls too.
// CHECK: weft.gelu {{.*}} {scope = "h.0"}
// CHECK: weft.gelu {{.*}} {scope = "h.1"}
// CHECK: weft.gelu {{.*}} {chunk = 1 : i64, scope = "g.0"}
// CHECK: weft.gelu {{.*}} {chunk = 1 : i64, scope = "g.1"}
// CHECK: weft.mul {{.*}} {chunk = 2 : i64}
// CHECK: weft.output {{.*}} {chunk = 2 : i64}

// The cut is made there, though it is uneven and the last begins with an op outside layers.
// CUT: weft.gelu {{.*}} {scope = "h.0"}
// CUT: weft.gelu {{.*}} {scope = "h.1"}
// CUT: weft.gelu {{.*}} {chunk = 1 : i64, scope = "g.0", stage = 1 : i64}
// CUT: weft.gelu {{.*}} {chunk = 1 : i64, scope = "g.1", stage = 1 : i64}
// CUT: weft.parameter "scale" {{.*}} {chunk = 2 : i64, {{.*}}stage = 2 : i64}
// CUT: weft.mul {{.*}} {chunk = 2 : i64, stage = 2 : i64}

// ONE-NOT: chunk

// COUNT: error: 'weft.graph' op model.stage: expected the model to begin 2 stages, got 3{{$}}
model.layer @block(%x) {
  %0 = weft.gelu %x
  model.return %0
}
model.graph @f(%x [4, 8] f32) {
  %0 = model.repeat 2 "h" @block(%x)
  model.stage 1
  %1 = model.repeat 2 "g" @block(%0)
  model.stage 1 + 1
  %w = weft.parameter "scale" [8] init(ones)
  %2 = weft.mul %1, %w
  weft.output "y" %2
}
