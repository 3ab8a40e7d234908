// The `cell` dialect in C++.
#ifndef WEFT_OPS_CELL_CELL_H_
#define WEFT_OPS_CELL_CELL_H_

#include <string>

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

/// A kernel as a plan has it; kernels that compute the same and have one name have one text. Does not verify it again,
/// nor the module around it.
std::string textOf(KernelOp kernel);

/// The sum over rows that a yielded value is, rounded or not; null if it is none.
SumRowsOp sumRowsOf(mlir::Value yielded);

} // namespace weft::cell

#endif // WEFT_OPS_CELL_CELL_H_
