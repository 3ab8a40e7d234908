// Shapes, sharding rules and cost of the optimizer ops.
#include "ops/optimizer/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

namespace weft::ir {

namespace {

using Last = std::optional<mlir::OpAsmParser::UnresolvedOperand>;

// Types of an op whose last operand, of type `last`, may be absent; the first N of `slots` are those of its others.
template <int N, typename... Slots>
mlir::ParseResult parseOpen(mlir::OpAsmParser &parser, const Last &given, mlir::Type &last, Slots &...slots) {
  llvm::SmallVector<mlir::Type> operands, results;
  bool present = false;
  if (assembly::parseTypes(parser, operands, results, present)) {
    return mlir::failure();
  }
  size_t count = N + (given ? 1 : 0), resultCount = sizeof...(Slots) - N;
  if (!present) {
    operands.assign(count, AnyType::get(parser.getContext()));
    results.assign(resultCount, AnyType::get(parser.getContext()));
  }
  if (operands.size() != count) {
    return assembly::wrongCount(parser, "operand types", count, operands.size());
  }
  if (results.size() != resultCount) {
    return assembly::wrongCount(parser, "result types", resultCount, results.size());
  }
  if (given) {
    last = operands.pop_back_val();
  }
  operands.append(results);
  llvm::ArrayRef<mlir::Type> rest = operands;
  (assembly::take(slots, rest), ...);
  return mlir::success();
}

template <int N, typename... Slots> void printOpen(mlir::OpAsmPrinter &printer, mlir::Type last, Slots... slots) {
  llvm::SmallVector<mlir::Type> operands{slots...};
  llvm::SmallVector<mlir::Type> results(operands.begin() + N, operands.end());
  operands.truncate(N);
  if (last) {
    operands.push_back(last);
  }
  assembly::printTypes(printer, operands, results);
}

#define OPEN_TYPES(NAME, N)                                                                                            \
  template <typename... Slots>                                                                                         \
  mlir::ParseResult parse##NAME(mlir::OpAsmParser &parser, const Last &given, mlir::Type &last, Slots &...slots) {     \
    return parseOpen<N>(parser, given, last, slots...);                                                                \
  }                                                                                                                    \
  template <typename... Slots>                                                                                         \
  void print##NAME(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Value, mlir::Type last, Slots... slots) {     \
    printOpen<N>(printer, last, slots...);                                                                             \
  }
OPEN_TYPES(ClipTypes, 2)
// An update of S tensors of state has S + 4 operands and S + 1 results.
OPEN_TYPES(UpdateTypes, (sizeof...(Slots) + 3) / 2)
#undef OPEN_TYPES

using Types = SmallVectorImpl<RankedTensorType>;
using TypeList = ArrayRef<RankedTensorType>;

RankedTensorType scalarType(mlir::MLIRContext *context) {
  return RankedTensorType::get({}, mlir::Float32Type::get(context));
}

LogicalResult requireScalar(mlir::Operation *op, StringRef name, Value value) {
  return requireType(op, name, value, scalarType(op->getContext()));
}

// A decay rate of a moving average.
LogicalResult requireDecay(mlir::Operation *op, StringRef name, double value) {
  if (!(value >= 0 && value < 1)) {
    return op->emitOpError() << name << ": expected at least 0 and less than 1, got " << value;
  }
  return mlir::success();
}

LogicalResult requireNotNegative(mlir::Operation *op, StringRef name, double value) {
  if (!(value >= 0)) {
    return op->emitOpError() << name << ": expected at least 0, got " << value;
  }
  return mlir::success();
}

bool isHalf(mlir::Type element) { return element.isBF16() || element.isF16(); }

double numberOf(mlir::FloatAttr attribute) { return attribute.getValueAsDouble(); }

// What a number of a rule may be, by its name.
LogicalResult requireNumber(mlir::Operation *op, StringRef name) {
  auto number = llvm::dyn_cast_or_null<mlir::FloatAttr>(op->getInherentAttr(name).value_or(mlir::Attribute()));
  if (!number) {
    return op->emitOpError() << name << ": expected a number, got none";
  }
  double value = numberOf(number);
  if (name == "momentum" || name == "beta1" || name == "beta2") {
    return requireDecay(op, name, value);
  }
  if (name == "weight_decay") {
    return requireNotNegative(op, name, value);
  }
  if (!(value > 0)) {
    return op->emitOpError() << name << ": expected above 0, got " << value;
  }
  return mlir::success();
}

// A number of dimensions that the op may have.
int64_t countOf(mlir::Operation *op, StringRef name, int64_t absent) {
  auto count = op->getAttrOfType<mlir::IntegerAttr>(name);
  return count ? count.getInt() : absent;
}

// The operands of an update: `p`, tensors of its type or shapes that the rule says, of which the gradient may be bf16
// or f16, and the scalars `lr` and `grad_scale`, and maybe `step`. The results are the next values of `p` and of what
// the optimizer keeps.
LogicalResult inferUpdate(UpdateOpInterface op, Types &results) {
  for (StringRef name : op.getNumberNames()) {
    if (failed(requireNumber(op, name))) {
      return mlir::failure();
    }
  }
  RankedTensorType p = withSbp(tensorOf(op.getParameter()), {});
  if (!p.getElementType().isF32()) {
    return op->emitOpError() << "p: expected the element type f32, got " << p.getElementType();
  }
  mlir::Type element = tensorOf(op.getGradient()).getElementType();
  RankedTensorType g = isHalf(element) ? RankedTensorType::get(p.getShape(), element) : p;
  if (failed(requireType(op, "g", op.getGradient(), g))) {
    return mlir::failure();
  }
  int64_t batch = countOf(op, "batch", 0), rows = countOf(op, "rows", 1);
  if (!(batch >= 0 && batch <= p.getRank())) {
    return op->emitOpError() << "batch: expected 0 to " << p.getRank() << ", the dimensions of p, got " << batch;
  }
  if (op->hasAttr("rows") && !(rows >= 1 && batch + rows < p.getRank())) {
    return op->emitOpError() << "rows: expected at least 1, and a dimension of columns behind them, got " << rows
                             << " of " << p.getRank() - batch << " dimensions";
  }
  SmallVector<RankedTensorType> kept;
  for (ArrayRef<int64_t> shape : op.getStateShapes(p.getShape(), batch, rows)) {
    kept.push_back(RankedTensorType::get(shape, p.getElementType()));
  }
  for (auto [name, value, type] : llvm::zip(op.getStateNames(), op.getState(), kept)) {
    if (failed(requireType(op, name, value, type))) {
      return mlir::failure();
    }
  }
  for (auto [name, scalar] : llvm::zip(ArrayRef<StringRef>{"lr", "grad_scale", "step"},
                                       op->getOperands().drop_front(2 + op.getState().size()))) {
    if (failed(requireScalar(op, name, scalar))) {
      return mlir::failure();
    }
  }
  results.push_back(p);
  results.append(kept);
  return mlir::success();
}

// Result by result the operand of which it is the next value: the parameter, then the state.
SmallVector<int64_t> updatedOperands(UpdateOpInterface op) {
  SmallVector<int64_t> operands{0};
  llvm::append_range(operands, llvm::seq<int64_t>(2, 2 + op.getState().size()));
  return operands;
}

// Flags are numbers to a kernel, 0 or 1.
void updateAttributes(mlir::Operation *op, ArrayRef<StringRef> flags, mlir::NamedAttrList &attributes) {
  attributes = inherentAttributes(op);
  for (StringRef flag : flags) {
    attributes.set(flag, mlir::Builder(op->getContext()).getI64IntegerAttr(attributes.get(flag) ? 1 : 0));
  }
}

// Element by element; the scalars are the same everywhere. Where a gradient is 0, it adds nothing to what is kept of
// rows and columns.
ShardingRule updateRule(UpdateOpInterface op) {
  SmallVector<ArrayRef<int64_t>> shapes = llvm::map_to_vector(op->getOperands(), shapeOf);
  ShardingRule rule = ShardingRule::pointwise(shapes, shapeOf(op->getResult(0)), op->getNumResults()).withNeutral(1, 0);
  for (size_t kept = 0; kept < op.getState().size(); ++kept) {
    rule.results[1 + kept] = rule.operands[2 + kept];
  }
  return rule;
}

// Scalars that are the same everywhere.
ShardingRule scalarsRule(mlir::Operation *op) {
  SmallVector<ArrayRef<int64_t>> operands(op->getNumOperands()), results(op->getNumResults());
  std::string text = std::string(operands.size() - 1, ',') + "->" + std::string(results.size() - 1, ',');
  return ShardingRule::parse(text, operands, results);
}

Cost updateCost(double flops, TypeList operands, TypeList results) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = flops * double(results[0].getNumElements());
  return cost;
}

} // namespace
} // namespace weft::ir

#define GET_OP_CLASSES
#include "ops/optimizer/ops.cpp.inc"

namespace weft::ir {

LogicalResult SquareSumOp::inferTypes(Types &results) {
  RankedTensorType input = tensorOf(getInput());
  if (!input.getElementType().isF32() && !isHalf(input.getElementType())) {
    return emitOpError() << "expected the element type f32, bf16 or f16, got " << input.getElementType();
  }
  results.push_back(scalarType(getContext()));
  return mlir::success();
}

ShardingRule SquareSumOp::getShardingRule() {
  return ShardingRule::parse(".->", {shapeOf(getInput())}, {shapeOf(getResult())}).withNeutral(0, 0);
}

Cost SquareSumOp::getCost(TypeList operands, TypeList results) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = 2.0 * double(operands[0].getNumElements());
  return cost;
}

LogicalResult ClipScaleOp::inferTypes(Types &results) {
  if (failed(requireScalar(*this, "square_sum", getSquareSum())) || failed(requireScalar(*this, "count", getCount())) ||
      (getLossScale() && failed(requireScalar(*this, "loss_scale", getLossScale()))) ||
      failed(requireNotNegative(*this, "clip_norm", numberOf(getClipNormAttr())))) {
    return mlir::failure();
  }
  results.append(2, scalarType(getContext()));
  return mlir::success();
}

ShardingRule ClipScaleOp::getShardingRule() { return scalarsRule(*this); }

LogicalResult LossScaleOp::inferTypes(Types &results) {
  for (auto [name, value] : {std::pair<StringRef, Value>("square_sum", getSquareSum()),
                             {"scale", getScale()},
                             {"good_steps", getGoodSteps()},
                             {"skipped_steps", getSkippedSteps()}}) {
    if (failed(requireScalar(*this, name, value))) {
      return mlir::failure();
    }
  }
  if (double growth = numberOf(getGrowthFactorAttr()); !(growth >= 1)) {
    return emitOpError() << "growth_factor: expected at least 1, got " << growth;
  }
  if (double backoff = numberOf(getBackoffFactorAttr()); !(backoff > 0 && backoff < 1)) {
    return emitOpError() << "backoff_factor: expected above 0 and below 1, got " << backoff;
  }
  if (int64_t interval = int64_t(getGrowthInterval()); interval < 1) {
    return emitOpError() << "growth_interval: expected at least 1, got " << interval;
  }
  double min = numberOf(getMinAttr()), max = numberOf(getMaxAttr());
  if (!(min > 0)) {
    return emitOpError() << "min: expected above 0, got " << min;
  }
  if (!(max >= min)) {
    return emitOpError() << "max: expected at least the min of " << min << ", got " << max;
  }
  results.append(4, scalarType(getContext()));
  return mlir::success();
}

ShardingRule LossScaleOp::getShardingRule() { return scalarsRule(*this); }

LogicalResult LearningRateOp::inferTypes(Types &results) {
  if (double lr = numberOf(getLrAttr()); !(lr > 0)) {
    return emitOpError() << "lr: expected above 0, got " << lr;
  }
  const StringRef schedule = getSchedule();
  constexpr StringRef kNames[] = {"constant", "warmup_cosine",       "warmup_linear",   "inverse_sqrt", "polynomial",
                                  "step",     "warmup_stable_decay", "cosine_restarts", "count"};
  if (!llvm::is_contained(kNames, schedule)) {
    return emitOpError() << "schedule: expected one of " << llvm::join(std::begin(kNames), std::end(kNames), ", ")
                         << ", got " << schedule;
  }
  auto atLeast = [&](StringRef name, int64_t least, int64_t number) -> LogicalResult {
    return number >= least
               ? mlir::success()
               : LogicalResult(emitOpError() << name << ": expected at least " << least << ", got " << number);
  };
  const int64_t warmup = int64_t(getWarmup()), total = int64_t(getTotal());
  if (failed(atLeast("warmup", schedule == "inverse_sqrt" ? 1 : 0, warmup)) ||
      failed(atLeast("growth", 1, getGrowth().value_or(1))) ||
      (schedule == "cosine_restarts" && failed(atLeast("period", 1, getPeriod().value_or(0)))) ||
      (schedule == "step" && !getMilestones() && failed(atLeast("every", 1, getEvery().value_or(0))))) {
    return mlir::failure();
  }
  const bool ends =
      llvm::is_contained({"warmup_cosine", "warmup_linear", "polynomial", "warmup_stable_decay"}, schedule);
  if (ends && total <= warmup) {
    return emitOpError() << "total: expected above the warmup of " << warmup << ", got " << total;
  }
  if (double ratio = numberOf(getMinRatioAttr()); !(ratio >= 0 && ratio <= 1)) {
    return emitOpError() << "min_ratio: expected 0 to 1, got " << ratio;
  }
  for (auto [name, number] :
       {std::pair<StringRef, mlir::FloatAttr>("power", getPowerAttr()), {"factor", getFactorAttr()}}) {
    if (number && !(numberOf(number) > 0)) {
      return emitOpError() << name << ": expected above 0, got " << numberOf(number);
    }
  }
  if (getMilestones() && getEvery()) {
    return emitOpError("expected `every` or `milestones`, got both");
  }
  if (int64_t decay = getDecay().value_or(0);
      schedule == "warmup_stable_decay" && !(decay >= 1 && decay <= total - warmup)) {
    return emitOpError() << "decay: expected 1 to the " << total - warmup << " steps behind the warmup, got " << decay;
  }
  results.push_back(scalarType(getContext()));
  return mlir::success();
}

ShardingRule LearningRateOp::getShardingRule() { return ShardingRule::pointwise({}, {}); }

SmallVector<SmallVector<int64_t>> AdafactorOp::getStateShapes(ArrayRef<int64_t> shape, int64_t batch, int64_t rows) {
  SmallVector<int64_t> ofRows(shape), ofColumns(shape);
  for (int64_t dim = batch; dim < int64_t(shape.size()); ++dim) {
    (dim < batch + rows ? ofColumns : ofRows)[size_t(dim)] = 1;
  }
  return {ofRows, ofColumns};
}

} // namespace weft::ir
