// --weft-schedule-tiers: what lies in a tier comes to the device for its use.
#include "compiler/analysis/layer.h"
#include "compiler/analysis/machine.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/passes.h"
#include "ops/layout/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_SCHEDULETIERS
#include "compiler/passes/schedule/Passes.h.inc"
namespace {

// What touches the bytes of a buffer, in order, also by views.
void addUsers(mlir::Value buffer, llvm::SmallVectorImpl<mlir::Operation *> &users) {
  for (mlir::Operation *user : buffer.getUsers()) {
    if (auto alias = llvm::dyn_cast<task::AliasOp>(user)) {
      addUsers(alias, users);
    } else if (!llvm::is_contained(users, user)) {
      users.push_back(user);
    }
  }
  llvm::sort(users, [](mlir::Operation *a, mlir::Operation *b) { return a->isBeforeInBlock(b); });
}

bool readsAny(mlir::Operation *op, mlir::Value root) {
  return llvm::any_of(task::inputsOf(op), [&](mlir::Value input) { return task::rootOf(input) == root; });
}

bool writesAny(mlir::Operation *op, mlir::Value root) {
  return llvm::any_of(task::outputsOf(op), [&](mlir::Value output) { return task::rootOf(output) == root; });
}

// Whether the step section alone touches it, and writes it by no view.
bool isOfStep(mlir::Value buffer, llvm::ArrayRef<mlir::Operation *> users) {
  return llvm::all_of(users, [&](mlir::Operation *op) {
    return llvm::isa<task::KernelOp, task::CollectiveOp>(op) && task::sectionOf(op) == task::Section::Step &&
           (!writesAny(op, buffer) || llvm::is_contained(task::outputsOf(op), buffer));
  });
}

// What a forward keeps for a backward: who reads it there, first to last.
struct Kept {
  mlir::Operation *writer = nullptr; // the last
  llvm::SmallVector<mlir::Operation *> readers;
};

// Nothing, if `buffer` is not kept from the forward of one micro-batch to its backward.
std::optional<Kept> keptIn(mlir::Value buffer) {
  llvm::SmallVector<mlir::Operation *> users;
  addUsers(buffer, users);
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
    if (!activations.empty()) {
      leaveKept(plan::FindTier(*machine, activations));
    }
    for (auto buffer : llvm::to_vector(getOperation().getBody().getOps<task::BufferOp>())) {
      if (!buffer.getTier() || !task::isState(buffer)) {
        continue;
      }
      llvm::SmallVector<mlir::Operation *> users;
      addUsers(buffer, users);
      if (users.empty() || !isOfStep(buffer, users)) {
        buffer.removeTierAttr();
        continue;
      }
      move(buffer, users);
      ++numMoved;
    }
  }

private:
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
      const double bytes = double(bytesOf(buffer));
      if (ofLayers && read != last.lookup(ir::chunkOf(kept->writer)) &&
          (!tier || plan::TierSeconds(*tier, bytes, /*fetches=*/true) >= 2 * tier->latency_s)) {
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

  // Every write makes a view of its own of what is on the device: a register has one writer.
  void move(task::BufferOp buffer, llvm::ArrayRef<mlir::Operation *> users) {
    mlir::OpBuilder b(buffer);
    b.setInsertionPointAfter(buffer);
    mlir::Value here =
        b.create<task::BufferOp>(buffer.getLoc(), buffer.getType(), b.getStringAttr(buffer.getName() + "/here"),
                                 task::BufferKind::Communication, buffer.getUnpaddedAttr());
    const bool reads = readsAny(users.front(), buffer);
    mlir::Value now = here;
    llvm::SmallVector<mlir::Operation *> direct(buffer->getUsers().begin(), buffer->getUsers().end());
    llvm::sort(direct, [](mlir::Operation *a, mlir::Operation *b) { return a->isBeforeInBlock(b); });
    direct.erase(std::unique(direct.begin(), direct.end()), direct.end());
    bool written = false;
    for (mlir::Operation *op : direct) {
      mlir::Value before = now;
      if (writesAny(op, buffer)) {
        b.setInsertionPoint(op);
        now = written || reads ? mlir::Value(b.create<task::AliasOp>(buffer.getLoc(), buffer.getType(), here,
                                                                     buffer.getUnpaddedAttr()))
                               : here;
        written = true;
      }
      const size_t inputs = task::inputsOf(op).size();
      for (mlir::OpOperand &operand : op->getOpOperands()) {
        if (operand.get() == buffer) {
          operand.set(llvm::isa<task::AliasOp>(op) || operand.getOperandNumber() < inputs ? before : now);
        }
      }
    }
    if (reads) {
      b.setInsertionPoint(users.front());
      copy(b, task::MoveKernel::kFetch, buffer, here, users.front());
    }
    if (written) {
      b.setInsertionPointAfter(users.back());
      copy(b, task::MoveKernel::kStore, now, buffer, users.back());
    }
  }

  // Belongs where `neighbour` does.
  static void copy(mlir::OpBuilder &b, llvm::StringRef name, mlir::Value from, mlir::Value to,
                   mlir::Operation *neighbour) {
    auto buffer = task::rootOf(from).getDefiningOp<task::BufferOp>();
    auto kernel = b.create<task::KernelOp>(buffer.getLoc(), b.getStringAttr(name), from, to, b.getDictionaryAttr({}),
                                           task::sectionOf(neighbour), mlir::DenseI64ArrayAttr());
    kernel.setCostAttr(b.getDenseF64ArrayAttr({0, 0, double(bytesOf(buffer))}));
    ir::setBelongings(kernel, ir::belongingsOf(neighbour));
    kernel->removeAttr("stage"); // the program tells
  }
};

} // namespace
} // namespace weft::compiler
