// Kernels for NVIDIA's GPUs: packs of a row for each thread, rows for groups of threads.
#ifndef WEFT_COMPILER_CODEGEN_NVIDIA_H_
#define WEFT_COMPILER_CODEGEN_NVIDIA_H_

#include "compiler/codegen/blocks.h"

namespace weft::compiler {

/// Makes a kernel `symbol` for blocks.blocks() blocks of code::kGpuThreads threads, at `builder`. It has one argument,
/// a struct of 64-bit words: the addresses of inputs, then of outputs; where rows are summed, that of blocks.blocks()
/// times blocks.partials() float32 numbers; and for each `cell.random` its key, the address of the event (the step) and
/// the first element, as ops/abi/philox.h calls them. An output may have the address of an input that is walked alike.
///
/// Of a `batch` kernel the argument is what runtime/code/gpu_code.h says, and a block has blocks.batchPlaces() places
/// of one tensor.
///
/// A sum along a row adds what a thread has, then what threads have in pairs; its bits depend on shapes alone.
///
/// Where rows are summed there is another kernel, `sums`, for blocks.sumBlocks() blocks, with the same argument.
void emitNvidia(mlir::OpBuilder &builder, cell::KernelOp kernel, const Loops &loops, const Blocks &blocks,
                llvm::StringRef symbol, llvm::StringRef sums);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_NVIDIA_H_
