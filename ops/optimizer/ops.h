// Optimizer ops of the `weft` dialect.
#ifndef WEFT_OPS_OPTIMIZER_OPS_H_
#define WEFT_OPS_OPTIMIZER_OPS_H_

#include "llvm/ADT/StringMap.h"
#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/optimizer/ops.h.inc"

namespace weft::ir {

/// A tensor as matrices: behind the first `batch` dimensions, which tell matrices apart, the next `rows` are those of
/// rows and the others those of columns. Without rows it is a vector.
struct MatrixView {
  int64_t batch = 0, rows = 0;
  bool isMatrix() const { return rows > 0; }
};

/// What files have of the parameter: of a tensor of two dimensions or more, the first is that of the rows. Of a name
/// with a `*` they have a tensor for each index of dimension 0.
MatrixView matrixViewOf(ParameterOp parameter);

/// A rule as jobs name it, and the op that does it.
struct UpdateRule {
  llvm::StringRef name;                    ///< of the field in the job: "adamw"
  llvm::StringRef op;                      ///< "weft.adam", which implements UpdateOpInterface
  llvm::SmallVector<std::string, 2> state; ///< prefixes of its names, one each of getStateNames(): "adam_m"
  llvm::StringRef flag;                    ///< attribute that is set, none if empty: "decoupled"
  bool sparesVectors = false;              ///< biases, norms and other vectors do not decay
  const UpdateRule *ofVectors = nullptr;   ///< what updates vectors, and what a group of the job asks it for
};

/// Every rule; of those of one name, the one to be preferred is first.
llvm::SmallVector<UpdateRule> updateRules(mlir::MLIRContext *context);

/// The rule of this name whose op takes all `numbers` that are not 0.
std::optional<UpdateRule> findUpdateRule(mlir::MLIRContext *context, llvm::StringRef name,
                                         const llvm::StringMap<double> &numbers);

/// Whether the update's formula has the number of the step in it, which its kernel must be given. A composed rule takes
/// the run's itself.
bool countsSteps(UpdateOpInterface update);

/// The shapes of the state that `rule` keeps of a parameter.
llvm::SmallVector<llvm::SmallVector<int64_t>> stateShapes(const UpdateRule &rule, ParameterOp parameter);

/// Builds the op of `rule`. `operands`: the parameter, its gradient, the state, the learning rate and the scale of the
/// gradient, and maybe the number of the step. A number that the op has and `numbers` has not is 0. Fails, after an
/// error at `loc`, where the op does not take a number or an operand.
llvm::FailureOr<UpdateOpInterface> buildUpdate(mlir::OpBuilder &builder, mlir::Location loc, const UpdateRule &rule,
                                               const llvm::StringMap<double> &numbers, mlir::ValueRange operands);

/// Builds the learning rate of a schedule; `numbers` are its attributes, of `milestones` one behind the other with `;`.
/// Fails after an error at `loc`.
llvm::FailureOr<LearningRateOp> buildLearningRate(mlir::OpBuilder &builder, mlir::Location loc, double lr,
                                                  llvm::StringRef schedule,
                                                  const llvm::StringMap<std::string> &numbers);

} // namespace weft::ir

#endif // WEFT_OPS_OPTIMIZER_OPS_H_
