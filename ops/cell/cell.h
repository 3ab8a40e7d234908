// The `cell` dialect in C++.
#ifndef WEFT_OPS_CELL_CELL_H_
#define WEFT_OPS_CELL_CELL_H_

#include <string>

#include "llvm/ADT/DenseMapInfo.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "ops/cell/dialect.h.inc"
#define GET_OP_CLASSES
#include "ops/cell/ops.h.inc"

namespace weft::cell {

/// A kernel as a plan has it. Does not verify it again, nor the module around it.
std::string textOf(KernelOp kernel);

/// For an llvm::DenseMap with kernels as keys: kernels that compute the same are one key, whatever their names.
struct ByComputation : llvm::DenseMapInfo<mlir::Operation *> {
  static unsigned getHashValue(const mlir::Operation *kernel);
  static bool isEqual(const mlir::Operation *a, const mlir::Operation *b);
};

/// The sum over rows that a yielded value is, rounded or not; null if it is none.
SumRowsOp sumRowsOf(mlir::Value yielded);

} // namespace weft::cell

#endif // WEFT_OPS_CELL_CELL_H_
