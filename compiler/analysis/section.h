// Which ops run once a micro-batch and which once a step.
#ifndef WEFT_COMPILER_ANALYSIS_SECTION_H_
#define WEFT_COMPILER_ANALYSIS_SECTION_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// In a graph with `weft.accumulate`: what an accumulate depends on, and the
/// accumulate itself, runs once a micro-batch; everything else once a step.
/// Without one, everything is the micro-batch section.
class Sections {
public:
  explicit Sections(ir::GraphOp graph);
  bool isStep(mlir::Operation *op) const { return accumulates_ && !micro_.contains(op); }

private:
  bool accumulates_ = false;
  llvm::DenseSet<mlir::Operation *> micro_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_SECTION_H_
