#ifndef WEFT_COMPILER_PASSES_MEMORY
#define WEFT_COMPILER_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def MemoryInPlace : Pass<"weft-memory-in-place", "::weft::task::ProgramOp"> {
  let summary = "Lets results take over the bytes of operands that die";
  let description = [{
    Where a kernel may overwrite an operand with a result, or an all-reduce its input, and nothing reads the
    operand afterwards, the result's buffer becomes an alias of the operand's, which gets its slots.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let statistics = [Statistic<"numShared", "shared", "buffers that became aliases">];
}

def MemoryOffsets : Pass<"weft-memory-offsets", "::mlir::ModuleOp"> {
  let summary = "Gives every buffer its offset in the arena";
  let description = [{
    Time is the order of works on the compute stream: the begin section, the units, the step section. A buffer lives from
    the first to the last touch of what it holds for a micro-batch. What other streams touch lives from what certainly
    came before it to what certainly waits for it, as registers and transfers say over all programs of the module.
    Parameters and state live always.

    Buffers are placed in several orders, of which the best is kept and, if it leaves holes, changed step by step (see
    placement.h and search.h; greedy by size is of Pisarchyk and Lee, "Efficient memory management for deep neural net
    inference", 2020). Where units are ordered and the arena is more than 1 % above what is live, what is of one
    micro-batch gets places that the micro-batches take in turn, as many as suit the pipeline, instead of slots one
    after another. Reports the arena and the most bytes that live at one time.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
}

#endif
