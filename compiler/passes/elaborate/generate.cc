// --weft-elaborate-generate: a function of whole sequences becomes one that goes on with sequences.
//
// Ops that make each row of a sequence of that row make `chunk` rows instead, which RowRewriter sees to. Causal
// attention alone reads other rows, those before: they are in its caches.
#include "compiler/passes/elaborate/passes.h"
#include "compiler/passes/elaborate/rows.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "ops/attention/ops.h"
#include "ops/constant/ops.h"
#include "ops/dropout/ops.h"
#include "ops/elementwise/ops.h"
#include "ops/gather/ops.h"
#include "ops/layout/ops.h"
#include "ops/logic/ops.h"
#include "ops/rope/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_ELABORATEGENERATE
#include "compiler/passes/elaborate/Passes.h.inc"
namespace {

using namespace weft::ir;

class Generator {
public:
  Generator(GraphOp graph, int64_t chunk) : graph_(graph), chunk_(chunk), b_(graph.getContext()) {}

  LogicalResult run() {
    if (failed(inputs())) {
      return failure();
    }
    dropUnused();
    SmallVector<OutputOp> outputs;
    for (Operation &op : llvm::make_early_inc_range(graph_.getBody().front())) {
      if (auto output = llvm::dyn_cast<OutputOp>(op)) {
        if (!rows_->isOfRows(output.getValue())) {
          return output.emitOpError() << "generate.chunk: expected an output of each token, got one that "
                                      << (rows_->dependsOnTokens(output.getValue())
                                              ? "has them in another order, or joined"
                                              : "does not depend on the tokens");
        }
        outputs.push_back(output);
      } else if (dependsOnTokens(&op)) {
        b_.setInsertionPoint(&op);
        if (failed(rewrite(&op))) {
          return failure();
        }
      }
    }
    findKept();
    for (OutputOp output : outputs) {
      Value last = lastOf(output.getValue());
      b_.setInsertionPoint(output);
      // Whoever chooses the next token of a sequence wants all of its logits.
      auto whole = create<ToGlobalOp>(b_, output.getLoc(), last, samplesPins(), mlir::StringAttr(), ArrayAttr());
      output.getValueMutable().assign(made(whole, output));
    }
    return success();
  }

private:
  // ---- inputs -------------------------------------------------------------
  LogicalResult inputs() {
    auto error = [&] { return graph_.emitError() << "generate.chunk: "; };
    if (!graph_.getBody().getOps<MinimizeOp>().empty()) {
      return error() << "expected a function, got @" << graph_.getSymName() << ", which is trained";
    }
    mlir::Block &body = graph_.getBody().front();
    RankedTensorType tokens = body.getNumArguments() == 1 ? tensorOf(body.getArgument(0)) : RankedTensorType();
    if (!tokens || tokens.getRank() != 2 || !tokens.getElementType().isInteger(32)) {
      return error() << "expected a function of one input, i32 [batch, sequence], got @" << graph_.getSymName()
                     << ", which has " << (tokens ? "another one" : std::to_string(body.getNumArguments()) + " inputs");
    }
    length_ = tokens.getDimSize(1);
    if (chunk_ >= length_) {
      return error() << "expected fewer tokens than the " << length_ << " of a sequence, got " << chunk_;
    }
    auto type = RankedTensorType::get({tokens.getDimSize(0), chunk_}, tokens.getElementType());
    body.getArgument(0).setType(type);
    positions_ = body.addArgument(type, graph_.getLoc());
    rows_.emplace(b_, length_, chunk_, positions_);
    rows_->note(body.getArgument(0), {.dim = 1});
    rows_->note(positions_, {.dim = 1});
    graph_.setInputsAttr(b_.getArrayAttr({graph_.getInputs()[0], b_.getStringAttr("positions")}));
    return success();
  }

  // What a function yields nothing of, as a loss of a router, may be what it likes.
  void dropUnused() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(graph_.getBody().front()))) {
      if (!llvm::isa<ParameterOp>(op) && mlir::isOpTriviallyDead(&op)) {
        op.erase();
      }
    }
  }

  // ---- ops ----------------------------------------------------------------
  bool dependsOnTokens(Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) { return rows_->dependsOnTokens(operand); });
  }

  LogicalResult rewrite(Operation *op) {
    if (auto attention = llvm::dyn_cast<AttentionOp>(op);
        attention && (attention.getCausal() || rows_->dependsOnTokens(attention.getK()))) {
      return rewriteAttention(attention);
    }
    if (llvm::isa<DropoutOp>(op)) {
      return op->emitOpError() << "generate.chunk: expected a function that drops nothing, got a rate above 0";
    }
    auto rope = llvm::dyn_cast<RopeOp>(op);
    const bool turnsByPlace = rope && !rope.getPositions();
    if (turnsByPlace && (!rows_->isOfRows(rope.getX()) || rows_->of(rope.getX()).dim != 1)) {
      return op->emitOpError() << "generate.chunk: expected rows in the order of the sequence, got others";
    }
    if (failed(rows_->rewrite(op))) {
      return failure();
    }
    if (turnsByPlace) {
      rope.getPositionsMutable().assign(positions_);
    }
    return success();
  }

  // ---- attention ----------------------------------------------------------
  LogicalResult rewriteAttention(AttentionOp op) {
    if (!op.getCausal()) {
      return op.emitOpError()
             << "generate.chunk: expected causal attention, got attention to rows that are not there yet";
    }
    for (Value value : {op.getQ(), op.getK(), op.getV()}) {
      if (!rows_->isOfRows(value) || rows_->of(value).dim != 1) {
        return op.emitOpError() << "generate.chunk: expected attention of the tokens, got one of something else";
      }
    }
    Value bias, mask;
    if (failed(ofScores(op, "bias", op.getBias(), bias)) || failed(ofScores(op, "mask", op.getMask(), mask))) {
      return failure();
    }
    Value keys = cached(op, op.getK(), "keys"), values = cached(op, op.getV(), "values");
    Value before = seen(op);
    mask = mask ? rows(made(create<LogicalAndOp>(b_, op.getLoc(), before, mask), op), 2) : before;
    op.getKMutable().assign(keys);
    op.getVMutable().assign(values);
    op.getBiasMutable().assign(bias ? mlir::ValueRange(bias) : mlir::ValueRange());
    op.getMaskMutable().assign(mask);
    op.setCausal(false);
    op.removeWindowAttr();
    rows_->resize(op.getOut(), {.dim = 1}, chunk_);
    return success();
  }

  // A bias or a mask [batch, heads, queries, keys] for the rows at the positions; empty if there is none.
  LogicalResult ofScores(AttentionOp op, StringRef what, Value whole, Value &found) {
    auto error = [&] {
      return op.emitOpError() << "generate.chunk: " << what << ": expected one that positions alone make, got one ";
    };
    if (!whole) {
      return success();
    }
    if (rows_->dependsOnTokens(whole)) {
      return error() << "that depends on the tokens";
    }
    found = whole;
    if (shapeOf(whole)[2] == 1) {
      return success(); // the same for all rows
    }
    if (shapeOf(whole)[0] != 1) {
      return error() << "for each of " << shapeOf(whole)[0] << " samples";
    }
    Value &known = ofScores_[whole];
    Operation *maker = whole.getDefiningOp();
    known = known ? known : rows_->atPositions(maker ? maker : op.getOperation(), whole, 2);
    if (!known) {
      return error() << "of numbers that are listed";
    }
    found = known;
    return success();
  }

  // Which places of the cache a row sees: those up to its own, or the last of these.
  Value seen(AttentionOp op) {
    auto i32 = mlir::TypeAttr::get(b_.getIntegerType(32));
    Value at = rows(
        made(create<ReshapeOp>(b_, op.getLoc(), positions_, b_.getI64ArrayAttr({shapeOf(positions_)[0], 1, chunk_, 1})),
             op),
        2);
    Value places =
        made(create<IotaOp>(b_, op.getLoc(), b_.getI64ArrayAttr({1, 1, 1, length_}), number(3), mlir::TypeAttr()), op);
    Value before = rows(made(create<GreaterEqualOp>(b_, op.getLoc(), at, places, nullptr), op), 2);
    if (!op.getWindowAttr()) {
      return before;
    }
    Value window = made(create<FillOp>(b_, op.getLoc(), b_.getI64ArrayAttr({1, 1, 1, 1}), op.getWindowAttr(), i32), op);
    Value ends = made(create<AddOp>(b_, op.getLoc(), places, window), op);
    Value near = rows(made(create<LessOp>(b_, op.getLoc(), at, ends, nullptr), op), 2);
    return rows(made(create<LogicalAndOp>(b_, op.getLoc(), before, near), op), 2);
  }

  // The rows of before and, at their positions, those of now.
  Value cached(AttentionOp op, Value now, StringRef what) {
    SmallVector<int64_t> shape(shapeOf(now));
    shape[1] = length_;
    std::string name = (scopeOf(op).empty() ? "" : (scopeOf(op) + ".").str()) + "cache." + what.str();
    if (int again = names_[name]++) {
      name += "." + std::to_string(again);
    }
    // As what is written into it. Where queries share heads, more ranks than there are heads have the same ones.
    const bool shared = shapeOf(op.getQ())[2] != shape[2];
    mlir::NamedAttrList pins(samplesPins());
    pins.set("tensor", ExprAttr::get(op.getContext(), "S(2)"));
    if (shared) {
      pins.set("group", ExprAttr::get(op.getContext(), "B"));
    }
    auto cache = create<ParameterOp>(b_, op.getLoc(), b_.getStringAttr(name), b_.getI64ArrayAttr(shape), ArrayAttr(),
                                     InitAttr::get(op.getContext(), "zeros", {}), pins.getDictionary(op.getContext()),
                                     /*pinned=*/b_.getUnitAttr(), /*state=*/b_.getUnitAttr(), mlir::IntegerAttr());
    cache->setAttr(kCacheName, b_.getUnitAttr());
    made(cache, op);
    auto next = create<ScatterSetOp>(b_, op.getLoc(), cache, positions_, now, number(1), number(1));
    made(next, op);
    mlir::OperationState assign(op.getLoc(), AssignOp::getOperationName());
    assign.addOperands({cache, next});
    setBelongings(b_.create(assign), belongingsOf(op));
    return next;
  }

  // ---- the last row -------------------------------------------------------
  // What is needed of all rows: what the caches are made of.
  void findKept() {
    for (Operation &op : llvm::reverse(graph_.getBody().front())) {
      if (llvm::isa<AssignOp>(op) || kept_.contains(&op)) {
        for (Value operand : op.getOperands()) {
          kept_.insert(operand.getDefiningOp());
        }
      }
    }
  }

  // The last row of each sequence alone: an op that makes each row of that row makes one, unless all are needed.
  Value lastOf(Value value) {
    if (chunk_ == 1 || !rows_->dependsOnTokens(value)) {
      return value;
    }
    if (Value known = last_.lookup(value)) {
      return known;
    }
    Operation *op = value.getDefiningOp();
    const Rows rows = rows_->of(value);
    const bool isMadeOfAll = op && (kept_.contains(op) || (op->getNumOperands() > 0 && !dependsOnTokens(op)));
    if (!op || (rows.kind == Rows::Values && rows.outer == 1 && isMadeOfAll)) {
      b_.setInsertionPointAfterValue(value);
      auto slice = create<SliceOp>(b_, value.getLoc(), value, number(rows.dim), number((chunk_ - 1) * rows.inner),
                                   number(rows.inner));
      return last_[value] = op ? made(slice, op) : Value(slice);
    }
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return lastOf(operand); });
    b_.setInsertionPointAfter(op);
    Operation *copy = b_.clone(*op);
    copy->setOperands(operands);
    for (auto [result, original] : llvm::zip(copy->getResults(), op->getResults())) {
      rows_->resize(result, rows_->of(original), 1);
      last_[original] = result;
    }
    return last_.lookup(value);
  }

  // ---- small builders -----------------------------------------------------
  // Of a tensor [batch, ...]: split as the samples are.
  mlir::DictionaryAttr samplesPins() {
    mlir::NamedAttrList pins;
    for (StringRef axis : {"data", "expert"}) {
      pins.set(axis, ExprAttr::get(b_.getContext(), "S(0)"));
    }
    return pins.getDictionary(b_.getContext());
  }

  mlir::IntegerAttr number(int64_t n) { return b_.getI64IntegerAttr(n); }

  Value made(Operation *op, Operation *like) {
    setBelongings(op, belongingsOf(like));
    return op->getResult(0);
  }

  Value rows(Value value, int64_t dim) {
    rows_->note(value, {.dim = dim});
    return value;
  }

  GraphOp graph_;
  const int64_t chunk_;
  mlir::OpBuilder b_;
  int64_t length_ = 0; // of a sequence
  Value positions_;
  std::optional<RowRewriter> rows_;       // of what depends on the tokens
  llvm::DenseMap<Value, Value> ofScores_; // of whole sequences, at the positions
  llvm::DenseSet<Operation *> kept_;
  llvm::DenseMap<Value, Value> last_;
  llvm::StringMap<int> names_;
};

struct ElaborateGenerate : impl::ElaborateGenerateBase<ElaborateGenerate> {
  using ElaborateGenerateBase::ElaborateGenerateBase;

  void runOnOperation() override {
    if (failed(Generator(getOperation(), chunk).run())) {
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace weft::compiler
