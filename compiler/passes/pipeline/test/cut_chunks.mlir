// RUN: weft-opt %s --weft-pipeline-cut="stages=2 chunks=2" -mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,LOOP
// RUN: weft-opt %s --weft-pipeline-cut="stages=2 chunks=2 v-shape" -mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,V
// RUN: weft-opt %s --weft-pipeline-cut="stages=1 chunks=2" -mlir-print-local-scope | FileCheck %s --check-prefix=ONE
// RUN: weft-opt %s --weft-pipeline-cut="stages=2 cuts=h.1" -mlir-print-local-scope | FileCheck %s --check-prefix=EARLY
// RUN: weft-opt %s --weft-pipeline-cut="stages=3 cuts=h.2,out" -mlir-print-local-scope | FileCheck %s --check-prefix=THREE
// RUN: sed 's/placements .#mesh./& attributes {weft.meshes = [#mesh, #wide]}/' %s | weft-opt --weft-pipeline-cut="stages=2" -mlir-print-local-scope | FileCheck %s --check-prefix=MESHES

// Several chunks a stage go round: chunk c on stage c mod 2. In a V they come back: 0, 1, 1, 0.
// CHECK-LABEL: weft.graph @chunks
// CHECK-SAME: placements [#weft.placement<"cpu", [tensor = 2], [0, 1]>, #weft.placement<"cpu", [tensor = 2], [2, 3]>]
// CHECK: weft.gelu %arg0 {scope = "h.0"}
// CHECK: weft.gelu {{.*}} {chunk = 1 : i64, scope = "h.1", stage = 1 : i64}
// LOOP: weft.gelu {{.*}} {chunk = 2 : i64, scope = "h.2"}
// LOOP: weft.gelu {{.*}} {chunk = 3 : i64, scope = "h.3", stage = 1 : i64}
// LOOP: weft.output {{.*}} {chunk = 3 : i64, scope = "out", stage = 1 : i64}
// V: weft.gelu {{.*}} {chunk = 2 : i64, scope = "h.2", stage = 1 : i64}
// V: weft.gelu {{.*}} {chunk = 3 : i64, scope = "h.3"}
// V: weft.output {{.*}} {chunk = 3 : i64, scope = "out"}

// One stage may have several chunks too.
// ONE: placements [#weft.placement<"cpu", [tensor = 2], [0, 1]>]
// ONE: weft.gelu {{.*}} {scope = "h.1"}
// ONE: weft.gelu {{.*}} {chunk = 1 : i64, scope = "h.2"}

// Cuts say where chunks begin, however uneven.
// EARLY: weft.gelu %arg0 {scope = "h.0"}
// EARLY: weft.gelu {{.*}} {chunk = 1 : i64, scope = "h.1", stage = 1 : i64}
// EARLY: weft.gelu {{.*}} {chunk = 1 : i64, scope = "h.2", stage = 1 : i64}
// EARLY: weft.gelu {{.*}} {chunk = 1 : i64, scope = "h.3", stage = 1 : i64}
// THREE: placements [#weft.placement<"cpu", [tensor = 2], [0, 1]>, #weft.placement<"cpu", [tensor = 2], [2, 3]>, #weft.placement<"cpu", [tensor = 2], [4, 5]>]
// THREE: weft.gelu {{.*}} {scope = "h.1"}
// THREE: weft.gelu {{.*}} {chunk = 1 : i64, scope = "h.2", stage = 1 : i64}
// THREE: weft.gelu {{.*}} {chunk = 1 : i64, scope = "h.3", stage = 1 : i64}
// THREE: weft.output {{.*}} {chunk = 2 : i64, scope = "out", stage = 2 : i64}

// A mesh a stage, on ranks that go on from stage to stage; the list is used up.
// MESHES: placements [#weft.placement<"cpu", [tensor = 2], [0, 1]>, #weft.placement<"cpu", [data = 4], [2, 3, 4, 5]>] {
#wide = #weft.placement<"cpu", [data = 4], [0, 1, 2, 3]>
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @chunks("x" %x: tensor<8x64xf32>) placements [#mesh] {
  %0 = weft.gelu %x {scope = "h.0"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %1 = weft.gelu %0 {scope = "h.1"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = weft.gelu %1 {scope = "h.2"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %3 = weft.gelu %2 {scope = "h.3"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  weft.output "y" %3 {scope = "out"} : (tensor<8x64xf32>)
}
