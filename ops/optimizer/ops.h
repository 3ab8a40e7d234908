// Optimizer ops of the `weft` dialect.
#ifndef WEFT_OPS_OPTIMIZER_OPS_H_
#define WEFT_OPS_OPTIMIZER_OPS_H_

#include "llvm/ADT/StringMap.h"
#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/optimizer/ops.h.inc"

namespace weft::ir {

/// A rule as jobs name it, and the op that does it.
struct UpdateRule {
  llvm::StringRef name;                    ///< of the field in the job: "adamw"
  llvm::StringRef op;                      ///< "weft.adam", which implements UpdateOpInterface
  llvm::SmallVector<std::string, 2> state; ///< prefixes of its names, one each of getStateNames(): "adam_m"
  llvm::StringRef flag;                    ///< attribute that is set, none if empty: "decoupled"
  bool sparesVectors = false;              ///< biases, norms and other vectors do not decay
};

/// Every rule; of those of one name, the one to be preferred is first.
llvm::SmallVector<UpdateRule> updateRules(mlir::MLIRContext *context);

/// The rule of this name whose op takes all `numbers` that are not 0.
std::optional<UpdateRule> findUpdateRule(mlir::MLIRContext *context, llvm::StringRef name,
                                         const llvm::StringMap<double> &numbers);

/// Builds the op of `rule`. `operands`: the parameter, its gradient, the state, the learning rate and the scale of the
/// gradient. A number that the op has and `numbers` has not is 0. Fails, after an error at `loc`, where the op does not
/// take a number or an operand.
llvm::FailureOr<UpdateOpInterface> buildUpdate(mlir::OpBuilder &builder, mlir::Location loc, const UpdateRule &rule,
                                               const llvm::StringMap<double> &numbers, mlir::ValueRange operands);

} // namespace weft::ir

#endif // WEFT_OPS_OPTIMIZER_OPS_H_
