#ifndef WEFT_COMPILER_PASSES_SCHEDULE
#define WEFT_COMPILER_PASSES_SCHEDULE

include "mlir/Pass/PassBase.td"

def ScheduleUnits : Pass<"weft-schedule-units", "::mlir::ModuleOp"> {
  let summary = "Orders the units of every stage of a pipeline";
  let description = [{
    Gives every `task.program` its `units`, by the schedule, for as many stages as there are programs: see
    compiler/schedule/schedule.h. A `file` says the order instead: a line a stage. An order that cannot
    run is refused with the unit at which it blocks. To a schedule `overlap` micro-batches are one: a unit of it is as many
    of the program's, one after the other.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"1f1b\"",
           "gpipe, 1f1b, interleaved, zero-bubble-h1 or zero-bubble-v">,
    Option<"chunks", "chunks", "int64_t", "1", "chunks of the model on each stage">,
    Option<"file", "file", "std::string", "\"\"", "path of a file that says the order">,
    Option<"overlap", "overlap", "int64_t", "1", "micro-batches that are under way together">,
  ];
}

def ScheduleTiers : Pass<"weft-schedule-tiers", "::weft::task::ProgramOp"> {
  let summary = "Copies what lies in a tier to the device before its use, and back behind it";
  let description = [{
    What lies in a tier gets a buffer on the device for each of its uses, which takes its place: a use is the work of one
    layer in one unit, or of the begin or the step section (tier_uses.h). A `fetch` stands before a use that reads, a `store`
    behind one that writes. State, gradients, sums of them over micro-batches, and what the begin section makes of state come
    so. What a micro-batch uses outside layers lies on the device after all, and what is so small that the tier's latency is
    more than half of a copy, but state of the optimizer. The squares of a gradient that one micro-batch makes are summed
    while it is on the device.

    What the forward of a layer keeps for its backward is stored in the tier `activations`, and fetched to another buffer
    of the device, which the backward reads. Not what the backward reads first, of the last layer of a chunk; and nothing so
    small.

    With `host` the host updates state where it lies (host_work.h): what its kernels read is stored, and what they make is
    fetched once a step, in the begin section if it is state or made there, as is what a function finds below that cannot come
    for each use. With `whole` that is on the device for all of the
    step; else layers fetch it, as they do other state.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let options = [
    Option<"activations", "activations", "std::string", "\"\"", "the tier of what layers keep; empty: the device">,
    ListOption<"layers", "layers", "std::string", "where what single layers keep lies, h.0=below or h.0=here">,
    Option<"others", "others", "bool", "true", "what layers that are not named keep lies in the tier">,
    Option<"host", "host", "bool", "false", "the host updates what lies in a tier">,
    Option<"whole", "whole", "bool", "false", "what the host updates is on the device for all of a step">,
  ];
  let statistics = [Statistic<"numMoved", "moved", "buffers that are copied">];
}

def ScheduleActors : Pass<"weft-schedule-actors", "::weft::task::ProgramOp"> {
  let summary = "Groups a program's work into actors, in the order of their acts";
  let description = [{
    The begin section comes first, then the units of the micro-batch section, the forwards and the backwards of
    each chunk, then the step section; each in program order. Kernels that follow each other and belong to one
    layer and phase make one actor, named `<layer>.<phase>`; a collective and an end of a transfer are actors of
    their own. Inputs are read on the host stream, and every transfer has a stream, ahead of their
    use. Where micro-batches overlap, all collectives of the micro-batch section are on the communication stream.
    What is summed over the micro-batches is
    so right behind what makes its terms. The step section's reductions of gradients become bundles of about 25
    MB in the order in which the last backward completes them; with all other collectives of that section they are
    on the communication stream, beside the backward; what could overtake a collective of the backward over a
    common mesh axis waits for that one (buckets.h). Beside them the compute stream does what it can do so far, of
    each bundle before the next (step_order.h). Copies from and to a tier are on a stream of the tier's name, a part
    of the state ahead of the updates (tier_stream.h). What the host computes is on another one, in the order in which what it
    reads is there.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let statistics = [Statistic<"numActors", "actors", "actors made">];
}

def ScheduleSlots : Pass<"weft-schedule-slots", "::mlir::ModuleOp"> {
  let summary = "Gives every buffer its slots: of how many micro-batches it holds a value at once";
  let description = [{
    - A buffer that one unit writes and another reads has as many slots as micro-batches are under way between the two
      in the order of the units. Example: 1F1B needs p - i slots on stage i of p. One that several actors of a unit use has
      as many as overlap.
    - A buffer that the host or another stage writes or reads has one more, or as many as overlap, so that the next
      micro-batches move while these are used. What is gathered or reduced has not, and what a tier gives or takes: the buffers of other
      layers move meanwhile. The ends of a transfer have more than that where the order lets the sender run further
      ahead (transfer_slots.h).
    - A sum over micro-batches has one slot, and so has what is made once a step. What the step section only reads has
      the slots that the units need; it is read as the last micro-batch left it.

    No buffer has more slots than there are micro-batches.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
}

def ScheduleTurns : Pass<"weft-schedule-turns", "::weft::task::ProgramOp"> {
  let summary = "Orders what micro-batches that overlap do in a unit";
  let description = [{
    Gives each actor of the micro-batch section its `turn`: the places of its acts among those of its unit, one for each of the
    micro-batches that overlap. The order is that of a simulation of the unit by the cost model. Of what the computation
    may do at once it does that first which has the least to do until a collective can begin; so what lies between two
    collectives of one micro-batch comes in the midst of the other's products. Micro-batches keep their order at
    each actor. A buffer that has not a slot for each of them, such as a sum, is handed on for one of them as a whole.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
}

#endif
