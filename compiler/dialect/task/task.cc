#include "compiler/dialect/task/task.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "mlir/IR/DialectImplementation.h"

#include "compiler/dialect/task/dialect.cpp.inc"
#include "compiler/dialect/task/enums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/task/types.cpp.inc"

namespace weft::task {

// With as many digits as it takes to read the same numbers again: phases give the same from text as in one run.
static void printCost(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::DenseF64ArrayAttr cost) {
  auto print = [&](double number) {
    llvm::SmallString<32> text;
    for (int digits = 6; digits <= 16; ++digits) {
      text.clear();
      llvm::raw_svector_ostream(text) << llvm::format("%.*e", digits, number);
      double again = 0;
      if (!text.str().getAsDouble(again) && again == number) {
        break;
      }
    }
    printer << text;
  };
  printer << "[";
  llvm::interleaveComma(cost.asArrayRef(), printer, print);
  printer << "]";
}

static mlir::ParseResult parseCost(mlir::OpAsmParser &parser, mlir::DenseF64ArrayAttr &cost) {
  llvm::SmallVector<double> numbers;
  auto parse = [&] { return parser.parseFloat(numbers.emplace_back()); };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, parse)) {
    return mlir::failure();
  }
  cost = parser.getBuilder().getDenseF64ArrayAttr(numbers);
  return mlir::success();
}

} // namespace weft::task

#define GET_OP_CLASSES
#include "compiler/dialect/task/ops.cpp.inc"

namespace weft::task {

using ir::SbpState;

void TaskDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/task/types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/task/ops.cpp.inc"
      >();
}

LogicalResult BufferType::verify(llvm::function_ref<mlir::InFlightDiagnostic()> error, mlir::RankedTensorType tensor) {
  if (!ir::sbpOf(tensor)) {
    return error() << "buffer: expected a tensor type with an SBP, got " << tensor;
  }
  return mlir::success();
}

// Of a kernel.
static bool isProduct(mlir::DictionaryAttr product) {
  auto isSize = [&](llvm::StringRef name) {
    auto number = product.getAs<mlir::IntegerAttr>(name);
    return number && number.getInt() > 0;
  };
  auto type = product.getAs<mlir::StringAttr>("type");
  bool isWithin = bool(product.getAs<mlir::StringAttr>("within"));
  return product.size() == 5 + isWithin && isSize("batch") && isSize("m") && isSize("n") && isSize("k") && type &&
         !type.empty();
}

static bool isCost(llvm::ArrayRef<double> cost) {
  return cost.size() == 3 && llvm::all_of(cost, [](double part) { return part >= 0; });
}

llvm::SmallVector<int64_t> localShapeOf(mlir::RankedTensorType tensor, ir::PlacementAttr placement) {
  return ir::localShape(tensor.getShape(), ir::sbpOf(tensor).getStates(), placement.getSizes());
}

int64_t localBytesOf(mlir::RankedTensorType tensor, ir::PlacementAttr placement) {
  int64_t bytes = (tensor.getElementTypeBitWidth() + 7) / 8;
  for (int64_t extent : localShapeOf(tensor, placement)) {
    bytes *= extent;
  }
  return bytes;
}

static bool hasName(mlir::Operation *op, llvm::StringRef name) {
  auto kernel = llvm::dyn_cast<KernelOp>(op);
  return kernel && kernel.getName() == name;
}

bool AccumulateKernel::classof(mlir::Operation *op) { return hasName(op, kName); }

bool AccumulateEinsumKernel::classof(mlir::Operation *op) { return hasName(op, kName); }

bool AccumulateEmbeddingGradKernel::classof(mlir::Operation *op) { return hasName(op, kName); }

bool MoveKernel::classof(mlir::Operation *op) { return hasName(op, kFetch) || hasName(op, kStore); }

llvm::StringRef tierOf(mlir::Value buffer) {
  return rootOf(buffer).getDefiningOp<BufferOp>().getTier().value_or(llvm::StringRef());
}

bool SumKernel::classof(mlir::Operation *op) {
  return AccumulateKernel::classof(op) || AccumulateEinsumKernel::classof(op) ||
         AccumulateEmbeddingGradKernel::classof(op);
}

bool InputKernel::classof(mlir::Operation *op) { return hasName(op, kName); }

bool worksBelow(mlir::Operation *op) {
  return llvm::isa<KernelOp>(op) && !llvm::isa<MoveKernel>(op) && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [](mlir::Value operand) { return !tierOf(operand).empty(); });
}

Section sectionOf(mlir::Operation *work) {
  return llvm::TypeSwitch<mlir::Operation *, Section>(work).Case<KernelOp, CollectiveOp, SendOp, ReceiveOp>(
      [](auto op) { return op.getSection(); });
}

mlir::Value rootOf(mlir::Value buffer) {
  while (auto alias = buffer.getDefiningOp<AliasOp>()) {
    buffer = alias.getSource();
  }
  return buffer;
}

std::vector<schedule::Unit> unitsOf(ProgramOp program) {
  std::vector<schedule::Unit> units;
  if (program.getUnits()) {
    for (auto text : program.getUnits()->getAsRange<mlir::StringAttr>()) {
      units.push_back(schedule::parseUnit(text.getValue().str()).value_or(schedule::Unit()));
    }
    return units;
  }
  for (int i = 0; i < int(program.getMicroBatches()); ++i) {
    units.push_back({schedule::UnitKind::Forward, 0, i});
    units.push_back({schedule::UnitKind::Backward, 0, i});
  }
  return units;
}

LogicalResult ProgramOp::verify() {
  mlir::ArrayAttr units = getUnitsAttr();
  for (mlir::Attribute text : units ? units.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    std::optional<schedule::Unit> unit = schedule::parseUnit(llvm::cast<mlir::StringAttr>(text).str());
    if (!unit || unit->microBatch >= int64_t(getMicroBatches())) {
      return emitOpError() << "units: expected F, B or W and a micro-batch below " << getMicroBatches() << ", got "
                           << text;
    }
  }
  if (getOverlap() < 1) {
    return emitOpError() << "overlap: expected 1 or more, got " << getOverlap();
  }
  return mlir::success();
}

LogicalResult BufferOp::verify() {
  if (getSlots() < 1) {
    return emitOpError() << "slots: expected 1 or more, got " << getSlots();
  }
  return mlir::success();
}

LogicalResult AliasOp::verify() {
  mlir::RankedTensorType source = tensorOf(getSource()), view = tensorOf(getBuffer());
  if (source.getElementType() != view.getElementType() || source.getNumElements() != view.getNumElements()) {
    return emitOpError() << "expected as many elements of one type, got " << source << " and " << view;
  }
  return mlir::success();
}

LogicalResult KernelOp::verify() {
  if (llvm::isa<AccumulateKernel>(getOperation()) &&
      (getInputs().size() != 2 || getOutputs().size() != 1 || rootOf(getInputs()[1]) != rootOf(getOutputs()[0]))) {
    return emitOpError("accumulate: expected a term and a sum, and the same sum as output");
  }
  if (llvm::isa<AccumulateEinsumKernel, AccumulateEmbeddingGradKernel>(getOperation()) &&
      (getInputs().size() != 3 || getOutputs().size() != 1 || rootOf(getInputs()[2]) != rootOf(getOutputs()[0]))) {
    return emitOpError() << getName() << ": expected what makes a term, and a sum, and the same sum as output";
  }
  if (llvm::isa<InputKernel>(getOperation()) && (!getInputs().empty() || getOutputs().size() != 1)) {
    return emitOpError() << "input: expected no inputs and one output, got " << getInputs().size() << " and "
                         << getOutputs().size();
  }
  if (auto move = llvm::dyn_cast<MoveKernel>(getOperation())) {
    if (getInputs().size() != 1 || getOutputs().size() != 1 || tierOf(move.getInTier()).empty() ||
        !tierOf(move.getOnDevice()).empty()) {
      return emitOpError() << getName() << ": expected one buffer of a tier and one of the device";
    }
  }
  llvm::ArrayRef<int64_t> inPlace = getInPlace().value_or(llvm::ArrayRef<int64_t>());
  if (getInPlace() && inPlace.size() != getOutputs().size()) {
    return emitOpError() << "in_place: expected " << getOutputs().size() << " entries, one an output, got "
                         << inPlace.size();
  }
  for (int64_t input : inPlace) {
    if (input < -1 || input >= int64_t(getInputs().size())) {
      return emitOpError() << "in_place: expected -1 or an input below " << getInputs().size() << ", got " << input;
    }
  }
  if (getCost() && !isCost(*getCost())) {
    return emitOpError("cost: expected three numbers of 0 or more");
  }
  if (getProduct() && !isProduct(getProductAttr())) {
    return emitOpError() << "product: expected batch, m, n and k of 1 or more and a type, got " << getProductAttr();
  }
  return mlir::success();
}

namespace {

bool isPartial(SbpState state, bool max) { return state.kind == (max ? SbpState::PartialMax : SbpState::PartialSum); }

// Whether the states of one axis change as the collective's kind says.
bool changes(CollectiveOp op, SbpState from, SbpState to) {
  int64_t dim = op.getDim().value_or(-1), split = op.getSplitDim().value_or(-1);
  CollectiveFacts facts = FactsOf(kindOf(op.getKind()));
  if (facts.moves()) {
    return from == SbpState::split(dim) && to == from;
  }
  bool brought = facts.gathers ? from == SbpState::split(dim) : isPartial(from, op.getMax());
  bool kept = facts.cuts ? to == SbpState::split(facts.has_split_dim() ? split : dim) : to == SbpState::broadcast();
  return brought && kept;
}

} // namespace

LogicalResult CollectiveOp::verify() {
  auto from = ir::sbpOf(tensorOf(getInput())).getStates(), to = ir::sbpOf(tensorOf(getOutput())).getStates();
  if (from.size() != to.size()) {
    return emitOpError() << "expected one number of mesh axes, got " << from.size() << " and " << to.size();
  }
  int64_t last = -1;
  for (int64_t axis : getAxes()) {
    if (axis <= last || axis >= int64_t(from.size())) {
      return emitOpError() << "axes: expected ascending axes below " << from.size() << ", got " << axis;
    }
    last = axis;
  }
  for (size_t axis = 0; axis < from.size(); ++axis) {
    bool member = llvm::is_contained(getAxes(), int64_t(axis));
    if (member ? !changes(*this, from[axis], to[axis]) : from[axis] != to[axis]) {
      std::string text;
      llvm::raw_string_ostream(text) << from[axis] << " to " << to[axis];
      return emitOpError() << "axis " << axis << ": expected a change that " << stringifyCollectiveKind(getKind())
                           << (member ? " makes" : " leaves alone") << ", got " << text;
    }
  }
  return mlir::success();
}

} // namespace weft::task
