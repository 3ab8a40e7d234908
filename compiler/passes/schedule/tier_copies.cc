#include "compiler/passes/schedule/tier_copies.h"

#include "ops/layout/ops.h"

namespace weft::compiler {
namespace {

int64_t bytesOf(task::BufferOp buffer) {
  return task::localBytesOf(task::tensorOf(buffer), buffer->getParentOfType<task::ProgramOp>().getPlacement());
}

} // namespace

bool isLarge(task::BufferOp buffer, const plan::TierRates *tier) {
  return !tier || plan::TierSeconds(*tier, double(bytesOf(buffer)), /*fetches=*/true) >= 2 * tier->latency_s;
}

task::KernelOp copyTier(mlir::OpBuilder &b, llvm::StringRef name, mlir::Value from, mlir::Value to,
                        task::Section section, mlir::Operation *neighbour) {
  auto buffer = task::rootOf(from).getDefiningOp<task::BufferOp>();
  auto kernel = b.create<task::KernelOp>(buffer.getLoc(), b.getStringAttr(name), from, to, b.getDictionaryAttr({}),
                                         section, mlir::DenseI64ArrayAttr());
  kernel.setCostAttr(b.getDenseF64ArrayAttr({0, 0, double(bytesOf(buffer))}));
  ir::setBelongings(kernel, ir::belongingsOf(neighbour));
  kernel->removeAttr("stage"); // the program tells
  return kernel;
}

mlir::Value viewOf(mlir::OpBuilder &b, mlir::Value view, llvm::DenseMap<mlir::Value, mlir::Value> &views) {
  if (mlir::Value known = views.lookup(view)) {
    return known;
  }
  auto alias = view.getDefiningOp<task::AliasOp>();
  mlir::Value source = viewOf(b, alias.getSource(), views);
  return views[view] = b.create<task::AliasOp>(alias.getLoc(), alias.getType(), source, alias.getUnpaddedAttr());
}

} // namespace weft::compiler
