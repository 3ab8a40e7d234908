// Kernels for x86-64: vectors of 16 float32 numbers, along rows.
#ifndef WEFT_COMPILER_CODEGEN_X86_H_
#define WEFT_COMPILER_CODEGEN_X86_H_

#include "compiler/codegen/loops.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft::compiler {

/// Makes a function `symbol` of a kernel at `builder`, for processors that LLVM calls `processor` ("x86-64-v3"):
///
///   void symbol(void *const *operands, const int64_t *numbers, int64_t begin, int64_t end)
///
/// computes units [begin, end) of the kernel: rows, or where the kernel is a single row that nothing is reduced
/// along, groups of kLanes of its places. Operands are the addresses of inputs, then of outputs; numbers are three for
/// each `cell.random`: its key, its event and the first element, as ops/abi/philox.h calls them. An output may have the
/// address of an input that is walked alike. Of a `batch` kernel operands are those of one tensor, and there is one
/// number: its places.
///
/// A sum along a row goes over kLanes partial sums, one a lane, which are then added in pairs: its bits are the same on
/// every processor.
///
/// Where rows are summed, operands end with the address of units() times partials() numbers, where each unit leaves its
/// sums (loops.h), and there is another function, `sums`: for groups [begin, end) of a row's places, of all units.
void emitX86(mlir::OpBuilder &builder, cell::KernelOp kernel, const Loops &loops, llvm::StringRef symbol,
             llvm::StringRef sums, llvm::StringRef processor);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_X86_H_
