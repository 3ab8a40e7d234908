// RUN: weft-opt %s --weft-pipeline-cut=stages=2 -split-input-file -verify-diagnostics
// RUN: not weft-opt %S/files/layers.mlir --weft-pipeline-cut=stages=6 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not weft-opt %S/files/layers.mlir --weft-pipeline-cut="stages=3 chunks=2" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: not weft-opt %S/files/layers.mlir --weft-pipeline-cut="stages=3 cuts=h.1" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not weft-opt %S/files/layers.mlir --weft-pipeline-cut="cuts=h.1" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %S/files/layers.mlir --weft-pipeline-cut="stages=2 cuts=h.7" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not weft-opt %S/files/layers.mlir --weft-pipeline-cut="stages=2 cuts=h.1.attn" 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: not weft-opt %S/files/layers.mlir --weft-pipeline-cut="stages=3 cuts=ln_f,h.1" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not weft-opt %S/files/layers.mlir --weft-pipeline-cut="stages=3 cuts=h.1,h.1" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not weft-opt %S/files/layers.mlir --weft-pipeline-cut="stages=2 cuts=wte" 2>&1 | FileCheck %s --check-prefix=FIRST

// STAGES: dist.pipeline: expected at most 5 stages, as the model may be cut into wte, h.0, h.1, ln_f, head, got 6{{$}}
// CHUNKS: pipeline.chunks: expected at most 5 chunks, as the model may be cut into wte, h.0, h.1, ln_f, head, got 3 x 2{{$}}
// COUNT: pipeline.cuts: expected 2 for 3 chunks, got 1{{$}}
// NONE: pipeline.cuts: expected none where nothing is cut, got 1{{$}}
// UNKNOWN: pipeline.cuts: expected a layer, one of wte, h.0, h.1, ln_f, head, got h.7{{$}}
// INSIDE: pipeline.cuts: expected a layer, one of wte, h.0, h.1, ln_f, head, got h.1.attn, which is inside h.1{{$}}
// ORDER: pipeline.cuts: expected layers in the order of the model, none the first, got h.1 after ln_f{{$}}
// TWICE: pipeline.cuts: expected layers in the order of the model, none the first, got h.1 after h.1{{$}}
// FIRST: pipeline.cuts: expected layers in the order of the model, none the first, got wte after wte{{$}}

#a = #weft.placement<"cpu", [], [0]>
#b = #weft.placement<"cpu", [], [1]>
// expected-error @+1 {{pipeline: expected a graph on one mesh, got 2 placements}}
weft.graph @placed("x" %x: tensor<4xf32>) placements [#a, #b] {
  weft.output "y" %x : (tensor<4xf32>)
}

// -----
// A pin inside a layer.
#a = #weft.placement<"cpu", [], [0]>
weft.graph @inside("x" %x: tensor<4xf32>) placements [#a] {
  %0 = weft.neg %x {scope = "h.0.attn"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{model.stage: expected 1 before a layer, got 1 inside h.0}}
  %1 = weft.neg %0 {scope = "h.0.mlp", chunk = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %1 {scope = "h.1", chunk = 1 : i64} : (tensor<4xf32>)
}

// -----
// A pin that leaves one out.
#a = #weft.placement<"cpu", [], [0]>
weft.graph @skips("x" %x: tensor<4xf32>) placements [#a] {
  %0 = weft.neg %x {scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{model.stage: expected 1 before a layer, got 2}}
  %1 = weft.neg %0 {scope = "h.1", chunk = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %1 {scope = "h.1", chunk = 2 : i64} : (tensor<4xf32>)
}

// -----
// More pins than chunks.
#a = #weft.placement<"cpu", [], [0]>
// expected-error @+1 {{model.stage: expected the model to begin 2 stages, got 3}}
weft.graph @count("x" %x: tensor<4xf32>) placements [#a] {
  %0 = weft.neg %x {scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.neg %0 {scope = "h.1", chunk = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %1 {scope = "h.2", chunk = 2 : i64} : (tensor<4xf32>)
}

// -----
// A mesh for each stage, or none.
#a = #weft.placement<"cpu", [], [0]>
// expected-error @+1 {{pipeline.stages: expected 2 meshes, one a stage, got 1}}
weft.graph @meshes("x" %x: tensor<4xf32>) placements [#a] attributes {weft.meshes = [#a]} {
  %0 = weft.neg %x {scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %0 {scope = "h.1"} : (tensor<4xf32>)
}

// -----
#a = #weft.placement<"cpu", [], [0]>
// expected-error @+1 {{weft.meshes: expected a list of placements, got [1]}}
weft.graph @numbers("x" %x: tensor<4xf32>) placements [#a] attributes {weft.meshes = [1]} {
  weft.output "y" %x : (tensor<4xf32>)
}

// -----
#a = #weft.placement<"cpu", [], [0]>
// expected-error @+1 {{weft.machine: expected a dictionary of rates, got "fast"}}
weft.graph @fast("x" %x: tensor<4xf32>) placements [#a] attributes {weft.machine = "fast"} {
  weft.output "y" %x : (tensor<4xf32>)
}
