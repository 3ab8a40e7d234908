// Queries, keys and values that are parts of one tensor stay there.
#include "compiler/passes/fuse/kernels.h"
#include "compiler/passes/fuse/passes.h"

namespace weft::compiler {
#define GEN_PASS_DEF_FUSEPACKED
#include "compiler/passes/fuse/Passes.h.inc"
namespace {

using task::KernelOp;

constexpr unsigned kParts = 3;

bool isGradient(KernelOp kernel) { return kernel.getName() == "attention_grad"; }
// Of all keys: those of a block go round, and queries do not.
bool isAttention(KernelOp kernel) {
  return (kernel.getName() == "attention" || isGradient(kernel)) && !kernel.getConstants().contains("blocks");
}

// The queries, keys and values that it reads.
mlir::OperandRange partsOf(KernelOp attention) {
  return attention.getInputs().slice(isGradient(attention) ? 1 : 0, kParts);
}

int64_t numberOf(KernelOp kernel, StringRef name) {
  auto number = kernel.getConstants().getAs<mlir::IntegerAttr>(name);
  return number ? number.getInt() : -1;
}

// What one attention and its gradient read.
struct Pack {
  Value tensor;              // of the parts
  mlir::RankedTensorType as; // [batch, seq, 3, heads, size]
  SmallVector<KernelOp> slices;
};

// The kernels that become one with a gradient.
using Gradient = SmallVector<KernelOp>;

struct FusePacked : impl::FusePackedBase<FusePacked> {
  void runOnOperation() override {
    packed_.clear();
    SmallVector<KernelOp> kernels;
    for (KernelOp kernel : getOperation().getBody().getOps<KernelOp>()) {
      if (isAttention(kernel) && !kernel.getConstants().contains("packed")) {
        kernels.push_back(kernel);
      }
    }
    for (KernelOp kernel : kernels) {
      if (!packed_.contains(kernel)) { // else it is there no longer
        pack(kernel);
      }
    }
  }

private:
  llvm::DenseSet<Operation *> packed_;

  void pack(KernelOp attention) {
    std::optional<Pack> pack = packOf(attention);
    if (!pack) {
      return;
    }
    llvm::SetVector<Operation *> readers;
    for (Value part : partsOf(attention)) {
      for (Operation *user : usersOf(task::rootOf(part))) {
        if (!llvm::is_contained(pack->slices, llvm::dyn_cast<KernelOp>(user))) {
          readers.insert(user);
        }
      }
    }
    SmallVector<std::pair<KernelOp, Gradient>> kernels;
    for (Operation *reader : readers) {
      auto kernel = llvm::dyn_cast<KernelOp>(reader);
      if (!kernel || !isAttention(kernel) || !llvm::equal(partsOf(kernel), partsOf(attention))) {
        return;
      }
      std::optional<Gradient> gradient = isGradient(kernel) ? gradientOf(kernel) : Gradient();
      if (!gradient) {
        return;
      }
      kernels.emplace_back(kernel, *std::move(gradient));
    }
    packed_.insert(readers.begin(), readers.end());
    mlir::OpBuilder b(pack->slices[0]);
    for (auto &[kernel, gradient] : kernels) {
      Value tensor = viewOf(b, pack->tensor, pack->as);
      Fused fused{kernel.getName(), {}, {}, withPacked(kernel)};
      size_t first = isGradient(kernel) ? 1 : 0;
      fused.inputs = llvm::to_vector(kernel.getInputs());
      fused.inputs.erase(fused.inputs.begin() + first, fused.inputs.begin() + first + kParts);
      fused.inputs.insert(fused.inputs.begin() + first, tensor);
      SmallVector<KernelOp> joined{kernel};
      if (gradient.empty()) {
        fused.outputs = llvm::to_vector(kernel.getOutputs());
      } else {
        llvm::append_range(joined, gradient);
        fused.outputs = {viewOf(b, gradient.back().getOutputs()[0], pack->as)};
      }
      numPacked += fuse(joined, fused) ? 1 : 0;
    }
    for (KernelOp slice : pack->slices) {
      Value part = slice.getOutputs()[0];
      if (usersOf(part).size() == 1) {
        slice.erase();
        eraseUnused(part);
      }
    }
  }

  // Where the parts of one tensor are cut out for it.
  std::optional<Pack> packOf(KernelOp attention) {
    Pack pack;
    mlir::RankedTensorType head = task::tensorOf(partsOf(attention)[0]);
    for (auto [index, part] : llvm::enumerate(partsOf(attention))) {
      KernelOp slice = writerOf(task::rootOf(part));
      if (!slice || slice.getName() != "slice" || task::tensorOf(part) != head) {
        return std::nullopt;
      }
      Value tensor = slice.getInputs()[0];
      if ((pack.tensor && pack.tensor != tensor) || !isPart(slice, tensor, int64_t(index), head) || !writerOf(tensor)) {
        return std::nullopt;
      }
      pack.tensor = tensor;
      pack.slices.push_back(slice);
    }
    std::optional<mlir::RankedTensorType> as = packedType(head);
    auto buffer = pack.tensor.getDefiningOp<task::BufferOp>();
    if (!as || (task::tensorOf(pack.tensor) != *as && buffer.getUnpadded())) {
      return std::nullopt;
    }
    pack.as = *as;
    return pack;
  }

  // Whether a kernel cuts out (or, with `of` its result, puts back) a third of each row.
  bool isPart(KernelOp kernel, Value of, int64_t index, mlir::RankedTensorType head) {
    SmallVector<int64_t> whole = shapeOf(getOperation(), of);
    SmallVector<int64_t> one = task::localShapeOf(head, getOperation().getPlacement());
    if (numberOf(kernel, "dim") != 2 || whole.size() < 3 || one.size() != 4 ||
        ArrayRef(whole).take_front(2) != ArrayRef(one).take_front(2) || whole[2] % kParts != 0) {
      return false;
    }
    int64_t size = whole[2] / kParts, row = size;
    for (int64_t extent : ArrayRef(whole).drop_front(3)) {
      row *= extent;
    }
    bool isThird = kernel.getName() == "slice"
                       ? numberOf(kernel, "offset") == index * size && numberOf(kernel, "size") == size
                       : numberOf(kernel, "before") == index * size && numberOf(kernel, "after") == (2 - index) * size;
    return isThird && row == one[2] * one[3];
  }

  // [batch, seq, 3, heads, size] of [batch, seq, heads, size]; none where rows or what is in a head are split, or
  // anything is a pending sum.
  std::optional<mlir::RankedTensorType> packedType(mlir::RankedTensorType head) {
    SmallVector<ir::SbpState> states;
    for (ir::SbpState state : ir::sbpOf(head).getStates()) {
      if (state.isPartial() || (state.isSplit() && state.dim != 0 && state.dim != 2)) {
        return std::nullopt;
      }
      states.push_back(state.isSplit() && state.dim == 2 ? ir::SbpState::split(3) : state);
    }
    ArrayRef<int64_t> shape = head.getShape();
    return mlir::RankedTensorType::get({shape[0], shape[1], kParts, shape[2], shape[3]}, head.getElementType(),
                                       ir::SbpAttr::get(&getContext(), states));
  }

  // The kernels that make one tensor of the gradients of the parts: three that put each where its part is, between
  // zeros, and one that adds these up.
  std::optional<Gradient> gradientOf(KernelOp kernel) {
    Gradient gradient;
    Operation *sum = nullptr;
    for (auto [index, part] : llvm::enumerate(kernel.getOutputs())) {
      SmallVector<Operation *> users = usersOf(task::rootOf(part));
      llvm::erase(users, kernel);
      auto pad = users.size() == 1 ? llvm::dyn_cast<KernelOp>(users[0]) : KernelOp();
      if (!pad || pad.getName() != "pad" || !inSameUnit(kernel, pad) ||
          !isPart(pad, pad.getOutputs()[0], int64_t(index), task::tensorOf(part))) {
        return std::nullopt;
      }
      SmallVector<Operation *> adds = usersOf(task::rootOf(pad.getOutputs()[0]));
      llvm::erase(adds, pad);
      if (adds.size() != 1 || (sum && sum != adds[0])) {
        return std::nullopt;
      }
      sum = adds[0];
      gradient.push_back(pad);
    }
    auto add = llvm::dyn_cast<KernelOp>(sum);
    if (!add || add.getName() != "add_n" || add.getInputs().size() != kParts || !inSameUnit(kernel, add) ||
        !haveOneElementType({add.getOutputs()[0], kernel.getOutputs()[0]})) {
      return std::nullopt;
    }
    gradient.push_back(add);
    return gradient;
  }

  static Value viewOf(mlir::OpBuilder &b, Value buffer, mlir::RankedTensorType as) {
    auto type = task::BufferType::get(b.getContext(), as);
    if (buffer.getType() == type) {
      return buffer;
    }
    b.setInsertionPointAfterValue(buffer);
    return b.create<task::AliasOp>(buffer.getLoc(), type, buffer, mlir::DenseI64ArrayAttr());
  }

  static mlir::DictionaryAttr withPacked(KernelOp kernel) {
    mlir::NamedAttrList constants(kernel.getConstants());
    constants.set("packed", mlir::IntegerAttr::get(mlir::IntegerType::get(kernel.getContext(), 64), 1));
    return constants.getDictionary(kernel.getContext());
  }
};

} // namespace
} // namespace weft::compiler
