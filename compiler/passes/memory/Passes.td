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

#endif
