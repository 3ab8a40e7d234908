// An axis that nothing uses is an error: its ranks would compute what others compute.
// RUN: not weft-opt %s --phase-elaborate=keys=model.graph=plain,dist.expert=2 2>&1 | FileCheck %s --check-prefix=EXPERT
// RUN: not weft-opt %s --phase-elaborate=keys=model.graph=plain,dist.expert=3 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not weft-opt %s --phase-elaborate=keys=model.graph=plain,dist.tensor=2 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not weft-opt %s --phase-elaborate=keys=model.graph=plain,dist.context=2 2>&1 | FileCheck %s --check-prefix=CONTEXT
// RUN: not weft-opt %s --phase-elaborate=keys=model.graph=nothing,dist.data=2,batch.micro=2 2>&1 | FileCheck %s --check-prefix=DATA
// RUN: not weft-opt %s --phase-elaborate="keys=model.graph=plain,dist.pipeline=2,pipeline={stages: {data: 2} stages: {tensor: 2}},batch.micro=2" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: weft-opt %s --phase-elaborate=keys=model.graph=plain,dist.data=2,batch.micro=2 | FileCheck %s --check-prefix=SPLIT
// RUN: weft-opt %s --phase-elaborate=keys=model.graph=rows,dist.context=2 | FileCheck %s --check-prefix=ROWS
// RUN: weft-opt %s --phase-elaborate=keys=model.graph=pinned,dist.expert=2,dist.tensor=2,dist.context=2 | FileCheck %s --check-prefix=PINNED
// RUN: weft-opt %s --phase-elaborate=keys=model.graph=plain,zero.stage=1,zero.group=2,dist.data=4,batch.micro=4 | FileCheck %s --check-prefix=SHARD

// EXPERT: place_unused.mlir:[[#PLAIN:]]:1: error: dist.expert: expected 1, as nothing in @plain uses the axis, got 2: leave the key out, or pin a tensor to it, as in sbp(expert = S(0)){{$}}
// THREE: error: dist.expert: expected 1, as nothing in @plain uses the axis, got 3:
// TENSOR: error: dist.tensor: expected 1, as nothing in @plain uses the axis, got 2:
// No input has a dimension that the axis would split.
// CONTEXT: error: dist.context: expected 1, as nothing in @plain uses the axis, got 2:
// DATA: error: dist.data: expected 1, as nothing in @nothing uses the axis, got 2:
// STAGES: error: pipeline.stages.tensor: expected 1, as nothing in @plain uses the axis, got 2:
// SPLIT: placements [#weft.placement<"cpu", [data = 2], [0, 1]>]
// ROWS: placements [#weft.placement<"cpu", [context = 2], [0, 1]>]
// PINNED: placements [#weft.placement<"cpu", [expert = 2, context = 2, tensor = 2], [0, 1, 2, 3, 4, 5, 6, 7]>]
// SHARD: placements [#weft.placement<"cpu", [data = 2, shard = 2], [0, 1, 2, 3]>]
model.graph @plain(%x [8] f32) {
  %0 = weft.tanh %x
  weft.output "y" %0
}

model.graph @rows(%x [8, 4] f32) {
  %0 = weft.tanh %x
  weft.output "y" %0
}

model.graph @pinned(%x [8] f32) {
  %w = weft.parameter "w" [8] sbp(expert = S(0))
  %0 = weft.add %x, %w
  %1 = weft.to_global %0 sbp(tensor = B, context = S(0))
  weft.output "y" %1
}

model.graph @nothing() {
  %w = weft.parameter "w" [8]
  weft.output "y" %w
}
