// Norms join the additions to the residual stream before them, and their gradients those behind them.
#include "compiler/passes/fuse/kernels.h"
#include "compiler/passes/fuse/passes.h"

namespace weft::compiler {
#define GEN_PASS_DEF_FUSENORMS
#include "compiler/passes/fuse/Passes.h.inc"
namespace {

using task::KernelOp;

bool isNamed(KernelOp kernel, llvm::StringRef name) { return kernel && kernel.getName() == name; }

// What a fused norm is told of a dropout beside its own constants.
mlir::DictionaryAttr withDropout(KernelOp norm, KernelOp dropout) {
  mlir::NamedAttrList constants(norm.getConstants());
  if (dropout) {
    for (llvm::StringRef name : {"rate", "seed"}) {
      constants.set(name, dropout.getConstants().get(name));
    }
  }
  return constants.getDictionary(norm->getContext());
}

struct FuseNorms : impl::FuseNormsBase<FuseNorms> {
  void runOnOperation() override {
    if (isOnHost(getOperation())) {
      return; // where kernels are generated
    }
    for (const char *name : {"layer_norm", "rms_norm"}) {
      for (KernelOp norm : kernelsOf(getOperation(), name)) {
        fuseForward(norm);
      }
      for (KernelOp grad : kernelsOf(getOperation(), std::string(name) + "_grad")) {
        fuseBackward(grad);
      }
    }
  }

private:
  // An addition of two of one shape and type.
  bool addsAlike(KernelOp add) {
    return shapeOf(getOperation(), add.getInputs()[0]) == shapeOf(getOperation(), add.getInputs()[1]) &&
           haveOneElementType({add.getInputs()[0], add.getInputs()[1], add.getOutputs()[0]});
  }

  // The dropout that makes an operand of `add` and nothing else.
  static KernelOp dropoutBefore(KernelOp add, Value operand) {
    KernelOp dropout = writerOf(operand);
    bool joins = isNamed(dropout, "dropout") && inSameUnit(dropout, add) && isOnlyReader(add, operand);
    return joins ? dropout : KernelOp();
  }

  void fuseForward(KernelOp norm) {
    Value sum = norm.getInputs()[0];
    KernelOp add = writerOf(sum);
    if (!isNamed(add, "add") || !inSameUnit(add, norm) || isPartial(sum) || !addsAlike(add)) {
      return;
    }
    // The branch is what was dropped out, or else what is read here alone and may be overwritten.
    KernelOp dropouts[2] = {dropoutBefore(add, add.getInputs()[0]), dropoutBefore(add, add.getInputs()[1])};
    bool first = dropouts[0] || (isOnlyReader(add, add.getInputs()[0]) && !isOnlyReader(add, add.getInputs()[1]));
    unsigned branch = dropouts[1] || !first ? 1 : 0;
    KernelOp dropout = dropouts[branch];
    SmallVector<Value> inputs{add.getInputs()[1 - branch], dropout ? dropout.getInputs()[0] : add.getInputs()[branch]};
    llvm::append_range(inputs, norm.getInputs().drop_front());
    SmallVector<Value> outputs{sum};
    llvm::append_range(outputs, norm.getOutputs());
    SmallVector<int64_t> inPlace(outputs.size(), -1);
    inPlace[0] = 1;
    SmallVector<KernelOp> parts{norm, add};
    if (dropout) {
      parts.push_back(dropout);
    }
    std::string name = ("residual_" + norm.getName()).str();
    numFused += fuse(parts, {name, inputs, outputs, withDropout(norm, dropout), inPlace}) ? parts.size() - 1 : 0;
  }

  void fuseBackward(KernelOp grad) {
    Value gradient = grad.getOutputs()[0];
    SmallVector<Value> inputs(grad.getInputs());
    SmallVector<KernelOp> parts{grad};
    SmallVector<Operation *> readers = readersOf(gradient);
    auto add = readers.size() == 1 ? llvm::dyn_cast<KernelOp>(readers[0]) : KernelOp();
    if (isNamed(add, "add") && inSameUnit(add, grad) && addsAlike(add) && !isPartial(gradient) &&
        add.getInputs()[0] != add.getInputs()[1]) {
      parts.push_back(add);
      inputs.push_back(add.getInputs()[add.getInputs()[0] == gradient ? 1 : 0]);
      gradient = add.getOutputs()[0];
    }
    KernelOp dropout = dropoutOf(grad, gradient);
    SmallVector<Value> outputs(grad.getOutputs());
    outputs[0] = gradient;
    if (dropout) {
      parts.push_back(dropout);
      outputs.push_back(dropout.getOutputs()[0]);
    }
    if (parts.size() == 1) {
      return;
    }
    SmallVector<int64_t> inPlace(outputs.size(), -1);
    inPlace[0] = 0;
    std::string name = ("residual_" + grad.getName()).str();
    numFused += fuse(parts, {name, inputs, outputs, withDropout(grad, dropout), inPlace}) ? parts.size() - 1 : 0;
  }

  // The one dropout that reads `gradient`, which other kernels read too.
  static KernelOp dropoutOf(KernelOp grad, Value gradient) {
    KernelOp found;
    for (Operation *reader : readersOf(gradient)) {
      auto dropout = llvm::dyn_cast<KernelOp>(reader);
      if (isNamed(dropout, "dropout") && inSameUnit(dropout, grad)) {
        if (found) {
          return {};
        }
        found = dropout;
      }
    }
    return found && haveOneElementType({gradient, found.getOutputs()[0]}) && !isPartial(gradient) ? found : KernelOp();
  }
};

} // namespace
} // namespace weft::compiler
