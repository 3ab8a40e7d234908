// What the program fixes before inference begins.
#ifndef WEFT_COMPILER_ANALYSIS_PINS_H_
#define WEFT_COMPILER_ANALYSIS_PINS_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

using States = llvm::SmallVector<ir::SbpState>;

/// The states that `pins` give a tensor of `type` on `placement`: named axes
/// by name, `_i` by position, B elsewhere. A name that is a known axis but not
/// in this mesh (its size is 1) is ignored; what is said of an axis holds for its
/// inner part too (compiler/job/axes.h). One element of a parameter, such as the one
/// head of multi-query attention, cannot be split: it is B. Emits an error at `op`, which
/// calls the tensor `what`, for an unknown axis, a bad state or a dimension
/// that the tensor lacks; and unless `cut` says otherwise for a dimension that the axis does not divide.
enum class Cut { Even, Any };
llvm::FailureOr<States> resolvePins(mlir::Operation *op, llvm::StringRef what, mlir::DictionaryAttr pins,
                                    mlir::RankedTensorType type, ir::PlacementAttr placement, Cut cut = Cut::Even);

/// The states of a graph's input: split by the axes that split every input.
llvm::FailureOr<States> inputStates(ir::GraphOp graph, unsigned index, Cut cut = Cut::Even);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_PINS_H_
