// What the module says of the target becomes the graph's: its mesh, the meshes of several stages, the rates.
// RUN: weft-opt %s --weft-elaborate-infer -split-input-file | FileCheck %s

// CHECK:      module {
// CHECK-NEXT: weft.graph @one() placements [#weft.placement<"cuda", [data = 3, tensor = 2], [0, 1, 2, 3, 4, 5]>] attributes {weft.machine = {node_ranks = 8 : i64}} {
module attributes {weft.meshes = [#weft.placement<"cuda", [data = 3, tensor = 2], [0, 1, 2, 3, 4, 5]>], weft.machine = {node_ranks = 8}} {
  model.graph @one() {}
}

// -----
// Of several meshes the graph has the axes of any, in their order, and keeps the list.
// CHECK:      module {
// CHECK-NEXT: weft.graph @stages() placements [#weft.placement<"cpu", [data = 2, context = 2, tensor = 2], [0, 1, 2, 3, 4, 5, 6, 7]>]
// CHECK-SAME: attributes {weft.meshes = [#weft.placement<"cpu", [tensor = 2], [0, 1]>, #weft.placement<"cpu", [data = 2, context = 2], [2, 3, 4, 5]>, #weft.placement<"cpu", [], [6]>]} {
module attributes {weft.meshes = [#weft.placement<"cpu", [tensor = 2], [0, 1]>, #weft.placement<"cpu", [data = 2, context = 2], [2, 3, 4, 5]>, #weft.placement<"cpu", [], [6]>]} {
  model.graph @stages() {}
}
