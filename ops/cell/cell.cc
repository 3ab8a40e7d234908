#include "ops/cell/cell.h"

namespace weft::cell {

static mlir::ParseResult parseKind(mlir::OpAsmParser &parser, mlir::StringAttr &kind) {
  std::string word;
  if (parser.parseKeywordOrString(&word)) {
    return mlir::failure();
  }
  kind = parser.getBuilder().getStringAttr(word);
  return mlir::success();
}

static void printKind(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::StringAttr kind) {
  printer << kind.getValue();
}

} // namespace weft::cell

#include "ops/cell/dialect.cpp.inc"
#define GET_OP_CLASSES
#include "ops/cell/ops.cpp.inc"

namespace weft::cell {

void CellDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ops/cell/ops.cpp.inc"
      >();
}

std::string textOf(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel.print(os, mlir::OpPrintingFlags().useLocalScope().assumeVerified());
  return text;
}

unsigned ByComputation::getHashValue(const mlir::Operation *kernel) {
  using Equivalence = mlir::OperationEquivalence;
  auto op = llvm::cast<KernelOp>(const_cast<mlir::Operation *>(kernel)); // nothing of it is written
  llvm::hash_code hash = llvm::hash_combine(op.getDomainAttr(), op.getStridesAttr(), op.getBatch());
  for (mlir::Operation &inner : op.getBody().getOps()) {
    hash =
        llvm::hash_combine(hash, Equivalence::computeHash(&inner, Equivalence::ignoreHashValue,
                                                          Equivalence::ignoreHashValue, Equivalence::IgnoreLocations));
  }
  return unsigned(size_t(hash));
}

static mlir::DictionaryAttr withoutName(KernelOp kernel) {
  mlir::NamedAttrList attributes(kernel->getAttrDictionary());
  attributes.erase(kernel.getSymNameAttrName());
  return attributes.getDictionary(kernel.getContext());
}

bool ByComputation::isEqual(const mlir::Operation *a, const mlir::Operation *b) {
  if (a == b || a == getEmptyKey() || a == getTombstoneKey() || b == getEmptyKey() || b == getTombstoneKey()) {
    return a == b;
  }
  auto one = llvm::cast<KernelOp>(const_cast<mlir::Operation *>(a));
  auto other = llvm::cast<KernelOp>(const_cast<mlir::Operation *>(b));
  return withoutName(one) == withoutName(other) &&
         mlir::OperationEquivalence::isRegionEquivalentTo(&one.getBody(), &other.getBody(),
                                                          mlir::OperationEquivalence::IgnoreLocations);
}

SumRowsOp sumRowsOf(mlir::Value yielded) {
  auto rounded = yielded.getDefiningOp<mlir::arith::TruncFOp>();
  return (rounded ? rounded.getIn() : yielded).getDefiningOp<SumRowsOp>();
}

unsigned KernelOp::getNumShared() {
  unsigned shared = 0;
  while (shared < getNumInputs() && getStridesOf(shared)[0] == 0) {
    ++shared;
  }
  return shared;
}

// What a kernel for several tensors at once must be.
static llvm::LogicalResult verifyBatch(KernelOp kernel) {
  if (kernel.getDomain() != llvm::ArrayRef<int64_t>(1)) {
    return kernel.emitOpError() << "batch: expected the domain [1], got [" << kernel.getDomain() << "]";
  }
  for (unsigned operand = kernel.getNumShared(); operand < kernel.getStrides().size(); ++operand) {
    if (kernel.getStridesOf(operand)[0] != 1) {
      return kernel.emitOpError() << "batch: expected inputs of stride 0, then operands of stride 1, got "
                                  << kernel.getStrides();
    }
  }
  if (kernel.getOffsets()) {
    return kernel.emitOpError() << "batch: expected operands from their first element on, got from "
                                << kernel.getOffsetsAttr();
  }
  for (mlir::Operation &op : kernel.getBody().getOps()) {
    if (llvm::isa<ReduceOp, SumRowsOp, RandomOp>(op)) {
      return kernel.emitOpError() << "batch: expected element-wise operations, got " << op.getName();
    }
  }
  return mlir::success();
}

llvm::LogicalResult KernelOp::verify() {
  auto yield = llvm::dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield) {
    return emitOpError() << "expected the block to end with cell.yield";
  }
  if (getStrides().size() != getNumInputs() + yield.getNumOperands()) {
    return emitOpError() << "strides: expected " << getNumInputs() + yield.getNumOperands()
                         << " lists, one for every input and output, got " << getStrides().size();
  }
  int64_t places = 1;
  for (int64_t extent : getDomain()) {
    if (extent < 1) {
      return emitOpError() << "domain: expected extents of 1 or more, got " << extent;
    }
    places *= extent;
  }
  int64_t row = 1;
  for (int64_t extent : llvm::reverse(getDomain())) {
    if (row >= int64_t(getRow())) {
      break;
    }
    row *= extent;
  }
  if (row != int64_t(getRow())) {
    return emitOpError() << "row: expected the product of the last extents of the domain, got " << getRow();
  }
  for (mlir::Attribute strides : getStrides()) {
    auto list = llvm::cast<mlir::DenseI64ArrayAttr>(strides).asArrayRef();
    if (list.size() != getDomain().size() || llvm::any_of(list, [](int64_t stride) { return stride < 0; })) {
      return emitOpError() << "strides: expected " << getDomain().size() << " of 0 or more in each list, got "
                           << strides;
    }
  }
  if (getOffsets() && (getOffsets()->size() != getStrides().size() ||
                       llvm::any_of(*getOffsets(), [](int64_t offset) { return offset < 0; }))) {
    return emitOpError() << "from: expected " << getStrides().size() << " numbers of 0 or more, got "
                         << getOffsetsAttr();
  }
  for (mlir::Type type : getBody().getArgumentTypes()) {
    if (!type.isIntOrFloat()) {
      return emitOpError() << "expected inputs of numbers, got " << type;
    }
  }
  return getBatch() ? verifyBatch(*this) : mlir::success();
}

llvm::LogicalResult ReduceOp::verify() {
  if (getKind() != "sum" && getKind() != "max") {
    return emitOpError() << "kind: expected sum or max, got " << getKind();
  }
  return mlir::success();
}

} // namespace weft::cell
