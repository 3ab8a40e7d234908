// RUN: weft-opt %s --weft-shard-infer -split-input-file | FileCheck %s

// What a forward and a backward read is the forward's, though the sum that reads it there stands behind the backward. So
// are the cast that a pass made for the backward, and the box in front of it.
// CHECK-LABEL: weft.graph @phases
// CHECK: %[[COUNT:.*]] = weft.reduce sum {{.*}} -> tensor<f32, #weft.sbp<P>>
// CHECK-NEXT: %[[BOX:.*]] = weft.box %[[COUNT]] {scope = "sum"} :
// CHECK-NEXT: %[[NARROW:.*]] = weft.cast %[[BOX]] to bf16 {scope = "sum"} :
// CHECK-NEXT: weft.neg
// CHECK-NEXT: weft.exp %[[NARROW]] {phase = "backward"}
// CHECK: weft.accumulate %[[NARROW]] sbp(data = B) {scope = "sum"}
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @phases("x" %x: tensor<4096x1024xf32>) placements [#mesh] micro_batches 2 {
  %count = weft.reduce sum %x over [0, 1] : (tensor<4096x1024xf32>) -> tensor<f32>
  %between = weft.neg %x {phase = "backward"} : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %narrow = weft.cast %count to bf16 {phase = "backward"} : (tensor<f32>) -> tensor<bf16>
  %gradient = weft.exp %narrow {phase = "backward"} : (tensor<bf16>) -> tensor<bf16>
  %0 = weft.accumulate %between {phase = "backward"} : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %1 = weft.accumulate %gradient {phase = "backward"} : (tensor<bf16>) -> tensor<bf16>
  %2 = weft.accumulate %narrow sbp(data = B) {scope = "sum"} : (tensor<bf16>) -> tensor<bf16>
  weft.output "between" %0 : (tensor<4096x1024xf32>)
  weft.output "gradient" %1 : (tensor<bf16>)
  weft.output "count" %2 : (tensor<bf16>)
}

// -----
// Of two chunks the forward of the first comes first, and the backward of the second.
// CHECK-LABEL: weft.graph @chunks
// CHECK: weft.box {{.*}} {scope = "first"} : (tensor<f32, #weft.sbp<P>>) -> tensor<f32, #weft.sbp<B>>
// CHECK: weft.box {{.*}} {chunk = 1 : i64, phase = "backward", scope = "second"} : (tensor<f32, #weft.sbp<P>>) -> tensor<f32, #weft.sbp<B>>
#mesh = #weft.placement<"cpu", [data = 2], [0, 1]>
weft.graph @chunks("x" %x: tensor<4096x1024xf32>) placements [#mesh] micro_batches 2 {
  %a = weft.reduce sum %x over [0, 1] : (tensor<4096x1024xf32>) -> tensor<f32>
  %0 = weft.exp %a {chunk = 1 : i64} : (tensor<f32>) -> tensor<f32>
  %b = weft.reduce sum %x over [0, 1] {chunk = 1 : i64, phase = "backward"} : (tensor<4096x1024xf32>) -> tensor<f32>
  %1 = weft.exp %b {phase = "backward"} : (tensor<f32>) -> tensor<f32>
  %2 = weft.accumulate %0 {chunk = 1 : i64} : (tensor<f32>) -> tensor<f32>
  %3 = weft.accumulate %1 {phase = "backward"} : (tensor<f32>) -> tensor<f32>
  %4 = weft.accumulate %a sbp(data = B) {scope = "first"} : (tensor<f32>) -> tensor<f32>
  %5 = weft.accumulate %b sbp(data = B) {chunk = 1 : i64, phase = "backward", scope = "second"} : (tensor<f32>) -> tensor<f32>
  weft.output "a" %2 : (tensor<f32>)
  weft.output "b" %3 : (tensor<f32>)
  weft.output "c" %4 : (tensor<f32>)
  weft.output "d" %5 : (tensor<f32>)
}
