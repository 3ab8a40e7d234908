#ifndef WEFT_COMPILER_PASSES_MEMORY
#define WEFT_COMPILER_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def MemoryInPlace : Pass<"weft-memory-in-place", "::weft::task::ProgramOp"> {
  let summary = "Lets results take over the bytes of operands that die";
  let description = [{
    Where a kernel may overwrite an operand with a result, or an all-reduce its input, and nothing reads the
    operand afterwards, the result's buffer becomes an alias of the operand's.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let statistics = [Statistic<"numShared", "shared", "buffers that became aliases">];
}

def MemoryOffsets : Pass<"weft-memory-offsets", "::weft::task::ProgramOp"> {
  let summary = "Gives every buffer its offset in the arena";
  let description = [{
    A buffer lives from its first to its last access in the order of acts of the compute stream; parameters, state and what
    another stream touches live always; what is carried from micro-batch to micro-batch lives through all of them.
    Buffers are placed by falling size, each at the lowest offset where it fits best beside those that live
    at the same time (greedy by size; Pisarchyk and Lee, "Efficient memory management for deep neural net
    inference", 2020). Reports the peak against the lower bound, the most bytes that live at one time.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
}

#endif
