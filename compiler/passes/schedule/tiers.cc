// --weft-schedule-tiers: what lies in a tier comes to the device for its use.
#include "compiler/analysis/layer.h"
#include "compiler/analysis/machine.h"
#include "compiler/analysis/unit_order.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/host_work.h"
#include "compiler/passes/schedule/passes.h"
#include "compiler/passes/schedule/tier_copies.h"
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
    settled_.clear();
    squareAtOnce(*machine);
    std::optional<HostWork> work;
    if (host) {
      work.emplace(getOperation());
    }
    lowerCopies(work);
    if (work) {
      serve(*work, *machine);
    }
    llvm::SmallVector<task::BufferOp> lower;
    for (auto buffer : getOperation().getBody().getOps<task::BufferOp>()) {
      if (buffer.getTier() && !settled_.contains(buffer)) {
        lower.push_back(buffer);
      }
    }
    if (!activations.empty()) {
      leaveKept(plan::FindTier(*machine, activations));
    }
    for (task::BufferOp buffer : lower) {
      bring(buffer, work, plan::FindTier(*machine, buffer.getTier()->str()));
    }
  }

private:
  // What the host's kernels touch lies in the tier. What the device makes of it is stored for them, and what they make
  // is fetched, once a step or by layers.
  void serve(const HostWork &work, const CostModel &machine) {
    llvm::StringRef tier;
    for (mlir::Value root : work.touched()) {
      tier = tier.empty() ? task::tierOf(root) : tier;
    }
    const plan::TierRates *rates = plan::FindTier(machine, tier.str());
    for (mlir::Value root : work.touched()) {
      auto buffer = root.getDefiningOp<task::BufferOp>();
      llvm::SmallVector<mlir::Operation *> device, below;
      for (mlir::Operation *op : touchersOf(buffer)) {
        (work.has(op) ? below : device).push_back(op);
      }
      if (llvm::none_of(below, [&](mlir::Operation *op) { return writesAny(op, buffer); })) {
        if (!isBrought(buffer, work, rates)) {
          buffer.removeTierAttr();
          storeFor(buffer, device, below, tier);
        }
        continue;
      }
      buffer.setTier(tier);
      if (!llvm::is_contained({task::BufferKind::Parameter, task::BufferKind::Optimizer, task::BufferKind::Working},
                              buffer.getKind())) {
        buffer.setKind(task::BufferKind::Activation);
      }
      // Parts come ahead of their use, which what is made in the same section cannot.
      const bool ahead = task::isState(buffer) || task::sectionOf(below.front()) == task::Section::Begin;
      if (device.empty() || whole || !ahead || !isBrought(buffer, work, rates)) {
        settled_.insert(buffer);
        fetchOnce(buffer, device, below);
      }
    }
    for (auto buffer : getOperation().getBody().getOps<task::BufferOp>()) {
      if (whole && buffer.getTier() && !isHeld(buffer) && !llvm::is_contained(work.touched(), buffer.getBuffer()) &&
          buffer.getKind() != task::BufferKind::Optimizer && !settled_.contains(buffer)) {
        buffer.removeTierAttr(); // the host does not update it
      }
    }
  }

  // Whether a function finds a parameter where the training has it between whose steps it is evaluated.
  static bool isHeld(task::BufferOp buffer) { return buffer->hasAttr(task::kHeldName); }

  // Whether a buffer of the tier comes to the device for each of its uses there.
  static bool isBrought(task::BufferOp buffer, const std::optional<HostWork> &work, const plan::TierRates *rates) {
    return buffer.getTier() && tierUsesOf(buffer, work ? &*work : nullptr) &&
           (buffer.getKind() == task::BufferKind::Optimizer || isLarge(buffer, rates));
  }

  // Stores what the device makes last of a buffer, which then is what the host's kernels read.
  void storeFor(task::BufferOp buffer, llvm::ArrayRef<mlir::Operation *> device,
                llvm::ArrayRef<mlir::Operation *> below, llvm::StringRef tier) {
    mlir::OpBuilder b(buffer);
    b.setInsertionPointAfter(buffer);
    auto lower =
        b.create<task::BufferOp>(buffer.getLoc(), buffer.getType(), b.getStringAttr(buffer.getName() + "/below"),
                                 task::BufferKind::Activation, buffer.getUnpaddedAttr());
    lower.setTier(tier);
    settled_.insert(lower);
    replace(b, buffer, lower, below);
    auto last = llvm::find_if(llvm::reverse(device), [&](mlir::Operation *op) { return writesAny(op, buffer); });
    b.setInsertionPointAfter(*last);
    // By the view that the last one writes: an act waits for what has made what it reads.
    mlir::Value made = *llvm::find_if(task::outputsOf(*last),
                                      [&](mlir::Value output) { return task::rootOf(output) == buffer.getBuffer(); });
    copyTier(b, task::MoveKernel::kStore, made, lower, task::sectionOf(below.front()), *last)
        ->setAttr(kOnceName, b.getUnitAttr());
    ++numMoved;
  }

  // Fetches what the host makes, in the begin section if it is state, else behind what makes it.
  void fetchOnce(task::BufferOp buffer, llvm::ArrayRef<mlir::Operation *> device,
                 llvm::ArrayRef<mlir::Operation *> below) {
    if (device.empty()) {
      return;
    }
    const bool isState = task::isState(buffer);
    mlir::OpBuilder b(buffer);
    b.setInsertionPointAfter(buffer);
    mlir::Operation *last = nullptr; // that makes it
    for (mlir::Operation *op : below) {
      last = writesAny(op, buffer) ? op : last;
    }
    auto here =
        b.create<task::BufferOp>(buffer.getLoc(), buffer.getType(), b.getStringAttr(buffer.getName() + "/here"),
                                 isState ? task::BufferKind::Working : buffer.getKind(), buffer.getUnpaddedAttr());
    replace(b, buffer, here, device);
    const task::Section section = isState ? task::Section::Begin : task::sectionOf(last);
    if (isState) {
      b.setInsertionPoint(device.front());
    } else {
      b.setInsertionPointAfter(last);
    }
    auto reader = llvm::find_if(device, [](mlir::Operation *op) { return !llvm::isa<task::MetricOp>(op); });
    copyTier(b, task::MoveKernel::kFetch, buffer, here, section, reader == device.end() ? last : *reader)
        ->setAttr(kOnceName, b.getUnitAttr());
    ++numMoved;
  }

  // What `ops` touch of one buffer is of another one.
  static void replace(mlir::OpBuilder &b, mlir::Value from, mlir::Value to, llvm::ArrayRef<mlir::Operation *> ops) {
    llvm::DenseMap<mlir::Value, mlir::Value> views;
    views[from] = to;
    for (mlir::Operation *op : ops) {
      for (mlir::OpOperand &operand : op->getOpOperands()) {
        if (task::rootOf(operand.get()) == from) {
          operand.set(viewOf(b, operand.get(), views));
        }
      }
    }
  }

  // What the begin section makes of what lies in a tier, as narrow copies of parameters, lies there too.
  void lowerCopies(const std::optional<HostWork> &work) {
    for (auto kernel : getOperation().getBody().getOps<task::KernelOp>()) {
      if (whole || (work && work->has(kernel))) {
        continue;
      }
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
      llvm::StringRef made = layerOf(ir::scopeOf(kept->writer));
      if (!made.empty() && !read.empty() && liesBelow(made) && read != last.lookup(ir::chunkOf(kept->writer)) &&
          isLarge(buffer, tier)) {
        leave(buffer, *kept);
        ++numMoved;
      }
    }
  }

  // Whether what a layer keeps lies in the tier, as far as the options say.
  bool liesBelow(llvm::StringRef layer) const {
    for (llvm::StringRef said : layers) {
      if (said.split('=').first == layer) {
        return said.split('=').second == "below";
      }
    }
    return others;
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
    replace(b, buffer, back, kept.readers);
    b.setInsertionPointAfter(kept.writer);
    copyTier(b, task::MoveKernel::kStore, buffer, below, task::Section::Micro, kept.writer);
    // A schedule has the part of a backward that makes gradients of weights behind the other one.
    auto first =
        llvm::find_if(kept.readers, [](mlir::Operation *op) { return ir::phaseOf(op) != ir::OpPhase::Weight; });
    b.setInsertionPoint(kept.readers.front());
    copyTier(b, task::MoveKernel::kFetch, below, back, task::Section::Micro,
             first == kept.readers.end() ? kept.readers.front() : *first);
  }

  // A buffer that lies in a tier comes to the device for each of its uses; or lies on the device after all.
  void bring(task::BufferOp buffer, const std::optional<HostWork> &work, const plan::TierRates *tier) {
    const llvm::SmallVector<mlir::Operation *> touchers = touchersOf(buffer);
    const bool once = isHeld(buffer) && whole && !llvm::all_of(touchers, [](mlir::Operation *op) {
                        return llvm::isa<task::KernelOp>(op) && task::sectionOf(op) == task::Section::Begin;
                      });
    if (once || !isBrought(buffer, work, tier)) {
      if (isHeld(buffer)) {
        fetchOnce(buffer, touchers, {});
      } else {
        buffer.removeTierAttr();
      }
      return;
    }
    const std::optional<llvm::SmallVector<TierUse>> uses = tierUsesOf(buffer, work ? &*work : nullptr);
    for (const TierUse &use : *uses) {
      bring(buffer, use);
    }
    ++numMoved;
  }

  // The squares of a gradient that one micro-batch makes, for the norm of all, are summed while it is on the device;
  // not of one that is reduced, for which no kernel waits meanwhile.
  void squareAtOnce(const CostModel &machine) {
    for (auto buffer : llvm::to_vector(getOperation().getBody().getOps<task::BufferOp>())) {
      const std::string tier = buffer.getTier().value_or("").str();
      if (task::isState(buffer) || tier.empty()) {
        continue;
      }
      if (isBrought(buffer, std::nullopt, plan::FindTier(machine, tier))) {
        squareAtOnce(*tierUsesOf(buffer, nullptr));
      } else {
        buffer.removeTierAttr();
      }
    }
  }

  static void squareAtOnce(llvm::ArrayRef<TierUse> uses) {
    llvm::ArrayRef<mlir::Operation *> work = uses.front().work;
    if (uses.front().section != task::Section::Micro || llvm::isa<task::SumKernel>(work.front()) ||
        !llvm::isa<task::KernelOp>(work.back())) {
      return;
    }
    for (const TierUse &use : uses) {
      auto squares = llvm::dyn_cast<task::KernelOp>(use.work.front());
      if (use.section != task::Section::Step || use.work.size() > 1 || !squares || squares.getName() != "square_sum" ||
          squares.getInputs().size() != 1) {
        continue;
      }
      squares.setSection(task::Section::Micro);
      ir::setBelongings(squares, ir::belongingsOf(work.back()));
      squares->moveAfter(work.back());
      squares.getOutputs()[0].getDefiningOp()->moveBefore(squares);
    }
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
      task::KernelOp fetch = copyTier(b, task::MoveKernel::kFetch, buffer, here, use.section, first);
      if (llvm::isa<task::SumKernel>(first)) {
        fetch.setConstantsAttr(b.getDictionaryAttr(b.getNamedAttr(task::MoveKernel::kSum, b.getI64IntegerAttr(1))));
      }
    }
    if (written) {
      b.setInsertionPointAfter(last);
      copyTier(b, task::MoveKernel::kStore, views[buffer], buffer, use.section, last);
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

  llvm::StringMap<int> used_;           // names
  llvm::DenseSet<mlir::Value> settled_; // the host's, whose copies are made
};

} // namespace
} // namespace weft::compiler
