// A backward that begins with a loss scale, and updates that are skipped where it was too large.
#include "compiler/passes/precision/passes.h"
#include "ops/optimizer/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PRECISIONLOSSSCALE
#include "compiler/passes/precision/Passes.h.inc"
namespace {

using namespace weft::ir;

struct PrecisionLossScale : impl::PrecisionLossScaleBase<PrecisionLossScale> {
  using PrecisionLossScaleBase::PrecisionLossScaleBase;

  void runOnOperation() override {
    mlir::Block &body = getOperation().getBody().front();
    llvm::SmallVector<mlir::Operation *> seeds; // one a loss
    for (mlir::Operation &op : body) {
      if (op.hasAttr("loss_seed")) {
        seeds.push_back(&op);
      }
    }
    auto clips = getOperation().getBody().getOps<ClipScaleOp>();
    if (seeds.empty() || clips.empty()) {
      return; // nothing is minimized
    }
    ClipScaleOp clip = *clips.begin();
    ParameterOp scale = state(clip, "loss_scale", initial), good = state(clip, "loss_scale.good_steps", 0),
                skipped = state(clip, "loss_scale.skipped_steps", 0);
    for (mlir::Operation *seed : seeds) {
      seed->getResult(0).replaceAllUsesWith(scale);
      seed->erase();
    }
    clip.getLossScaleMutable().assign(scale);

    mlir::OpBuilder b(&getContext());
    b.setInsertionPointAfter(clip);
    auto made =
        tag(create<LossScaleOp, 4>(b, clip.getLoc(), clip.getSquareSum(), scale, good, skipped,
                                   b.getF64FloatAttr(growthFactor), b.getF64FloatAttr(backoffFactor),
                                   b.getI64IntegerAttr(growthInterval), b.getF64FloatAttr(min), b.getF64FloatAttr(max)),
            clip);
    for (auto update : body.getOps<UpdateOpInterface>()) {
      update.getStepMutable().assign(made.getStep());
    }
    b.setInsertionPointToEnd(&body);
    auto finish = [&](ParameterOp parameter, Value next, llvm::StringRef metric) {
      tag(b.create<AssignOp>(clip.getLoc(), parameter, next), clip);
      if (!metric.empty()) {
        tag(b.create<OutputOp>(clip.getLoc(), b.getStringAttr(metric), b.getUnitAttr(), next), clip);
      }
    };
    finish(scale, made.getNextScale(), "loss_scale");
    finish(good, made.getNextGoodSteps(), "");
    finish(skipped, made.getNextSkippedSteps(), "skipped_steps");
  }

private:
  template <typename Op> static Op tag(Op op, ClipScaleOp clip) {
    setBelongings(op, belongingsOf(clip));
    return op;
  }

  // A scalar that lives where the clipping happens.
  ParameterOp state(ClipScaleOp clip, llvm::StringRef name, double value) {
    mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(&getOperation().getBody().front());
    auto init = InitAttr::get(&getContext(), "constant", llvm::ArrayRef<mlir::Attribute>{b.getF64FloatAttr(value)});
    auto made =
        create<ParameterOp>(b, clip.getLoc(), b.getStringAttr(name), b.getArrayAttr({}), mlir::ArrayAttr(), init,
                            mlir::DictionaryAttr(), mlir::UnitAttr(), b.getUnitAttr(), mlir::IntegerAttr());
    tag(made, clip)->removeAttr("phase");
    return made;
  }
};

} // namespace
} // namespace weft::compiler
