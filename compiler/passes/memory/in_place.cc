// Results that take over the bytes of dying operands.
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/memory/passes.h"

namespace weft::compiler {
#define GEN_PASS_DEF_MEMORYINPLACE
#include "compiler/passes/memory/Passes.h.inc"
namespace {

using mlir::Operation;
using mlir::Value;

// How the bytes of a root are used, in the order of the program.
struct Use {
  int64_t first = -1, last = -1;
  llvm::SmallVector<task::ActorOp, 2> actors;
  bool carried = false;
  bool metric = false;
};

struct MemoryInPlace : impl::MemoryInPlaceBase<MemoryInPlace> {
  void runOnOperation() override {
    program_ = getOperation();
    uses_.clear();
    index_.clear();
    addUses();
    for (auto actor : program_.getBody().getOps<task::ActorOp>()) {
      for (Operation &op : actor.getBody().front()) {
        if (auto kernel = llvm::dyn_cast<task::KernelOp>(op); kernel && kernel.getInPlace()) {
          for (auto [i, operand] : llvm::enumerate(*kernel.getInPlace())) {
            if (operand >= 0) {
              share(actor, &op, kernel.getInputs()[operand], kernel.getOutputs()[i]);
            }
          }
        } else if (auto collective = llvm::dyn_cast<task::CollectiveOp>(op);
                   collective && collective.getKind() == task::CollectiveKind::AllReduce) {
          share(actor, &op, collective.getInput(), collective.getOutput());
        }
      }
    }
  }

private:
  void addUses() {
    int64_t at = 0;
    for (auto actor : program_.getBody().getOps<task::ActorOp>()) {
      for (Operation &op : actor.getBody().front()) {
        // The collectives of an actor run at once.
        at += !llvm::isa<task::CollectiveOp>(op) || !op.getPrevNode();
        index_[&op] = at;
        for (Value operand : op.getOperands()) {
          Use &use = uses_[task::rootOf(operand)];
          use.first = use.first < 0 ? at : use.first;
          use.last = at;
          if (!llvm::is_contained(use.actors, actor)) {
            use.actors.push_back(actor);
          }
        }
        if (auto accumulate = llvm::dyn_cast<task::AccumulateKernel>(op)) {
          uses_[task::rootOf(accumulate.getSum())].carried = true;
        }
      }
    }
    for (auto metric : program_.getBody().getOps<task::MetricOp>()) {
      uses_[task::rootOf(metric.getBuffer())].metric = true;
    }
  }

  void share(task::ActorOp actor, Operation *op, Value operand, Value result) {
    Value from = task::rootOf(operand);
    auto buffer = result.getDefiningOp<task::BufferOp>();
    if (!buffer || from == result || !mayDie(from) || !mayDie(result)) {
      return;
    }
    Use &fromUse = uses_[from], &toUse = uses_[result];
    auto bytes = [&](Value v) { return task::localBytesOf(task::tensorOf(v), program_.getPlacement()); };
    if (fromUse.last != index_[op] || toUse.first != index_[op] || bytes(from) != bytes(result) ||
        operandsOn(op, from) != 1 || !isOrdered(actor, operand, fromUse, toUse)) {
      return;
    }
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(later(buffer, operand.getDefiningOp()));
    auto alias = builder.create<task::AliasOp>(buffer.getLoc(), result.getType(), operand);
    auto root = from.getDefiningOp<task::BufferOp>();
    // What ends as a gradient counts as one.
    if (buffer.getKind() == task::BufferKind::Gradient) {
      root.setKind(task::BufferKind::Gradient);
    }
    root.setSlots(std::max(slotsFor(fromUse, toUse), std::max(slotsOf(root), slotsOf(buffer))));
    result.replaceAllUsesWith(alias);
    buffer.erase();
    fromUse.last = toUse.last;
    fromUse.metric = toUse.metric;
    fromUse.actors.append(toUse.actors.begin(), toUse.actors.end());
    ++numShared;
  }

  // Whether all uses of the operand certainly end before its bytes are written, also for other micro-batches.
  bool isOrdered(task::ActorOp actor, Value operand, const Use &from, const Use &to) {
    auto of = [&](task::ActorOp other) { return other != actor; };
    auto computes = [](task::ActorOp other) { return other.getStream() == task::StreamKind::Compute; };
    auto once = [](task::ActorOp other) { return other.getSection() != task::Section::Micro; };
    if (from.metric) {
      return false;
    }
    if (actor.getSection() == task::Section::Micro && program_.getMicroBatches() > 1) {
      return !from.carried && !to.carried && !to.metric && llvm::all_of(from.actors, computes) &&
             llvm::all_of(to.actors, computes) && llvm::none_of(from.actors, once) && llvm::none_of(to.actors, once);
    }
    // What comes once a step finds its bytes as the program's order left them.
    llvm::SmallVector<task::ActorOp> others;
    llvm::copy_if(from.actors, std::back_inserter(others), of);
    if (computes(actor)) {
      return llvm::all_of(others, computes);
    }
    return others.size() == 1 && computes(others[0]) && writes(others[0], operand);
  }

  static bool writes(task::ActorOp actor, Value buffer) {
    return llvm::any_of(actor.getBody().front(),
                        [&](Operation &op) { return llvm::is_contained(task::outputsOf(&op), buffer); });
  }

  // Of `op` and of the collectives that run with it.
  static int64_t operandsOn(Operation *op, Value root) {
    auto count = [&](Operation &it) {
      return llvm::count_if(it.getOperands(), [&](Value v) { return task::rootOf(v) == root; });
    };
    if (!llvm::isa<task::CollectiveOp>(op)) {
      return count(*op);
    }
    int64_t operands = 0;
    for (auto member : op->getBlock()->getOps<task::CollectiveOp>()) {
      operands += count(*member.getOperation());
    }
    return operands;
  }

  static bool mayDie(Value root) {
    auto buffer = root.getDefiningOp<task::BufferOp>();
    return buffer && llvm::is_contained(
                         {task::BufferKind::Activation, task::BufferKind::Gradient, task::BufferKind::Communication},
                         buffer.getKind());
  }

  static int64_t slotsOf(task::BufferOp buffer) { return int64_t(buffer.getSlots()); }

  // As many as micro-batches are under way between the first unit of the one and the last of the other.
  int64_t slotsFor(const Use &from, const Use &to) {
    std::vector<schedule::Unit> users;
    for (const Use *use : {&from, &to}) {
      for (task::ActorOp actor : use->actors) {
        std::optional<schedule::Unit> unit = schedule::unitNamed(actor.getUnit().value_or("").str());
        if (unit && !llvm::is_contained(users, *unit)) {
          users.push_back(*unit);
        }
      }
    }
    return users.size() < 2 ? 1 : schedule::inFlight(task::unitsOf(program_), users);
  }

  static Operation *later(Operation *a, Operation *b) { return a->isBeforeInBlock(b) ? b : a; }

  task::ProgramOp program_;
  llvm::DenseMap<Value, Use> uses_;
  llvm::DenseMap<Operation *, int64_t> index_;
};

} // namespace
} // namespace weft::compiler
