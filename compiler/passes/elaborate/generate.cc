// --weft-elaborate-generate: a function of whole sequences becomes one that goes on with sequences.
//
// A value that depends on the tokens has one dimension that is the sequence, its rows. By the sharding rule of an op
// that dimension is a factor like the batch: then row i of the results comes of row i of the operands, and of any
// number of rows the op makes as many. So all of these get `chunk` rows, and what they meet of the whole sequence, such
// as a table of positions, is taken at the positions of the rows. Causal attention alone reads other rows, those
// before: they are in its caches.
#include "compiler/passes/elaborate/passes.h"
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

// Of a tensor without the dimension 0 that broadcasts, as a table [1, sequence, hidden] has it.
ArrayRef<int64_t> withoutOuterOne(ArrayRef<int64_t> shape) {
  return !shape.empty() && shape[0] == 1 ? shape.drop_front() : shape;
}

class Generator {
public:
  Generator(GraphOp graph, int64_t chunk) : graph_(graph), chunk_(chunk), b_(graph.getContext()) {}

  LogicalResult run() {
    if (failed(inputs())) {
      return failure();
    }
    SmallVector<OutputOp> outputs;
    for (Operation &op : llvm::make_early_inc_range(graph_.getBody().front())) {
      if (auto output = llvm::dyn_cast<OutputOp>(op)) {
        if (!rowDim_.contains(output.getValue())) {
          return output.emitOpError() << "generate.chunk: expected an output of each token, got one that does not "
                                         "depend on the tokens";
        }
        outputs.push_back(output);
      } else if (llvm::any_of(op.getOperands(), [&](Value operand) { return rowDim_.contains(operand); })) {
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
    rowDim_[body.getArgument(0)] = 1;
    positions_ = body.addArgument(type, graph_.getLoc());
    rowDim_[positions_] = 1;
    graph_.setInputsAttr(b_.getArrayAttr({graph_.getInputs()[0], b_.getStringAttr("positions")}));
    return success();
  }

  // ---- ops ----------------------------------------------------------------
  LogicalResult rewrite(Operation *op) {
    if (auto attention = llvm::dyn_cast<AttentionOp>(op); attention && rowDim_.contains(attention.getK())) {
      return rewriteAttention(attention);
    }
    if (llvm::isa<DropoutOp>(op)) {
      return op->emitOpError() << "generate.chunk: expected a function that drops nothing, got a rate above 0";
    }
    if (failed(rewriteByRows(op))) {
      return failure();
    }
    if (auto rope = llvm::dyn_cast<RopeOp>(op); rope && !rope.getPositions()) {
      rope.getPositionsMutable().assign(positions_);
    }
    return success();
  }

  LogicalResult notByRows(Operation *op, const llvm::Twine &why) {
    return op->emitOpError()
           << "generate.chunk: expected an op that makes each row of a sequence of that row, or causal "
              "attention, got one that "
           << why;
  }

  // Where a tensor has the factor as a dimension of its own; -1 if nowhere, -2 if only with others.
  static int64_t dimOf(const ShardingRule::Tensor &tensor, int factor) {
    for (auto [dim, factors] : llvm::enumerate(tensor)) {
      if (llvm::is_contained(factors, factor)) {
        return factors.size() == 1 ? int64_t(dim) : -2;
      }
    }
    return -1;
  }

  LogicalResult rewriteByRows(Operation *op) {
    auto weftOp = llvm::dyn_cast<WeftOpInterface>(op);
    if (!weftOp) {
      return notByRows(op, "is none of either");
    }
    // The rule is that of the whole sequence: operands have their old types in it.
    const ShardingRule rule = ruleOfWhole(weftOp);
    int factor = -1;
    for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands)) {
      if (!rowDim_.contains(operand)) {
        continue;
      }
      const ShardingRule::Dim &dim = tensor[rowDim_.lookup(operand)];
      if (dim.size() != 1 || rule.factors[dim[0]].whole || (factor >= 0 && factor != dim[0])) {
        return notByRows(op, "needs rows of others too");
      }
      factor = dim[0];
    }
    SmallVector<int64_t> dims;
    for (const ShardingRule::Tensor &result : rule.results) {
      dims.push_back(dimOf(result, factor));
      if (dims.back() < 0) {
        return notByRows(op, dims.back() == -1 ? "makes one of all rows" : "joins rows with another dimension");
      }
    }
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      if (int64_t dim = dimOf(rule.operands[i], factor); !rowDim_.contains(op->getOperand(i)) && dim != -1) {
        if (failed(takeRows(op, i, dim, rule))) {
          return failure();
        }
      }
    }
    for (auto [result, dim] : llvm::zip(op->getResults(), dims)) {
      setRows(result, dim, chunk_);
    }
    return success();
  }

  // Of the op as it stood, before its operands had other types.
  ShardingRule ruleOfWhole(WeftOpInterface op) {
    SmallVector<mlir::Type> now;
    for (Value operand : op->getOperands()) {
      now.push_back(operand.getType());
      if (rowDim_.contains(operand)) {
        operand.setType(resized(operand, rowDim_.lookup(operand), length_));
      }
    }
    ShardingRule rule = op.getShardingRule();
    for (auto [operand, type] : llvm::zip(op->getOperands(), now)) {
      operand.setType(type);
    }
    return rule;
  }

  static RankedTensorType resized(Value value, int64_t dim, int64_t rows) {
    SmallVector<int64_t> shape(shapeOf(value));
    shape[dim] = rows;
    return RankedTensorType::get(shape, tensorOf(value).getElementType());
  }

  void setRows(Value value, int64_t dim, int64_t rows) {
    value.setType(resized(value, dim, rows));
    llvm::cast<WeftOpInterface>(value.getDefiningOp()).setResultShape(shapeOf(value));
    rowDim_[value] = dim;
  }

  // What has a row for every position of the sequence, and is the same whatever the tokens are.
  LogicalResult takeRows(Operation *op, unsigned index, int64_t dim, const ShardingRule &rule) {
    Value table = op->getOperand(index);
    ArrayRef<int64_t> shape = withoutOuterOne(shapeOf(table));
    const bool isPointwise = rule.results.size() == 1 && op->getNumResults() == 1 && dim >= 0 &&
                             shape.size() + 1 == shapeOf(op->getResult(0)).size() &&
                             int64_t(shapeOf(table).size() - shape.size()) == dim;
    if (!isPointwise) {
      return notByRows(op, "meets something of the whole sequence other than element by element, [sequence, ...]");
    }
    if (shape.size() != shapeOf(table).size()) {
      table = made(create<ReshapeOp>(b_, op->getLoc(), table, b_.getI64ArrayAttr(shape)), op);
    }
    // The first rows of a longer table are its own.
    if (auto slice = table.getDefiningOp<SliceOp>();
        slice && intOf(slice.getDim()) == 0 && intOf(slice.getOffset()) == 0) {
      table = slice.getInput();
    }
    Value rows = made(create<TakeOp>(b_, op->getLoc(), table, positions_, number(0), mlir::IntegerAttr(), nullptr), op);
    rowDim_[rows] = 1;
    op->setOperand(index, rows);
    return success();
  }

  // ---- attention ----------------------------------------------------------
  LogicalResult rewriteAttention(AttentionOp op) {
    if (!op.getCausal()) {
      return op.emitOpError()
             << "generate.chunk: expected causal attention, got attention to rows that are not there yet";
    }
    if (op.getBias() || op.getMask() || !rowDim_.contains(op.getQ()) || !rowDim_.contains(op.getV())) {
      return op.emitOpError() << "generate.chunk: expected attention of the tokens without bias or mask, got one with";
    }
    Value keys = cached(op, op.getK(), "keys"), values = cached(op, op.getV(), "values");
    Value mask = seen(op);
    op.getKMutable().assign(keys);
    op.getVMutable().assign(values);
    op.getMaskMutable().assign(mask);
    op.setCausal(false);
    op.removeWindowAttr();
    setRows(op.getOut(), 1, chunk_);
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
    if (chunk_ == 1 || !rowDim_.contains(value)) {
      return value;
    }
    if (Value known = last_.lookup(value)) {
      return known;
    }
    Operation *op = value.getDefiningOp();
    const int64_t dim = rowDim_.lookup(value);
    if (!op || kept_.contains(op)) {
      b_.setInsertionPointAfterValue(value);
      auto slice = create<SliceOp>(b_, value.getLoc(), value, number(dim), number(chunk_ - 1), number(1));
      return last_[value] = op ? made(slice, op) : Value(slice);
    }
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return lastOf(operand); });
    b_.setInsertionPointAfter(op);
    Operation *copy = b_.clone(*op);
    copy->setOperands(operands);
    for (auto [result, original] : llvm::zip(copy->getResults(), op->getResults())) {
      setRows(result, rowDim_.lookup(original), 1);
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
    rowDim_[value] = dim;
    return value;
  }

  GraphOp graph_;
  const int64_t chunk_;
  mlir::OpBuilder b_;
  int64_t length_ = 0; // of a sequence
  Value positions_;
  llvm::DenseMap<Value, int64_t> rowDim_; // of what depends on the tokens
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
