// --weft-elaborate-pins: pins parameters as the job says.
#include "compiler/passes/elaborate/passes.h"
#include "llvm/Support/GlobPattern.h"
#include "ops/dialect/weft.h"

namespace weft::compiler {
#define GEN_PASS_DEF_ELABORATEPINS
#include "compiler/passes/elaborate/Passes.h.inc"
namespace {

// All that the model does not call `pinned`.
constexpr llvm::StringLiteral kTheOthers("*");

struct ElaboratePins : impl::ElaboratePinsBase<ElaboratePins> {
  using ElaboratePinsBase::ElaboratePinsBase;

  void runOnOperation() override {
    for (const std::string &pin : pins) {
      if (failed(apply(pin))) {
        return signalPassFailure();
      }
    }
  }

private:
  llvm::LogicalResult apply(StringRef pin) {
    auto [parameter, rest] = pin.split('|');
    auto [axis, state] = rest.split('|');
    auto error = [&, parameter = parameter] {
      return getOperation().emitError() << "graph.pin: " << parameter << ": ";
    };
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(parameter);
    if (!pattern) {
      return error() << "expected the name of a parameter, with `*` for anything: "
                     << llvm::toString(pattern.takeError());
    }
    bool found = false;
    mlir::WalkResult walked = getOperation().walk([&](ir::ParameterOp op) {
      if (!pattern->match(op.getName())) {
        return mlir::WalkResult::advance();
      }
      found = true;
      if (!op.getPinned()) {
        mlir::NamedAttrList pins(op.getPinsAttr());
        pins.set(axis, ir::ExprAttr::get(&getContext(), state));
        op.setPinsAttr(pins.getDictionary(&getContext()));
      } else if (parameter != kTheOthers) {
        (error() << "expected parameters that the model does not call `pinned`, got " << op.getName())
                .attachNote(op.getLoc())
            << "pinned here";
        return mlir::WalkResult::interrupt();
      }
      return mlir::WalkResult::advance();
    });
    if (walked.wasInterrupted()) {
      return failure();
    }
    return found ? success() : LogicalResult(error() << "expected the name of a parameter, got one that none has");
  }
};

} // namespace
} // namespace weft::compiler
