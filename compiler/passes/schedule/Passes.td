#ifndef WEFT_COMPILER_PASSES_SCHEDULE
#define WEFT_COMPILER_PASSES_SCHEDULE

include "mlir/Pass/PassBase.td"

def ScheduleActors : Pass<"weft-schedule-actors", "::weft::task::ProgramOp"> {
  let summary = "Groups a program's work into actors, in the order of their acts";
  let description = [{
    The micro-batch section comes first, then the step section, each in program order. Kernels that follow
    each other and belong to one layer and phase make one actor, named `<layer>.<phase>`; a collective and an end of a
    transfer are actors of their own. Inputs are read on the host stream, ahead of their use: with several
    micro-batches their buffers have two slots.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let statistics = [Statistic<"numActors", "actors", "actors made">];
}

#endif
