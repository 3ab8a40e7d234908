// From attention over split keys to blocks between which the keys go round. In turn i rank r has the keys of rank r -
// i:
//
//   k ──┬─────▶ shift ──┬─────▶ shift ──┬─ ...      under way while
//       ▼               ▼               ▼
//   attention 0 ──▶ attention 1 ──▶ attention 2     these compute
//       └─────────────▶ merge ────────▶ merge ─ ...
#include "compiler/passes/box/passes.h"
#include "ops/attention/ops.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_BOXRING
#include "compiler/passes/box/Passes.h.inc"
namespace {

using namespace weft::ir;

// Keys and values, or the sums of their gradients.
using Pair = std::array<Value, 2>;

// What one op becomes.
class Ring {
public:
  // `number` is the axis.
  Ring(Operation *op, int64_t number, const ShardingRule::Ring &rule, int64_t parts, int64_t keys)
      : op_(op), axis_(number), parts_(parts), blocks_(rule.blocks(keys / parts, parts)), b_(op) {}

  int64_t blocks() const { return blocks_; }

  void forward(AttentionOp op) {
    Pair keys = {op.getK(), op.getV()};
    Value out, lse;
    for (int64_t turn = 0; turn < blocks_; ++turn) {
      Pair next = turn + 1 < blocks_ ? shift(keys, 1) : Pair();
      auto block = create<AttentionOp, 2>(b_, op.getLoc(), op.getQ(), keys[0], keys[1], op.getBias(), op.getMask(),
                                          op.getCausalAttr(), op.getWindowAttr(), op.getUnfusedAttr(),
                                          op.getScaleAttr(), number(turn), number(parts_));
      lies(block.getOut(), op.getOut());
      block.getSaved().setType(withSbp(tensorOf(block.getSaved()), lseSbp(op)));
      belongs(block);
      if (turn == 0) {
        out = blocks_ > 1 ? wide(block.getOut()) : block.getOut();
        lse = block.getSaved();
      } else {
        auto both = create<AttentionMergeOp, 2>(b_, op.getLoc(), out, lse, block.getOut(), block.getSaved());
        lies(both.getBoth(), op.getOut());
        both.getBothLse().setType(lse.getType());
        belongs(both);
        out = both.getBoth();
        lse = both.getBothLse();
      }
      keys = next;
    }
    op.getOut().replaceAllUsesWith(cast(out, tensorOf(op.getOut()).getElementType()));
    if (op.getSaved()) {
      op.getSaved().replaceAllUsesWith(lse);
    }
    op.erase();
  }

  void gradient(AttentionGradOp op) {
    Pair keys = {op.getK(), op.getV()}, sums;
    Value dq;
    for (int64_t turn = 0; turn < blocks_; ++turn) {
      Pair next = turn + 1 < blocks_ ? shift(keys, 1) : Pair();
      auto block =
          create<AttentionGradOp, 3>(b_, op.getLoc(), op.getDout(), op.getQ(), keys[0], keys[1], op.getOut(),
                                     op.getSaved(), op.getBias(), op.getMask(), op.getCausalAttr(), op.getWindowAttr(),
                                     op.getUnfusedAttr(), op.getScaleAttr(), number(turn), number(parts_));
      for (auto [made, like] : llvm::zip(block->getResults(), op->getResults())) {
        lies(made, like);
      }
      belongs(block);
      Value mine = blocks_ > 1 ? wide(block.getDq()) : block.getDq();
      dq = turn == 0 ? mine : add(dq, mine);
      Pair made = {block.getDk(), block.getDv()};
      sums = turn == 0 ? made : Pair{add(sums[0], made[0]), add(sums[1], made[1])};
      // With the keys that they are of, and from the last block home.
      if (blocks_ > 1) {
        sums = shift(sums, turn + 1 < blocks_ ? 1 : parts_ - turn);
      }
      keys = next;
    }
    op.getDq().replaceAllUsesWith(cast(dq, tensorOf(op.getDq()).getElementType()));
    op.getDk().replaceAllUsesWith(sums[0]);
    op.getDv().replaceAllUsesWith(sums[1]);
    op.erase();
  }

private:
  mlir::IntegerAttr number(int64_t n) { return b_.getI64IntegerAttr(n); }
  void belongs(Operation *made) { setBelongings(made, belongingsOf(op_)); }
  static void lies(Value made, Value like) { made.setType(withSbp(tensorOf(made), sbpOf(like.getType()))); }

  Pair shift(Pair pair, int64_t by) {
    for (Value &value : pair) {
      auto made = b_.create<ShiftOp>(op_->getLoc(), value.getType(), value, number(axis_), number(by));
      belongs(made);
      value = made;
    }
    return pair;
  }

  Value cast(Value value, mlir::Type type) {
    if (tensorOf(value).getElementType() == type) {
      return value;
    }
    auto made = create<CastOp>(b_, op_->getLoc(), value, mlir::TypeAttr::get(type));
    lies(made, value);
    belongs(made);
    return made;
  }
  Value wide(Value value) { return cast(value, b_.getF32Type()); }

  Value add(Value a, Value b) {
    auto made = create<AddOp>(b_, op_->getLoc(), a, b);
    lies(made, a);
    belongs(made);
    return made;
  }

  // How lse[b, n, s] lies where out[b, s, n, d] is there.
  static SbpAttr lseSbp(AttentionOp op) {
    constexpr int64_t kDims[] = {0, 2, 1};
    SmallVector<SbpState> states(sbpOf(op.getOut().getType()).getStates());
    for (SbpState &state : states) {
      state.dim = state.isSplit() ? kDims[state.dim] : 0;
    }
    return SbpAttr::get(op.getContext(), states);
  }

  Operation *const op_;
  const int64_t axis_, parts_, blocks_;
  mlir::OpBuilder b_;
};

struct BoxRing : impl::BoxRingBase<BoxRing> {
  void runOnOperation() override {
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front())) {
      if (auto attention = llvm::dyn_cast<AttentionOp>(op)) {
        replace(attention, [&](Ring &&ring) { ring.forward(attention); });
      } else if (auto gradient = llvm::dyn_cast<AttentionGradOp>(op)) {
        replace(gradient, [&](Ring &&ring) { ring.gradient(gradient); });
      }
    }
  }

private:
  template <typename Op, typename Body> void replace(Op op, const Body &body) {
    SbpAttr keys = sbpOf(op.getK().getType());
    std::optional<ShardingRule::Ring> rule = op.getShardingRule().ring;
    const auto *axis = llvm::find(keys.getStates(), SbpState::split(1));
    if (!rule || axis == keys.getStates().end()) {
      return;
    }
    const int64_t number = axis - keys.getStates().begin();
    Ring ring(op, number, *rule, getOperation().getPlacement(stageOf(op)).getSizes()[number], shapeOf(op.getK())[1]);
    ++numRings;
    numBlocks += unsigned(ring.blocks());
    body(std::move(ring));
  }
};

} // namespace
} // namespace weft::compiler
