#include "compiler/passes/pad/versions.h"

#include "ops/padding/ops.h"

namespace weft::compiler {

using namespace weft::ir;

bool Versions::Version::holds(const Numbers &wanted) const {
  return llvm::all_of(wanted, [&](const auto &pair) {
    auto it = numbers.find(pair.first);
    return it != numbers.end() && it->second == pair.second;
  });
}

bool Versions::Version::mayHold(const Numbers &wanted) const {
  return llvm::all_of(wanted, [&](const auto &pair) { return holds({pair}) || !fixed.count(pair.first); });
}

void Versions::Version::fix(const Numbers &wanted) {
  for (auto [group, number] : wanted) {
    fixed.insert(group);
  }
}

void Versions::add(mlir::Value original, llvm::ArrayRef<int64_t> unpadded, Numbers numbers) {
  originals_[original] = original;
  unpadded_[original] = llvm::to_vector(unpadded);
  versions_[original] = {{original, std::move(numbers)}};
}

void Versions::replace(mlir::Value original, mlir::Value value, const Numbers &numbers) {
  originals_[value] = original;
  Version &first = versions_[original].front();
  first.value = value;
  first.numbers.insert(numbers.begin(), numbers.end());
}

bool Versions::isZero(mlir::Value value, int group) {
  for (Version &version : versions_.find(original(value))->second) {
    if (version.value == value && version.holds({{group, 0.0}})) {
      version.fixed.insert(group);
      return true;
    }
  }
  return false;
}

bool Versions::isKnown(mlir::Value value, int group) const {
  return llvm::any_of(versions_.find(original(value))->second, [&](const Version &version) {
    return version.value == value && version.numbers.count(group) > 0;
  });
}

void Versions::give(mlir::Operation *op, unsigned operand, const Numbers &wanted) {
  mlir::Value source = original(op->getOperand(operand));
  llvm::SmallVector<Version, 1> &versions = versions_[source];
  auto held = llvm::find_if(versions, [&](const Version &version) { return version.holds(wanted); });
  if (held == versions.end() && versions.front().mayHold(wanted) && versions.front().value.getDefiningOp() &&
      !versions.front().value.getDefiningOp<ParameterOp>()) {
    held = versions.begin();
    extend(*held, source, wanted);
  }
  if (held == versions.end()) {
    mlir::OpBuilder b(op);
    Version own{set(b, versions.front().value, source, wanted, op), versions.front().numbers};
    for (auto [group, number] : wanted) {
      own.numbers[group] = number;
    }
    held = &versions.emplace_back(std::move(own));
  }
  held->fix(wanted);
  op->setOperand(operand, held->value);
}

// Over the value itself, as nothing else reads it.
void Versions::extend(Version &version, mlir::Value original, const Numbers &wanted) {
  Numbers missing;
  for (auto [group, number] : wanted) {
    if (!version.holds({{group, number}})) {
      missing[group] = number;
    }
  }
  mlir::Operation *maker = version.value.getDefiningOp();
  mlir::OpBuilder b(maker);
  b.setInsertionPointAfter(maker);
  mlir::Value before = version.value;
  llvm::SmallVector<mlir::OpOperand *> uses =
      llvm::to_vector(llvm::map_range(before.getUses(), [](mlir::OpOperand &use) { return &use; }));
  version.value = set(b, before, original, missing, maker);
  for (mlir::OpOperand *use : uses) {
    use->set(version.value);
  }
  for (auto [group, number] : missing) {
    version.numbers[group] = number;
  }
}

mlir::Value Versions::set(mlir::OpBuilder &b, mlir::Value value, mlir::Value original, const Numbers &numbers,
                          mlir::Operation *like) {
  llvm::ArrayRef<int64_t> own = unpadded(original);
  for (auto [group, number] : numbers) {
    llvm::SmallVector<int64_t> extents(shapeOf(value));
    int64_t batchDim = 0;
    for (size_t dim = 0; dim < extents.size(); ++dim) {
      if (dimensions_.groupOf(original, int64_t(dim)) == group) {
        extents[dim] = own[dim];
        batchDim = int64_t(dim);
      }
    }
    mlir::IntegerAttr batch, along;
    if (padding_.isShort(group)) {
      // Samples in elements of this dimension, which may be a sample's positions times the samples.
      batch = b.getI64IntegerAttr(padding_.samples() * own[batchDim] / padding_.micro());
      along = b.getI64IntegerAttr(batchDim);
    }
    mlir::Attribute text = llvm::isa<mlir::FloatType>(tensorOf(value).getElementType())
                               ? mlir::Attribute(b.getF64FloatAttr(number))
                               : mlir::Attribute(b.getI64IntegerAttr(int64_t(number)));
    value = create<SetPaddingOp>(b, like->getLoc(), value, b.getI64ArrayAttr(extents), text, batch, along);
    describe(value, original, like);
    ++numSet_;
  }
  return value;
}

void Versions::describe(mlir::Value value, mlir::Value original, mlir::Operation *like) {
  mlir::Operation *op = value.getDefiningOp();
  setBelongings(op, belongingsOf(like));
  mlir::Attribute shape = mlir::DenseI64ArrayAttr::get(op->getContext(), unpadded(original));
  op->setAttr(kUnpaddedName, mlir::ArrayAttr::get(op->getContext(), {shape}));
  originals_[value] = original;
}

} // namespace weft::compiler
