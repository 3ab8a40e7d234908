// From attention over split keys to blocks between which the keys go round. In turn i rank r has the keys of rank r -
// i:
//
//   k ──┬─────▶ shift ──┬─────▶ shift ──┬─ ...      under way while
//       ▼               ▼               ▼
//   attention 0 ──▶ attention 1 ──▶ attention 2     these compute
//       └─────────────▶ merge ────────▶ merge ─ ...
//
// Where that is worth it, halves of all that goes in are exchanged first, and of what comes out.
#include "compiler/analysis/ring.h"
#include "compiler/analysis/boxing.h"
#include "compiler/analysis/cost.h"
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
  Ring(Operation *op, int64_t number, const ShardingRule::Ring &rule, int64_t parts, int64_t keys, bool zigzags)
      : op_(op), axis_(number), parts_(parts), blocks_(rule.blocks(keys / parts, parts)), zigzag_(zigzags), b_(op) {}

  int64_t blocks() const { return blocks_; }

  void forward(AttentionOp op) {
    const Value q = kept(op.getQ());
    Pair keys = {kept(op.getK()), kept(op.getV())};
    Value out, lse;
    for (int64_t turn = 0; turn < blocks_; ++turn) {
      Pair next = turn + 1 < blocks_ ? shift(keys, 1) : Pair();
      auto block = create<AttentionOp, 2>(b_, op.getLoc(), q, keys[0], keys[1], op.getBias(), op.getMask(),
                                          op.getCausalAttr(), op.getWindowAttr(), op.getUnfusedAttr(),
                                          op.getScaleAttr(), number(turn), number(parts_), zigzagAttr());
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
    op.getOut().replaceAllUsesWith(zigzag(cast(out, tensorOf(op.getOut()).getElementType()), /*back=*/true));
    if (op.getSaved()) {
      op.getSaved().replaceAllUsesWith(zigzag(lse, /*back=*/true));
    }
    op.erase();
  }

  void gradient(AttentionGradOp op) {
    const Value dout = zigzag(op.getDout()), out = zigzag(op.getOut()), lse = before(op.getSaved());
    const Value q = kept(op.getQ());
    Pair keys = {kept(op.getK()), kept(op.getV())}, sums;
    Value dq;
    for (int64_t turn = 0; turn < blocks_; ++turn) {
      Pair next = turn + 1 < blocks_ ? shift(keys, 1) : Pair();
      auto block = create<AttentionGradOp, 3>(b_, op.getLoc(), dout, q, keys[0], keys[1], out, lse, op.getBias(),
                                              op.getMask(), op.getCausalAttr(), op.getWindowAttr(), op.getUnfusedAttr(),
                                              op.getScaleAttr(), number(turn), number(parts_), zigzagAttr());
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
    op.getDq().replaceAllUsesWith(zigzag(cast(dq, tensorOf(op.getDq()).getElementType()), /*back=*/true));
    op.getDk().replaceAllUsesWith(zigzag(sums[0], /*back=*/true));
    op.getDv().replaceAllUsesWith(zigzag(sums[1], /*back=*/true));
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

  mlir::UnitAttr zigzagAttr() { return zigzag_ ? b_.getUnitAttr() : mlir::UnitAttr(); }

  Value zigzag(Value value, bool back = false) {
    if (!zigzag_) {
      return value;
    }
    auto made = b_.create<ZigzagOp>(op_->getLoc(), value.getType(), value, uint64_t(axis_), back);
    belongs(made);
    return made;
  }

  // The same, but what the forward has exchanged already is kept for the gradient: nobody else keeps what it was made
  // of.
  Value kept(Value value) {
    for (Operation *user : value.getUsers()) {
      auto made = llvm::dyn_cast<ZigzagOp>(user);
      if (zigzag_ && made && !made.getBack() && int64_t(made.getAxis()) == axis_ &&
          made->getBlock() == op_->getBlock() && made->isBeforeInBlock(op_)) {
        return made;
      }
    }
    return zigzag(value);
  }

  // What `value` was before the forward exchanged it back.
  Value before(Value value) {
    auto made = value.getDefiningOp<ZigzagOp>();
    return zigzag_ && made && made.getBack() && int64_t(made.getAxis()) == axis_ ? made.getInput() : zigzag(value);
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
  const bool zigzag_;
  mlir::OpBuilder b_;
};

struct BoxRing : impl::BoxRingBase<BoxRing> {
  using BoxRingBase::BoxRingBase;

  void runOnOperation() override {
    if (zigzag != "cheaper" && zigzag != "always" && zigzag != "never") {
      getOperation().emitOpError() << "zigzag: expected cheaper, always or never, got " << zigzag;
      return signalPassFailure();
    }
    llvm::FailureOr<CostModel> machine = machineOf(getOperation());
    if (failed(machine)) {
      return signalPassFailure();
    }
    machine_ = std::move(*machine);
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
    const ShardingRule rule = op.getShardingRule();
    const auto *axis = llvm::find(keys.getStates(), SbpState::split(1));
    if (!rule.ring || axis == keys.getStates().end()) {
      return;
    }
    const int64_t number = axis - keys.getStates().begin();
    PlacementAttr placement = getOperation().getPlacement(stageOf(op));
    const int64_t parts = placement.getSizes()[number];
    const bool zigzags = wantsZigzag(op, rule, number, placement);
    Ring ring(op, number, *rule.ring, parts, shapeOf(op.getK())[1], zigzags);
    ++numRings;
    numZigzags += zigzags ? 1 : 0;
    numBlocks += unsigned(ring.blocks());
    body(std::move(ring));
  }

  // Rows that another axis splits as well are not whole halves.
  template <typename Op>
  bool wantsZigzag(Op op, const ShardingRule &rule, int64_t axis, PlacementAttr placement) const {
    if (zigzag == "never" || llvm::count(sbpOf(op.getQ().getType()).getStates(), SbpState::split(1)) != 1) {
      return false;
    }
    auto tile = [&](Value value) { return tileOf(value, placement); };
    const RingCost cost =
        ringCost(op, rule, llvm::map_to_vector(op->getOperands(), tile), llvm::map_to_vector(op->getResults(), tile),
                 placement.getSizes()[axis], spreadOf(placement.getSizes(), {int(axis)}, machine_), machine_);
    return zigzag == "always" ? cost.zigzag.has_value() : cost.zigzags();
  }

  CostModel machine_;
};

} // namespace
} // namespace weft::compiler
