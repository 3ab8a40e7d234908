// Activations in a narrow type.
#include "compiler/passes/precision/narrow_type.h"
#include "compiler/passes/precision/passes.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PRECISIONNARROW
#include "compiler/passes/precision/Passes.h.inc"
namespace {

using namespace weft::ir;
using mlir::OpOperand;

bool isFloat(Value value) { return llvm::isa<mlir::FloatType>(tensorOf(value).getElementType()); }
bool isWide(Value value) { return tensorOf(value).getElementType().isF32(); }

// What is made of nothing: a parameter, a constant. It has no type of its own among what it is used with.
bool isLeaf(Value value) { return value.getDefiningOp() && value.getDefiningOp()->getNumOperands() == 0; }

// Decides, then rewrites. A value *can* be narrow if the op that makes it does, given what that reads; it is narrow if
// it can be and its readers, the later ones decided first, have no reason against it.
class Narrowing {
public:
  Narrowing(GraphOp graph, mlir::Type narrow, bool wideResiduals)
      : graph(graph), narrow(narrow), wideResiduals(wideResiduals) {}

  void run() {
    for (Operation &op : body()) {
      if (std::optional<Precision> precision = precisionOf(&op)) {
        ops.try_emplace(&op, *precision);
        findWhatCan(&op, *precision);
      }
    }
    for (Operation &op : llvm::reverse(body())) {
      if (auto known = ops.find(&op); known != ops.end()) {
        choose(&op, known->second);
      }
    }
    for (Operation &op : body()) {
      if (auto known = ops.find(&op); known != ops.end()) {
        rewrite(&op, known->second);
      } else {
        for (OpOperand &operand : op.getOpOperands()) {
          if (changed.contains(operand.get())) {
            operand.set(castTo(operand.get(), wideType(), &op));
          }
        }
      }
    }
    for (Operation &op : llvm::make_early_inc_range(body())) {
      foldCast(&op);
    }
    for (auto parameter : graph.getBody().getOps<ParameterOp>()) {
      if (parameter->hasAttr(kCacheName)) {
        narrowCache(parameter);
      }
    }
  }

private:
  llvm::iplist<Operation> &body() { return graph.getBody().front().getOperations(); }
  mlir::Type wideType() const { return mlir::Float32Type::get(narrow.getContext()); }

  // What the op says; nothing where the graph itself has another type than float32.
  std::optional<Precision> precisionOf(Operation *op) const {
    auto weftOp = llvm::dyn_cast<WeftOpInterface>(op);
    auto fixed = [](Value value) { return isFloat(value) && !isWide(value); };
    if (!weftOp || op->getNumOperands() == 0 || llvm::any_of(op->getOperands(), fixed)) {
      return std::nullopt;
    }
    Precision precision = weftOp.getPrecision();
    if (wideResiduals && precision.sum && !op->hasAttr("phase") && joinsActivations(op)) {
      return Precision();
    }
    return precision;
  }

  static bool joinsActivations(Operation *op) {
    return llvm::all_of(op->getOperands(),
                        [&](Value value) { return !isLeaf(value) && shapeOf(value) == shapeOf(op->getResult(0)); });
  }

  // The operands that have one type with the results that are Same.
  static auto group(Operation *op, const Precision &precision) {
    return llvm::make_filter_range(op->getOpOperands(), [precision](OpOperand &operand) {
      return precision.ofOperand(operand.getOperandNumber()) == Width::Same && isFloat(operand.get()) &&
             !isLeaf(operand.get());
    });
  }

  void findWhatCan(Operation *op, const Precision &precision) {
    auto members = group(op, precision);
    auto canBe = [&](Value value) { return can.contains(value); };
    const bool together =
        !members.empty() && llvm::all_of(members, [&](OpOperand &operand) { return canBe(operand.get()); });
    for (mlir::OpResult result : op->getResults()) {
      const Width width = precision.ofResult(result.getResultNumber());
      bool possible = width == Width::Narrow || (width == Width::Same && together);
      if (width == Width::Any) {
        possible = precision.ofOperand(0) == Width::Narrow || canBe(op->getOperand(0));
      }
      if (possible && isWide(result)) {
        can.insert(result);
      }
    }
  }

  // What the readers of a value want of it: Narrow if one does, else Wide if one does, else Any.
  Width wishOf(Value value) const {
    Width wish = Width::Any;
    for (OpOperand &use : value.getUses()) {
      auto known = ops.find(use.getOwner());
      Width width = known == ops.end() ? Width::Wide : known->second.ofOperand(use.getOperandNumber());
      if (width == Width::Same) {
        width = narrowGroups.contains(use.getOwner()) ? Width::Narrow : Width::Wide;
      }
      if (width == Width::Narrow) {
        return width;
      }
      wish = width == Width::Wide ? width : wish;
    }
    return wish;
  }

  void choose(Operation *op, const Precision &precision) {
    bool possible = false, wanted = false;
    for (mlir::OpResult result : op->getResults()) {
      if (!can.contains(result)) {
        continue;
      }
      const Width width = precision.ofResult(result.getResultNumber()), wish = wishOf(result);
      if (width == Width::Any && wish == Width::Wide) {
        keptWide.insert(result);
      }
      possible |= width == Width::Same;
      wanted |= width == Width::Same && wish != Width::Wide;
    }
    // Where only float32 is read of it, what it is made of may be float32 too, unless that has other readers.
    auto members = group(op, precision);
    if (possible && (wanted || !llvm::all_of(members, [](OpOperand &use) { return use.get().hasOneUse(); }))) {
      narrowGroups.insert(op);
    }
  }

  void rewrite(Operation *op, const Precision &precision) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isFloat(operand.get())) {
        continue;
      }
      const Width width = precision.ofOperand(operand.getOperandNumber());
      if (width != Width::Any) {
        const bool isNarrow = width == Width::Narrow || (width == Width::Same && narrowGroups.contains(op));
        operand.set(castTo(operand.get(), isNarrow ? narrow : wideType(), op));
      }
    }
    if (llvm::any_of(op->getResults(), [&](Value result) { return keptWide.contains(result); }) &&
        !isWide(op->getOperand(0))) {
      op->setAttr("result_type", mlir::TypeAttr::get(wideType()));
    }
    llvm::SmallVector<mlir::RankedTensorType> types;
    [[maybe_unused]] llvm::LogicalResult inferred = llvm::cast<WeftOpInterface>(op).inferTypes(types);
    assert(succeeded(inferred) && "expected operands that fit");
    for (auto [result, type] : llvm::zip(op->getResults(), types)) {
      if (result.getType() != type) {
        result.setType(type);
        changed.insert(result);
      }
    }
  }

  // A cast of the graph's own may have become one to the type that is there.
  static void foldCast(Operation *op) {
    llvm::SmallVector<mlir::OpFoldResult> folded;
    if (llvm::isa<CastOp>(op) && succeeded(op->fold(folded)) && !folded.empty()) {
      op->getResult(0).replaceAllUsesWith(llvm::cast<Value>(folded[0]));
      op->erase();
    }
  }

  // A cache is in no file: where it is read and assigned in the narrow type alone, it has that itself.
  void narrowCache(ParameterOp cache) {
    CastOp read;
    AssignOp assign;
    for (Operation *user : cache.getResult().getUsers()) {
      if (auto cast = llvm::dyn_cast<CastOp>(user); cast && !read && cast.getTo() == narrow) {
        read = cast;
      } else if (auto last = llvm::dyn_cast<AssignOp>(user); last && !assign) {
        assign = last;
      } else {
        return;
      }
    }
    auto wide = assign ? assign.getValue().getDefiningOp<CastOp>() : CastOp();
    if (!read || !wide || tensorOf(wide.getInput()).getElementType() != narrow) {
      return;
    }
    cache.getResult().setType(llvm::cast<mlir::RankedTensorType>(read.getResult().getType()));
    read.getResult().replaceAllUsesWith(cache);
    read.erase();
    assign.getValueMutable().assign(wide.getInput());
    if (wide.getResult().use_empty()) {
      wide.erase();
    }
  }

  // The value itself, what it was cast from, or its one cast to `type`. That of a leaf (of a parameter, its working
  // copy) stands beside it, others before their first reader on a stage.
  Value castTo(Value value, mlir::Type type, Operation *reader) {
    if (tensorOf(value).getElementType() == type) {
      return value;
    }
    auto before = value.getDefiningOp<CastOp>();
    if (before && !type.isF32() && tensorOf(before.getInput()).getElementType() == type) {
      return before.getInput();
    }
    const bool beside = isLeaf(value);
    Value &cast = casts[{{value, type}, beside ? 0 : stageOf(reader)}];
    if (!cast) {
      Operation *owner = beside ? value.getDefiningOp() : reader;
      mlir::OpBuilder builder(owner);
      if (beside) {
        builder.setInsertionPointAfter(owner);
      }
      auto made = create<CastOp>(builder, owner->getLoc(), value, mlir::TypeAttr::get(type));
      setBelongings(made, belongingsOf(owner));
      cast = made;
    }
    return cast;
  }

  GraphOp graph;
  const mlir::Type narrow;
  const bool wideResiduals;
  llvm::DenseMap<Operation *, Precision> ops;
  llvm::DenseSet<Value> can, keptWide, changed;
  llvm::DenseSet<Operation *> narrowGroups; // whose Same operands and results are narrow
  llvm::DenseMap<std::pair<std::pair<Value, mlir::Type>, int64_t>, Value> casts;
};

struct PrecisionNarrow : impl::PrecisionNarrowBase<PrecisionNarrow> {
  using PrecisionNarrowBase::PrecisionNarrowBase;

  void runOnOperation() override {
    mlir::FailureOr<mlir::Type> found = narrowType(getOperation(), type);
    if (failed(found)) {
      return signalPassFailure();
    }
    Narrowing(getOperation(), *found, wideResiduals).run();
  }
};

} // namespace
} // namespace weft::compiler
