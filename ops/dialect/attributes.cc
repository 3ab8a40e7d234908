// Parsing and printing of the dialect's attributes, and the dialect itself.
#include <set>

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectImplementation.h"
#include "ops/dialect/weft.h"

#include "ops/dialect/dialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ops/dialect/attributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ops/dialect/types.cpp.inc"

namespace weft::ir {

void WeftDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ops/dialect/attributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ops/dialect/types.cpp.inc"
      >();
  registerStructure();
}

mlir::Attribute SbpAttr::parse(mlir::AsmParser &parser, mlir::Type) {
  llvm::SmallVector<SbpState> states;
  auto state = [&]() -> mlir::ParseResult {
    llvm::StringRef word;
    llvm::SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word)) {
      return mlir::failure();
    }
    SbpState s;
    if (word == "S") {
      s.kind = SbpState::Split;
      if (parser.parseLParen() || parser.parseInteger(s.dim) || parser.parseRParen()) {
        return mlir::failure();
      }
    } else if (word == "P") {
      s.kind = SbpState::PartialSum;
      if (mlir::succeeded(parser.parseOptionalLParen())) {
        if (parser.parseKeyword("max") || parser.parseRParen()) {
          return mlir::failure();
        }
        s.kind = SbpState::PartialMax;
      }
    } else if (word != "B") {
      return parser.emitError(loc) << "SBP state: expected S(dim), B, P or P(max), got " << word;
    }
    states.push_back(s);
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::LessGreater, state)) {
    return {};
  }
  return SbpAttr::get(parser.getContext(), states);
}

void SbpAttr::print(mlir::AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getStates(), printer.getStream());
  printer << ">";
}

llvm::LogicalResult SbpAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type,
                                            llvm::function_ref<mlir::InFlightDiagnostic()> error) const {
  for (SbpState state : getStates()) {
    if (state.isSplit() && (state.dim < 0 || state.dim >= int64_t(shape.size()))) {
      return error() << "SBP: expected a split of a dimension less than " << shape.size() << ", got S(" << state.dim
                     << ")";
    }
  }
  return mlir::success();
}

mlir::Attribute PlacementAttr::parse(mlir::AsmParser &parser, mlir::Type) {
  std::string device;
  llvm::SmallVector<mlir::StringAttr> axes;
  llvm::SmallVector<int64_t> sizes, ranks;
  auto axis = [&]() -> mlir::ParseResult {
    std::string name;
    int64_t size = 0;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseInteger(size)) {
      return mlir::failure();
    }
    axes.push_back(parser.getBuilder().getStringAttr(name));
    sizes.push_back(size);
    return mlir::success();
  };
  auto rank = [&] { return parser.parseInteger(ranks.emplace_back()); };
  if (parser.parseLess() || parser.parseString(&device) || parser.parseComma() ||
      parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, axis) || parser.parseComma() ||
      parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, rank) || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<PlacementAttr>(parser.getContext(), parser.getBuilder().getStringAttr(device), axes, sizes,
                                          ranks);
}

void PlacementAttr::print(mlir::AsmPrinter &printer) const {
  printer << "<\"" << getDevice().getValue() << "\", [";
  llvm::interleaveComma(llvm::zip(getAxes(), getSizes()), printer.getStream(), [&](auto axis) {
    printer.printKeywordOrString(std::get<0>(axis).getValue());
    printer << " = " << std::get<1>(axis);
  });
  printer << "], [";
  llvm::interleaveComma(getRanks(), printer.getStream());
  printer << "]>";
}

llvm::LogicalResult PlacementAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()> error, mlir::StringAttr,
                                          llvm::ArrayRef<mlir::StringAttr> axes, llvm::ArrayRef<int64_t> sizes,
                                          llvm::ArrayRef<int64_t> ranks) {
  int64_t product = 1;
  std::set<llvm::StringRef> names;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    if (size < 1) {
      return error() << "mesh axis " << axis << ": expected a positive size, got " << size;
    }
    if (!names.insert(axis.getValue()).second) {
      return error() << "mesh: expected distinct axes, got " << axis << " twice";
    }
    product *= size;
  }
  if (product != int64_t(ranks.size())) {
    return error() << "mesh: expected " << product << " ranks, got " << ranks.size();
  }
  std::set<int64_t> seen;
  for (int64_t rank : ranks) {
    if (rank < 0) {
      return error() << "mesh: expected ranks of 0 or more, got " << rank;
    }
    if (!seen.insert(rank).second) {
      return error() << "mesh: expected distinct ranks, got " << rank << " twice";
    }
  }
  return mlir::success();
}

std::optional<SbpState> parseState(llvm::StringRef text) {
  if (text == "B") {
    return SbpState::broadcast();
  }
  if (text == "P") {
    return SbpState::partialSum();
  }
  if (text == "P(max)") {
    return SbpState::partialMax();
  }
  int64_t dim = 0;
  if (text.consume_front("S(") && text.consume_back(")") && !text.getAsInteger(10, dim) && dim >= 0) {
    return SbpState::split(dim);
  }
  return std::nullopt;
}

int64_t stageOf(mlir::Operation *op) {
  auto stage = op->getAttrOfType<mlir::IntegerAttr>("stage");
  return stage ? stage.getInt() : 0;
}

int64_t stageOf(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  return argument ? llvm::cast<GraphOp>(argument.getOwner()->getParentOp()).getInputStage(argument.getArgNumber())
                  : stageOf(value.getDefiningOp());
}

int64_t chunkOf(mlir::Operation *op) {
  auto chunk = op->getAttrOfType<mlir::IntegerAttr>("chunk");
  return chunk ? chunk.getInt() : 0;
}

llvm::StringRef nameOf(OpPhase phase) {
  constexpr llvm::StringLiteral kNames[] = {"forward", "backward", "weight", "recompute", "update"};
  static_assert(std::size(kNames) == size_t(OpPhase::Update) + 1);
  return kNames[size_t(phase)];
}

OpPhase phaseOf(mlir::Operation *op) {
  auto name = op->getAttrOfType<mlir::StringAttr>("phase");
  for (OpPhase phase : {OpPhase::Backward, OpPhase::Weight, OpPhase::Recompute, OpPhase::Update}) {
    if (name && name.getValue() == nameOf(phase)) {
      return phase;
    }
  }
  return OpPhase::Forward;
}

void setPhase(mlir::Operation *op, OpPhase phase) {
  op->setAttr("phase", mlir::StringAttr::get(op->getContext(), nameOf(phase)));
}

llvm::StringRef scopeOf(mlir::Operation *op) {
  auto scope = op->getAttrOfType<mlir::StringAttr>("scope");
  return scope ? scope.getValue() : llvm::StringRef();
}

namespace {
constexpr llvm::StringLiteral kBelongings[] = {"scope", "phase", "stage", "chunk", "on_use"};
}

mlir::NamedAttrList belongingsOf(mlir::Operation *op) {
  mlir::NamedAttrList belongings;
  for (llvm::StringRef name : kBelongings) {
    if (mlir::Attribute value = op->getAttr(name)) {
      belongings.append(name, value);
    }
  }
  return belongings;
}

void setBelongings(mlir::Operation *op, const mlir::NamedAttrList &belongings) {
  for (llvm::StringRef name : kBelongings) {
    if (mlir::Attribute value = belongings.get(name)) {
      op->setAttr(name, value);
    } else {
      op->removeAttr(name);
    }
  }
}

llvm::SmallVector<int64_t> unpaddedShapeOf(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  mlir::Operation *owner = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  unsigned index = argument ? argument.getArgNumber() : llvm::cast<mlir::OpResult>(value).getResultNumber();
  if (auto shapes = owner->getAttrOfType<mlir::ArrayAttr>(kUnpaddedName)) {
    return llvm::SmallVector<int64_t>(llvm::cast<mlir::DenseI64ArrayAttr>(shapes[index]).asArrayRef());
  }
  // What is made later moves values, and computes nothing.
  if (!argument && owner->getNumOperands() == 1 && shapeOf(owner->getOperand(0)) == shapeOf(value)) {
    return unpaddedShapeOf(owner->getOperand(0));
  }
  return llvm::to_vector(shapeOf(value));
}

SbpAttr sbpOf(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? llvm::dyn_cast_or_null<SbpAttr>(tensor.getEncoding()) : SbpAttr();
}

mlir::RankedTensorType withSbp(mlir::RankedTensorType type, SbpAttr sbp) {
  return mlir::RankedTensorType::get(type.getShape(), type.getElementType(), sbp);
}

llvm::SmallVector<int64_t> localShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<SbpState> states,
                                      llvm::ArrayRef<int64_t> axisSizes) {
  llvm::SmallVector<int64_t> local(shape);
  for (auto [state, size] : llvm::zip(states, axisSizes)) {
    if (state.isSplit()) {
      assert(local[state.dim] % size == 0 && "expected an even split");
      local[state.dim] /= size;
    }
  }
  return local;
}

int64_t bytesOf(mlir::RankedTensorType type) {
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

int64_t intOf(mlir::Attribute number) { return llvm::cast<mlir::IntegerAttr>(number).getInt(); }

double floatOf(mlir::Attribute number) {
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(number)) {
    return double(integer.getInt());
  }
  return llvm::cast<mlir::FloatAttr>(number).getValueAsDouble();
}

llvm::SmallVector<int64_t> intsOf(mlir::ArrayAttr numbers) { return llvm::to_vector(llvm::map_range(numbers, intOf)); }

} // namespace weft::ir
