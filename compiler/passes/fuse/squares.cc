// The norm of all gradients: one kernel for many tensors.
#include "compiler/passes/fuse/kernels.h"
#include "compiler/passes/fuse/passes.h"

namespace weft::compiler {
#define GEN_PASS_DEF_FUSESQUARES
#include "compiler/passes/fuse/Passes.h.inc"
namespace {

using task::KernelOp;

constexpr llvm::StringLiteral kSquares = "square_sum";

struct FuseSquares : impl::FuseSquaresBase<FuseSquares> {
  void runOnOperation() override {
    for (KernelOp sum : llvm::to_vector(getOperation().getBody().getOps<KernelOp>())) {
      if (sum.getName() == "add_n") {
        join(sum);
      }
    }
  }

  void join(KernelOp sum) {
    SmallVector<KernelOp> parts;
    Fused fused{kSquares, {}, llvm::to_vector(sum.getOutputs()), mlir::DictionaryAttr::get(&getContext())};
    for (Value term : sum.getInputs()) {
      KernelOp squares = writerOf(term);
      bool fits = squares && squares.getName() == kSquares && inSameUnit(squares, sum) && isOnlyReader(sum, term) &&
                  // What is itself a sum of several is added first.
                  (parts.empty() || squares.getInputs().size() == 1);
      if (!fits || llvm::is_contained(parts, squares)) {
        return;
      }
      // What lies in a tier is on the device for one gradient after another.
      if (llvm::any_of(squares.getInputs(), [](Value input) { return !task::tierOf(input).empty(); })) {
        return;
      }
      // Squares of what has been reduced are summed while the rest is reduced.
      if (llvm::any_of(squares.getInputs(), [&](Value input) { return isOfCollective(input, sum.getSection()); })) {
        return;
      }
      parts.push_back(squares);
      llvm::append_range(fused.inputs, squares.getInputs());
    }
    int64_t joined = int64_t(parts.size());
    parts.push_back(sum);
    numFused += fuse(parts, fused) ? joined : 0;
  }
};

} // namespace
} // namespace weft::compiler
