// --weft-schedule-tiers: what lies in a tier comes to the device for its use.
#include "compiler/analysis/layer.h"
#include "compiler/analysis/machine.h"
#include "compiler/analysis/unit_order.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/passes.h"
#include "compiler/passes/schedule/tier_uses.h"
#include "llvm/ADT/StringMap.h"
#include "ops/layout/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_SCHEDULETIERS
#include "compiler/passes/schedule/Passes.h.inc"
namespace {

// What a forward keeps for a backward: who reads it there, first to last.
struct Kept {
  mlir::Operation *writer = nullptr; // the last
  llvm::SmallVector<mlir::Operation *> readers;
};

// Nothing, if `buffer` is not kept from the forward of one micro-batch to its backward.
std::optional<Kept> keptIn(mlir::Value buffer) {
  const llvm::SmallVector<mlir::Operation *> users = touchersOf(buffer);
  const bool begins = !users.empty() && !task::isState(buffer) && !llvm::isa<task::InputKernel>(users.front()) &&
                      !readsAny(users.front(), buffer);
  Kept kept;
  for (mlir::Operation *op : begins ? users : llvm::SmallVector<mlir::Operation *>()) {
    if (!llvm::isa<task::KernelOp, task::CollectiveOp>(op) || task::sectionOf(op) != task::Section::Micro ||
        op->hasAttr(ir::kOfChunkName) || ir::chunkOf(op) != ir::chunkOf(users.front())) {
      return std::nullopt;
    }
    const bool forward = ir::phaseOf(op) == ir::OpPhase::Forward, writes = writesAny(op, buffer);
    if (writes && (!forward || !llvm::is_contained(task::outputsOf(op), buffer))) {
      return std::nullopt;
    }
    kept.writer = writes ? op : kept.writer;
    if (!forward) {
      kept.readers.push_back(op);
    }
  }
  return kept.readers.empty() ? std::nullopt : std::optional(kept);
}

// The last layer of each chunk that a forward comes to.
llvm::DenseMap<int64_t, llvm::StringRef> lastLayers(task::ProgramOp program) {
  llvm::DenseMap<int64_t, llvm::StringRef> last;
  for (auto kernel : program.getBody().getOps<task::KernelOp>()) {
    llvm::StringRef layer = layerOf(ir::scopeOf(kernel));
    if (kernel.getSection() == task::Section::Micro && ir::phaseOf(kernel) == ir::OpPhase::Forward && !layer.empty()) {
      last[ir::chunkOf(kernel)] = layer;
    }
  }
  return last;
}

struct ScheduleTiers : impl::ScheduleTiersBase<ScheduleTiers> {
  using ScheduleTiersBase::ScheduleTiersBase;

  void runOnOperation() override {
    llvm::FailureOr<CostModel> machine = machineOf(getOperation());
    if (failed(machine)) {
      return signalPassFailure();
    }
    used_.clear();
    lowerCopies();
    llvm::SmallVector<task::BufferOp> lower;
    for (auto buffer : getOperation().getBody().getOps<task::BufferOp>()) {
      if (buffer.getTier()) {
        lower.push_back(buffer);
      }
    }
    if (!activations.empty()) {
      leaveKept(plan::FindTier(*machine, activations));
    }
    for (task::BufferOp buffer : lower) {
      bring(buffer, plan::FindTier(*machine, buffer.getTier()->str()));
    }
  }

private:
  // What the begin section makes of what lies in a tier, as narrow copies of parameters, lies there too.
  void lowerCopies() {
    for (auto kernel : getOperation().getBody().getOps<task::KernelOp>()) {
      for (mlir::Value input : kernel.getSection() == task::Section::Begin ? kernel.getInputs() : mlir::ValueRange()) {
        for (mlir::Value output : task::tierOf(input).empty() ? mlir::ValueRange() : kernel.getOutputs()) {
          auto buffer = output.getDefiningOp<task::BufferOp>();
          if (buffer && buffer.getKind() == task::BufferKind::Working) {
            buffer.setTier(task::tierOf(input));
          }
        }
      }
    }
  }

  // `tier`: null where its rates are not known.
  void leaveKept(const plan::TierRates *tier) {
    const llvm::DenseMap<int64_t, llvm::StringRef> last = lastLayers(getOperation());
    for (auto buffer : llvm::to_vector(getOperation().getBody().getOps<task::BufferOp>())) {
      const std::optional<Kept> kept = keptIn(buffer);
      if (!kept) {
        continue;
      }
      llvm::StringRef read = layerOf(ir::scopeOf(kept->readers.front()));
      const bool ofLayers = !layerOf(ir::scopeOf(kept->writer)).empty() && !read.empty();
      if (ofLayers && read != last.lookup(ir::chunkOf(kept->writer)) && isLarge(buffer, tier)) {
        leave(buffer, *kept);
        ++numMoved;
      }
    }
  }

  void leave(task::BufferOp buffer, const Kept &kept) {
    mlir::OpBuilder b(buffer);
    b.setInsertionPointAfter(buffer);
    auto make = [&](llvm::StringRef name) {
      return b.create<task::BufferOp>(buffer.getLoc(), buffer.getType(), b.getStringAttr(buffer.getName() + name),
                                      task::BufferKind::Activation, buffer.getUnpaddedAttr());
    };
    task::BufferOp below = make("/below"), back = make("/back");
    below.setTier(llvm::StringRef(activations));
    llvm::DenseMap<mlir::Value, mlir::Value> views;
    views[buffer] = back;
    for (mlir::Operation *reader : kept.readers) {
      for (mlir::OpOperand &operand : reader->getOpOperands()) {
        if (task::rootOf(operand.get()) == buffer) {
          operand.set(viewOf(b, operand.get(), views));
        }
      }
    }
    b.setInsertionPointAfter(kept.writer);
    copy(b, task::MoveKernel::kStore, buffer, below, kept.writer);
    // A schedule has the part of a backward that makes gradients of weights behind the other one.
    auto first =
        llvm::find_if(kept.readers, [](mlir::Operation *op) { return ir::phaseOf(op) != ir::OpPhase::Weight; });
    b.setInsertionPoint(kept.readers.front());
    copy(b, task::MoveKernel::kFetch, below, back, first == kept.readers.end() ? kept.readers.front() : *first);
  }

  // The same view of another buffer, where `views` has that of each buffer.
  static mlir::Value viewOf(mlir::OpBuilder &b, mlir::Value view, llvm::DenseMap<mlir::Value, mlir::Value> &views) {
    if (mlir::Value known = views.lookup(view)) {
      return known;
    }
    auto alias = view.getDefiningOp<task::AliasOp>();
    mlir::Value source = viewOf(b, alias.getSource(), views);
    return views[view] = b.create<task::AliasOp>(alias.getLoc(), alias.getType(), source, alias.getUnpaddedAttr());
  }

  static int64_t bytesOf(task::BufferOp buffer) {
    return task::localBytesOf(task::tensorOf(buffer), buffer->getParentOfType<task::ProgramOp>().getPlacement());
  }

  // Whether the latency of its tier is no more than half of a copy.
  static bool isLarge(task::BufferOp buffer, const plan::TierRates *tier) {
    return !tier || plan::TierSeconds(*tier, double(bytesOf(buffer)), /*fetches=*/true) >= 2 * tier->latency_s;
  }

  // A buffer that lies in a tier comes to the device for each of its uses; or lies on the device after all.
  void bring(task::BufferOp buffer, const plan::TierRates *tier) {
    std::optional<llvm::SmallVector<TierUse>> uses = tierUsesOf(buffer);
    if (!uses || (buffer.getKind() != task::BufferKind::Optimizer && !isLarge(buffer, tier))) {
      buffer.removeTierAttr();
      return;
    }
    if (!task::isState(buffer)) {
      squareAtOnce(buffer, *uses);
    }
    for (const TierUse &use : *uses) {
      bring(buffer, use);
    }
    ++numMoved;
  }

  // The squares of a gradient that one micro-batch makes, for the norm of all, are summed while it is on the device;
  // not of one that is reduced, for which no kernel waits meanwhile.
  static void squareAtOnce(task::BufferOp buffer, llvm::SmallVectorImpl<TierUse> &uses) {
    llvm::SmallVectorImpl<mlir::Operation *> &work = uses.front().work;
    if (uses.front().section != task::Section::Micro || llvm::isa<task::SumKernel>(work.front()) ||
        !llvm::isa<task::KernelOp>(work.back())) {
      return;
    }
    llvm::erase_if(uses, [&](const TierUse &use) {
      auto squares = llvm::dyn_cast<task::KernelOp>(use.work.front());
      if (use.section != task::Section::Step || use.work.size() > 1 || !squares || squares.getName() != "square_sum" ||
          squares.getInputs().size() != 1) {
        return false;
      }
      squares.setSection(task::Section::Micro);
      ir::setBelongings(squares, ir::belongingsOf(work.back()));
      squares->moveAfter(work.back());
      squares.getOutputs()[0].getDefiningOp()->moveBefore(squares);
      work.push_back(squares);
      return true;
    });
  }

  // Every write makes a view of its own of what is on the device: a register has one writer.
  void bring(task::BufferOp buffer, const TierUse &use) {
    mlir::OpBuilder b(buffer);
    b.setInsertionPointAfter(buffer);
    mlir::Value here = b.create<task::BufferOp>(buffer.getLoc(), buffer.getType(), nameOf(buffer, use),
                                                task::BufferKind::Communication, buffer.getUnpaddedAttr());
    mlir::Operation *first = use.work.front(), *last = use.work.back();
    const bool reads = readsAny(first, buffer);
    bool written = false;
    llvm::DenseMap<mlir::Value, mlir::Value> views; // of what is on the device
    views[buffer] = here;
    for (mlir::Operation *op : use.work) {
      b.setInsertionPoint(op);
      const size_t inputs = task::inputsOf(op).size();
      mlir::Value now = views[buffer];
      if (writesAny(op, buffer)) {
        now = written || reads ? mlir::Value(b.create<task::AliasOp>(buffer.getLoc(), buffer.getType(), here,
                                                                     buffer.getUnpaddedAttr()))
                               : here;
        written = true;
      }
      for (mlir::OpOperand &operand : op->getOpOperands()) {
        if (task::rootOf(operand.get()) == buffer) {
          operand.set(operand.getOperandNumber() < inputs ? viewOf(b, operand.get(), views) : now);
        }
      }
      if (now != views[buffer]) {
        views.clear();
        views[buffer] = now;
      }
    }
    if (reads) {
      b.setInsertionPoint(first);
      task::KernelOp fetch = copy(b, task::MoveKernel::kFetch, buffer, here, first);
      if (llvm::isa<task::SumKernel>(first)) {
        fetch.setConstantsAttr(b.getDictionaryAttr(b.getNamedAttr(task::MoveKernel::kSum, b.getI64IntegerAttr(1))));
      }
    }
    if (written) {
      b.setInsertionPointAfter(last);
      copy(b, task::MoveKernel::kStore, views[buffer], buffer, last);
    }
  }

  // "h.0.w/forward" of what a forward has on the device, "h.0.w/here" of the other sections.
  mlir::StringAttr nameOf(task::BufferOp buffer, const TierUse &use) {
    constexpr llvm::StringLiteral kUnits[] = {"/forward", "/backward", "/weight"}, kHere = "/here";
    const bool micro = use.section == task::Section::Micro;
    std::string name = (buffer.getName() + (micro ? kUnits[size_t(unitKindOf(use.work.front()))] : kHere)).str();
    const int count = ++used_[name];
    return mlir::StringAttr::get(&getContext(), count > 1 ? name + "#" + std::to_string(count) : name);
  }

  // Belongs where `neighbour` does.
  static task::KernelOp copy(mlir::OpBuilder &b, llvm::StringRef name, mlir::Value from, mlir::Value to,
                             mlir::Operation *neighbour) {
    auto buffer = task::rootOf(from).getDefiningOp<task::BufferOp>();
    auto kernel = b.create<task::KernelOp>(buffer.getLoc(), b.getStringAttr(name), from, to, b.getDictionaryAttr({}),
                                           task::sectionOf(neighbour), mlir::DenseI64ArrayAttr());
    kernel.setCostAttr(b.getDenseF64ArrayAttr({0, 0, double(bytesOf(buffer))}));
    ir::setBelongings(kernel, ir::belongingsOf(neighbour));
    kernel->removeAttr("stage"); // the program tells
    return kernel;
  }

  llvm::StringMap<int> used_; // names
};

} // namespace
} // namespace weft::compiler
