// The structural ops: graph, parameter, box, minimize, accumulate, assign, output.
#include <cmath>

#include "llvm/ADT/StringSet.h"
#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/dialect/weft.h"

namespace weft::ir {
namespace {

// Types of weft.minimize: `: (loss)` or `: (loss, count)`.
mlir::ParseResult parseMinimized(mlir::OpAsmParser &parser,
                                 const std::optional<mlir::OpAsmParser::UnresolvedOperand> &countOperand,
                                 mlir::Type &loss, mlir::Type &count) {
  size_t operands = countOperand ? 2 : 1;
  llvm::SmallVector<mlir::Type> types, results;
  bool present = false;
  if (assembly::parseTypes(parser, types, results, present)) {
    return mlir::failure();
  }
  if (!present) {
    types.assign(operands, AnyType::get(parser.getContext()));
  }
  if (types.size() != operands || !results.empty()) {
    return assembly::wrongCount(parser, "types", operands, types.size() + results.size());
  }
  loss = types[0];
  if (countOperand) {
    count = types[1];
  }
  return mlir::success();
}

void printMinimized(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Value, mlir::Type loss, mlir::Type count) {
  llvm::SmallVector<mlir::Type> types{loss};
  if (count) {
    types.push_back(count);
  }
  assembly::printTypes(printer, types, {});
}

llvm::LogicalResult verifyScalar(mlir::Operation *op, mlir::Value value, llvm::StringRef what) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (type && (type.getRank() != 0 || !type.getElementType().isF32())) {
    return op->emitOpError() << what << ": expected tensor<f32>, got " << type;
  }
  return mlir::success();
}

} // namespace
} // namespace weft::ir

#define GET_OP_CLASSES
#include "ops/dialect/structure.cpp.inc"

namespace weft::ir {

void WeftDialect::registerStructure() {
  addOperations<
#define GET_OP_LIST
#include "ops/dialect/structure.cpp.inc"
      >();
}

mlir::ParseResult GraphOp::parse(mlir::OpAsmParser &parser, mlir::OperationState &result) {
  mlir::StringAttr name;
  if (parser.parseSymbolName(name, "sym_name", result.attributes)) {
    return mlir::failure();
  }
  mlir::Builder &builder = parser.getBuilder();
  llvm::SmallVector<mlir::Attribute> inputs;
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  auto input = [&]() -> mlir::ParseResult {
    std::string inputName;
    if (parser.parseString(&inputName) || parser.parseArgument(arguments.emplace_back(), /*allowType=*/true)) {
      return mlir::failure();
    }
    inputs.push_back(builder.getStringAttr(inputName));
    return mlir::success();
  };
  mlir::ArrayAttr placements;
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, input) || parser.parseKeyword("placements") ||
      parser.parseAttribute(placements, "placements", result.attributes)) {
    return mlir::failure();
  }
  if (mlir::succeeded(parser.parseOptionalKeyword("micro_batches"))) {
    int64_t count = 1;
    if (parser.parseInteger(count)) {
      return mlir::failure();
    }
    result.addAttribute("micro_batches", builder.getI64IntegerAttr(count));
  }
  result.addAttribute("inputs", builder.getArrayAttr(inputs));
  mlir::Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, arguments)) {
    return mlir::failure();
  }
  if (body->empty()) {
    body->emplaceBlock();
  }
  return mlir::success();
}

void GraphOp::print(mlir::OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  llvm::interleaveComma(llvm::zip(getInputs(), getBody().getArguments()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " ";
    printer.printRegionArgument(std::get<1>(pair));
  });
  printer << ") placements " << getPlacements();
  if (getMicroBatches() != 1) {
    printer << " micro_batches " << getMicroBatches();
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym_name", "inputs", "placements", "micro_batches"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

llvm::LogicalResult GraphOp::verify() {
  if (getInputs().size() != getBody().getNumArguments()) {
    return emitOpError() << "expected one name an input, got " << getInputs().size() << " for "
                         << getBody().getNumArguments();
  }
  if (getInputStages() && getInputStages()->size() != getInputs().size()) {
    return emitOpError() << "input_stages: expected " << getInputs().size() << ", one an input, got "
                         << getInputStages()->size();
  }
  llvm::DenseSet<std::pair<mlir::Attribute, int64_t>> names;
  for (auto [index, name] : llvm::enumerate(getInputs())) {
    if (!names.insert({name, getInputStage(unsigned(index))}).second) {
      return emitOpError() << "expected distinct input names, got " << name << " twice";
    }
  }
  for (mlir::BlockArgument argument : getBody().getArguments()) {
    if (!llvm::isa<mlir::RankedTensorType>(argument.getType())) {
      return emitOpError() << "input #" << argument.getArgNumber() << ": expected a ranked tensor, got "
                           << argument.getType();
    }
  }
  if (getPlacements().empty() ||
      llvm::any_of(getPlacements(), [](mlir::Attribute a) { return !llvm::isa<PlacementAttr>(a); })) {
    return emitOpError("expected a list of one or more placements");
  }
  int64_t stages = int64_t(getPlacements().size());
  for (int64_t stage : getInputStages().value_or(llvm::ArrayRef<int64_t>())) {
    if (stage < 0 || stage >= stages) {
      return emitOpError() << "input_stages: expected less than " << stages << ", got " << stage;
    }
  }
  mlir::WalkResult walk = getBody().walk([&](mlir::Operation *op) {
    auto stage = op->getAttrOfType<mlir::IntegerAttr>("stage");
    if (stage && (stage.getInt() < 0 || stage.getInt() >= stages)) {
      op->emitOpError() << "stage: expected less than " << stages << ", got " << stage.getInt();
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return mlir::failure(walk.wasInterrupted());
}

// A `*` in a parameter's name: files have a tensor for each index of dimension 0 (runtime/plan/stored.h).
static llvm::LogicalResult requireStackable(mlir::Operation *op, llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                                            llvm::ArrayRef<int64_t> stored) {
  const size_t stars = name.count('*');
  if (stars > 1) {
    return op->emitOpError() << "name: expected at most one *, got " << name;
  }
  if (stars == 1 && (shape.empty() || stored.empty() || shape[0] != stored[0])) {
    return op->emitOpError() << "name: expected a first dimension that the * of " << name << " stands for, "
                             << "the same in the shape and in `stored`";
  }
  return mlir::success();
}

llvm::LogicalResult ParameterOp::inferTypes(llvm::SmallVectorImpl<mlir::RankedTensorType> &results) {
  llvm::SmallVector<int64_t> shape = intsOf(getShape()), own = shape;
  if (failed(countElements(*this, "shape", shape))) {
    return mlir::failure();
  }
  // Files have what is not padding.
  if (auto unpadded = (*this)->getAttrOfType<mlir::ArrayAttr>(kUnpaddedName)) {
    own = llvm::to_vector(llvm::cast<mlir::DenseI64ArrayAttr>(unpadded[0]).asArrayRef());
  }
  llvm::SmallVector<int64_t> stored = getStored() ? intsOf(*getStored()) : own;
  llvm::FailureOr<int64_t> elements = countElements(*this, "shape", own),
                           inFiles = countElements(*this, "stored", stored);
  if (failed(elements) || failed(inFiles)) {
    return mlir::failure();
  }
  if (*inFiles != *elements) {
    return emitOpError() << "stored: expected " << *elements << " elements, got " << *inFiles;
  }
  if (failed(requireStackable(*this, getName(), own, stored))) {
    return mlir::failure();
  }
  mlir::Type element = mlir::Float32Type::get(getContext());
  if (auto known = llvm::dyn_cast<mlir::RankedTensorType>(getResult().getType());
      known && (*this)->hasAttr(kCacheName)) {
    element = known.getElementType(); // in no file
  }
  results.push_back(mlir::RankedTensorType::get(shape, element));
  return mlir::success();
}

ShardingRule ParameterOp::getShardingRule() { return ShardingRule::pointwise({}, shapeOf(getResult())); }

llvm::LogicalResult ToGlobalOp::inferTypes(llvm::SmallVectorImpl<mlir::RankedTensorType> &results) {
  results.push_back(withSbp(tensorOf(getInput()), {}));
  return mlir::success();
}

ShardingRule ToGlobalOp::getShardingRule() {
  return ShardingRule::pointwise({shapeOf(getInput())}, shapeOf(getResult())).withLinear({{0}}).withMonotone({0});
}

llvm::LogicalResult ToGlobalOp::buildGradient(mlir::RewriterBase &, llvm::ArrayRef<mlir::Value> resultGradients,
                                              llvm::SmallVectorImpl<mlir::Value> &operandGradients) {
  operandGradients.push_back(resultGradients[0]);
  return mlir::success();
}

llvm::LogicalResult BoxOp::verify() {
  auto input = llvm::cast<mlir::RankedTensorType>(getInput().getType());
  auto result = llvm::cast<mlir::RankedTensorType>(getResult().getType());
  if (withSbp(input, {}) != withSbp(result, {})) {
    return emitOpError() << "expected one shape and element type, got " << input << " and " << result;
  }
  if (!sbpOf(input) || !sbpOf(result)) {
    return emitOpError("expected an SBP on operand and result");
  }
  return mlir::success();
}

mlir::OpFoldResult BoxOp::fold(FoldAdaptor) {
  if (getInput().getType() == getResult().getType() && !(*this)->hasAttr("stage")) {
    return getInput();
  }
  return {};
}

// That an op whose tiles change places along an axis has an axis that splits them.
template <typename Op> static llvm::LogicalResult requireSplit(Op op) {
  if (op.getInput().getType() != op.getResult().getType()) {
    return op.emitOpError() << "expected one type, got " << op.getInput().getType() << " and "
                            << op.getResult().getType();
  }
  SbpAttr sbp = sbpOf(op.getInput().getType());
  if (!sbp || int64_t(op.getAxis()) >= int64_t(sbp.getStates().size()) || !sbp.getStates()[op.getAxis()].isSplit()) {
    return op.emitOpError() << "axis: expected one that splits the operand, got " << op.getAxis() << " of "
                            << op.getInput().getType();
  }
  return mlir::success();
}

llvm::LogicalResult ZigzagOp::verify() { return requireSplit(*this); }

llvm::LogicalResult ShiftOp::verify() {
  if (failed(requireSplit(*this))) {
    return mlir::failure();
  }
  if (int64_t(getBy()) < 1) {
    return emitOpError() << "by: expected 1 or more, got " << getBy();
  }
  return mlir::success();
}

llvm::LogicalResult MinimizeOp::verify() {
  if (failed(verifyScalar(*this, getLoss(), "loss"))) {
    return mlir::failure();
  }
  // Expressions are looked at once they are numbers.
  auto number = [](mlir::Attribute attribute) { return attribute && !llvm::isa<ExprAttr>(attribute); };
  if (number(getRowsAttr()) && !(floatOf(getRowsAttr()) > 0)) {
    return emitOpError() << "rows: expected a number above 0, got " << floatOf(getRowsAttr());
  }
  if (number(getWeightAttr()) && (!std::isfinite(floatOf(getWeightAttr())) || floatOf(getWeightAttr()) == 0)) {
    return emitOpError() << "weight: expected a finite number other than 0, got " << floatOf(getWeightAttr());
  }
  return getCount() ? verifyScalar(*this, getCount(), "count") : mlir::success();
}

llvm::LogicalResult UpdateOp::verify() {
  if (getParameter().getType() != getGradient().getType()) {
    return emitOpError() << "gradient: expected " << getParameter().getType() << ", got " << getGradient().getType();
  }
  if (!getParameter().getDefiningOp<ParameterOp>()) {
    return emitOpError("parameter: expected the result of a weft.parameter");
  }
  return verifyScalar(*this, getCount(), "count");
}

llvm::LogicalResult AccumulateOp::inferTypes(llvm::SmallVectorImpl<mlir::RankedTensorType> &results) {
  results.push_back(withSbp(tensorOf(getInput()), {}));
  return mlir::success();
}

ShardingRule AccumulateOp::getShardingRule() {
  return ShardingRule::pointwise({shapeOf(getInput())}, shapeOf(getResult())).withLinear({{0}});
}

llvm::LogicalResult AssignOp::inferTypes(llvm::SmallVectorImpl<mlir::RankedTensorType> &) {
  if (withSbp(tensorOf(getTarget()), {}) != withSbp(tensorOf(getValue()), {})) {
    return emitOpError() << "value: expected " << withSbp(tensorOf(getTarget()), {}) << ", got "
                         << withSbp(tensorOf(getValue()), {});
  }
  if (!getTarget().getDefiningOp<ParameterOp>()) {
    return emitOpError("target: expected the result of a weft.parameter");
  }
  return mlir::success();
}

ShardingRule AssignOp::getShardingRule() {
  llvm::ArrayRef<int64_t> shape = shapeOf(getTarget());
  return ShardingRule::pointwise({shape, shape}, shape, /*numResults=*/0);
}

llvm::LogicalResult OutputOp::verify() {
  if (!getMetric()) {
    return mlir::success();
  }
  auto isPlain = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; };
  if (getName().empty() || !llvm::all_of(getName(), isPlain)) {
    return emitOpError() << "metric: expected a name of letters, digits, _, . and -, got \"" << getName() << "\"";
  }
  return verifyScalar(*this, getValue(), "metric");
}

} // namespace weft::ir
