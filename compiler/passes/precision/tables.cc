// Narrow tables for embeddings.
#include "compiler/passes/precision/passes.h"
#include "ops/elementwise/ops.h"
#include "ops/embedding/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PRECISIONTABLES
#include "compiler/passes/precision/Passes.h.inc"
namespace {

using namespace weft::ir;

struct PrecisionTables : impl::PrecisionTablesBase<PrecisionTables> {
  using PrecisionTablesBase::PrecisionTablesBase;

  void runOnOperation() override {
    mlir::FailureOr<mlir::Type> found = narrowType(getOperation(), type);
    if (failed(found)) {
      return signalPassFailure();
    }
    mlir::Type narrow = *found, wide = mlir::Float32Type::get(&getContext());
    getOperation().walk([&](EmbeddingOp op) {
      auto table = op.getTable().getDefiningOp<ParameterOp>();
      if (!table || tensorOf(table).getElementType() != wide) {
        return;
      }
      mlir::OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(op);
      auto rows = create<CastOp>(builder, op.getLoc(), op.getResult(), mlir::TypeAttr::get(wide));
      setBelongings(rows, belongingsOf(op));
      op.getResult().replaceAllUsesExcept(rows, rows);
      op.getTableMutable().assign(workingCopy(table, narrow));
      op.getResult().setType(mlir::RankedTensorType::get(shapeOf(op.getResult()), narrow));
    });
  }

private:
  // The cast beside a parameter.
  static mlir::Value workingCopy(ParameterOp parameter, mlir::Type narrow) {
    for (mlir::Operation *user : parameter->getUsers()) {
      if (auto cast = llvm::dyn_cast<CastOp>(user); cast && cast.getTo() == narrow) {
        return cast;
      }
    }
    mlir::OpBuilder builder(parameter.getContext());
    builder.setInsertionPointAfter(parameter);
    auto cast = create<CastOp>(builder, parameter.getLoc(), parameter.getResult(), mlir::TypeAttr::get(narrow));
    setBelongings(cast, belongingsOf(parameter));
    return cast;
  }
};

} // namespace
} // namespace weft::compiler
