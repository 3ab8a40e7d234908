// The checks that every op of the vocabulary shares.
#include "ops/dialect/infer.h"
#include "ops/dialect/weft.h"

#include "ops/dialect/interfaces.cpp.inc"

namespace weft::ir {

Cost elementwiseCost(llvm::ArrayRef<mlir::RankedTensorType> operands, llvm::ArrayRef<mlir::RankedTensorType> results) {
  Cost cost;
  for (mlir::RankedTensorType type : operands) {
    cost.bytes += double(bytesOf(type));
  }
  for (mlir::RankedTensorType type : results) {
    cost.bytes += double(bytesOf(type));
    cost.flops += double(type.getNumElements());
  }
  return cost;
}

mlir::NamedAttrList inherentAttributes(mlir::Operation *op) {
  mlir::NamedAttrList attributes;
  for (mlir::StringAttr name : op->getName().getAttributeNames()) {
    if (name.getValue() == "operandSegmentSizes" || name.getValue() == "resultSegmentSizes") {
      continue;
    }
    if (mlir::Attribute value = op->getAttr(name)) {
      attributes.append(name, value);
    }
  }
  return attributes;
}

void setShapeAttribute(mlir::Operation *op, llvm::ArrayRef<int64_t> shape) {
  if (op->hasAttr("shape")) {
    op->setAttr("shape", mlir::Builder(op->getContext()).getI64ArrayAttr(shape));
  }
}

llvm::SmallVector<int64_t> overwriteOperand(mlir::Operation *op) {
  auto operand = llvm::dyn_cast<mlir::RankedTensorType>(op->getOperand(0).getType());
  auto result = llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());
  bool same = operand && result && operand == result;
  // An operand that is read twice must not change in between.
  bool once = !llvm::is_contained(op->getOperands().drop_front(), op->getOperand(0));
  return {same && once ? 0 : -1};
}

namespace {

// Types are known only after elaborate, which evaluates every expression.
llvm::LogicalResult verifyEvaluated(mlir::Operation *op) {
  for (mlir::NamedAttribute attribute : inherentAttributes(op)) {
    mlir::Attribute single = attribute.getValue();
    auto list = llvm::dyn_cast<mlir::ArrayAttr>(single);
    for (mlir::Attribute value : list ? list.getValue() : llvm::ArrayRef(single)) {
      if (auto expression = llvm::dyn_cast<ExprAttr>(value)) {
        return op->emitOpError() << attribute.getName().getValue() << ": expected a constant, got "
                                 << expression.getText();
      }
    }
  }
  return mlir::success();
}

llvm::LogicalResult verifyShapes(mlir::Operation *op) {
  llvm::SmallVector<mlir::RankedTensorType> inferred;
  if (failed(llvm::cast<WeftOpInterface>(op).inferTypes(inferred))) {
    return mlir::failure();
  }
  if (inferred.size() != op->getNumResults()) {
    return op->emitOpError() << "expected " << inferred.size() << " results, got " << op->getNumResults();
  }
  for (auto [index, expected] : llvm::enumerate(inferred)) {
    mlir::Type actual = op->getResult(index).getType();
    auto ranked = llvm::dyn_cast<mlir::RankedTensorType>(actual);
    if (failed(countElements(op, ("result #" + llvm::Twine(index)).str(), expected.getShape()))) {
      return mlir::failure();
    }
    if (!ranked || withSbp(ranked, {}) != withSbp(expected, {})) {
      return op->emitOpError() << "result #" << index << ": expected " << expected << ", got " << actual;
    }
  }
  return mlir::success();
}

// With SBP on every type: over each axis the states must be one of the
// signatures of the rule, and the splits together must come out even.
llvm::LogicalResult verifySbp(mlir::Operation *op) {
  llvm::SmallVector<SbpAttr> operands, results;
  auto collect = [](mlir::TypeRange types, llvm::SmallVector<SbpAttr> &out) {
    for (mlir::Type type : types) {
      out.push_back(sbpOf(type));
    }
  };
  collect(op->getOperandTypes(), operands);
  collect(op->getResultTypes(), results);
  llvm::SmallVector<SbpAttr> all(operands);
  all.append(results);
  size_t with = llvm::count_if(all, [](SbpAttr a) { return bool(a); });
  if (with == 0) {
    return mlir::success();
  }
  if (with != all.size()) {
    return op->emitOpError() << "expected an SBP on every operand and result, got " << with << " of " << all.size();
  }
  size_t axes = all.front().getStates().size();
  for (SbpAttr a : all) {
    if (a.getStates().size() != axes) {
      return op->emitOpError() << "expected " << axes << " SBP states on every type, got " << a.getStates().size();
    }
  }
  ShardingRule rule = llvm::cast<WeftOpInterface>(op).getShardingRule();
  llvm::SmallVector<Signature> signatures = enumerateSignatures(rule);
  llvm::SmallVector<const Signature *> chosen;
  for (size_t axis = 0; axis < axes; ++axis) {
    Signature actual;
    for (SbpAttr a : operands) {
      actual.operands.push_back(a.getStates()[axis]);
    }
    for (SbpAttr a : results) {
      actual.results.push_back(a.getStates()[axis]);
    }
    auto it = llvm::find(signatures, actual);
    if (it == signatures.end()) {
      mlir::InFlightDiagnostic diag = op->emitOpError()
                                      << "axis " << axis << ": expected an SBP signature of its rule, got (";
      std::string text;
      llvm::raw_string_ostream os(text);
      llvm::interleaveComma(actual.operands, os);
      os << ") -> (";
      llvm::interleaveComma(actual.results, os);
      os << ")";
      return diag << os.str();
    }
    chosen.push_back(it);
  }
  if (auto graph = op->getParentOfType<GraphOp>()) {
    int64_t stage = stageOf(op);
    if (stage < int64_t(graph.getPlacements().size())) {
      llvm::ArrayRef<int64_t> sizes = graph.getPlacement(stage).getSizes();
      if (sizes.size() != axes) {
        return op->emitOpError() << "expected " << sizes.size() << " SBP states, one an axis of the mesh, got " << axes;
      }
      if (!divides(rule, chosen, sizes)) {
        return op->emitOpError() << "expected every split dimension to be divisible by its mesh axes";
      }
    }
  }
  return mlir::success();
}

} // namespace

llvm::LogicalResult verifyOp(mlir::Operation *op) {
  auto ranked = [](mlir::Type type) { return llvm::isa<mlir::RankedTensorType>(type); };
  size_t known = llvm::count_if(op->getOperandTypes(), ranked) + llvm::count_if(op->getResultTypes(), ranked);
  if (known == 0) {
    return mlir::success(); // a model file, before elaborate
  }
  if (known != op->getNumOperands() + op->getNumResults()) {
    return op->emitOpError() << "expected all types to be known or none, got " << known << " of "
                             << op->getNumOperands() + op->getNumResults();
  }
  return mlir::failure(failed(verifyEvaluated(op)) || failed(verifyShapes(op)) || failed(verifySbp(op)));
}

} // namespace weft::ir
