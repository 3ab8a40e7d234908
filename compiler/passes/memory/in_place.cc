// Results that take over the bytes of dying operands.
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/memory/passes.h"
#include "llvm/ADT/MapVector.h"
#include "ops/layout/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_MEMORYINPLACE
#include "compiler/passes/memory/Passes.h.inc"
namespace {

// Places of works in the program, both ends included; the collectives of an actor share one.
struct Works {
  int64_t first = 0, last = 0;
};

// How the bytes of a root are used.
struct Use {
  llvm::SmallMapVector<size_t, Works, 2> actors; // by their places in the program
  bool carried = false;
  bool metric = false;
};

struct MemoryInPlace : impl::MemoryInPlaceBase<MemoryInPlace> {
  void runOnOperation() override {
    program_ = getOperation();
    actors_ = llvm::to_vector(program_.getBody().getOps<task::ActorOp>());
    uses_.clear();
    index_.clear();
    unitAt_.clear();
    addUnits();
    addUses();
    for (size_t actor = 0; actor < actors_.size(); ++actor) {
      for (Operation &op : actors_[actor].getBody().front()) {
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
  void addUnits() {
    for (auto [place, unit] : llvm::enumerate(task::unitsOf(program_))) {
      std::vector<int64_t> &at = unitAt_[schedule::nameOf(unit)];
      at.resize(program_.getMicroBatches(), 0);
      at[unit.microBatch] = int64_t(place);
    }
  }

  void addUses() {
    int64_t at = 0;
    for (auto [a, actor] : llvm::enumerate(actors_)) {
      for (Operation &op : actor.getBody().front()) {
        // The collectives of an actor run at once.
        at += !llvm::isa<task::CollectiveOp>(op) || !op.getPrevNode();
        index_[&op] = at;
        for (Value operand : op.getOperands()) {
          Works &works = uses_[task::rootOf(operand)].actors.try_emplace(a, Works{at, at}).first->second;
          works.last = at;
        }
        if (auto sum = llvm::dyn_cast<task::SumKernel>(op)) {
          uses_[task::rootOf(sum.getSum())].carried = true;
        }
      }
    }
    for (auto metric : program_.getBody().getOps<task::MetricOp>()) {
      uses_[task::rootOf(metric.getBuffer())].metric = true;
    }
  }

  void share(size_t actor, Operation *op, Value operand, Value result) {
    Value from = task::rootOf(operand);
    auto buffer = result.getDefiningOp<task::BufferOp>();
    if (!buffer || from == result || !mayDie(from) || !mayDie(result)) {
      return;
    }
    Use &fromUse = uses_[from], &toUse = uses_[result];
    auto bytes = [&](Value v) { return task::localBytesOf(task::tensorOf(v), program_.getPlacement()); };
    if (!endsWith(fromUse, actor, op) || !beginsWith(toUse, actor, op) || bytes(from) != bytes(result) ||
        operandsOn(op, from) != 1 || !isOrdered(actor, op, operand, fromUse, toUse)) {
      return;
    }
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(later(buffer, operand.getDefiningOp()));
    auto alias = builder.create<task::AliasOp>(buffer.getLoc(), result.getType(), operand, buffer.getUnpaddedAttr());
    auto root = from.getDefiningOp<task::BufferOp>();
    // What ends as a gradient counts as one.
    if (buffer.getKind() == task::BufferKind::Gradient) {
      root.setKind(task::BufferKind::Gradient);
    }
    root.setSlots(std::max(slotsFor(fromUse, toUse), std::max(slotsOf(root), slotsOf(buffer))));
    result.replaceAllUsesWith(alias);
    buffer.erase();
    fromUse.metric = toUse.metric;
    for (auto [user, works] : toUse.actors) {
      Works &all = fromUse.actors.try_emplace(user, works).first->second;
      all.last = works.last;
    }
    ++numShared;
  }

  // Whether the compute stream comes to one actor before another, for every micro-batch. The program's order says so
  // within a unit alone: a schedule may put `B` of one chunk before the `W` of another, which is further ahead there.
  bool isAhead(size_t early, size_t late) {
    task::ActorOp a = actors_[early], b = actors_[late];
    auto unitOf = [&](task::ActorOp actor) { return unitAt_.find(actor.getUnit().value_or("").str()); };
    auto x = unitOf(a), y = unitOf(b);
    if (a.getSection() != b.getSection() || x == y || x == unitAt_.end() || y == unitAt_.end()) {
      return early < late;
    }
    return llvm::all_of(llvm::zip(x->second, y->second),
                        [](auto places) { return std::get<0>(places) < std::get<1>(places); });
  }

  // Whether nothing that comes behind `op` uses the bytes.
  bool endsWith(const Use &use, size_t actor, Operation *op) {
    return llvm::all_of(use.actors, [&](const auto &it) {
      return it.first == actor ? it.second.last == index_[op] : isAhead(it.first, actor);
    });
  }

  // Whether nothing that comes before `op` uses the bytes.
  bool beginsWith(const Use &use, size_t actor, Operation *op) {
    return llvm::all_of(use.actors, [&](const auto &it) {
      return it.first == actor ? it.second.first == index_[op] : isAhead(actor, it.first);
    });
  }

  // Whether all uses of the operand certainly end before its bytes are written, also for other micro-batches.
  bool isOrdered(size_t at, Operation *op, Value operand, const Use &from, const Use &to) {
    task::ActorOp actor = actors_[at];
    auto computes = [&](const auto &user) { return actors_[user.first].getStream() == task::StreamKind::Compute; };
    auto micro = [&](const auto &user) { return actors_[user.first].getSection() == task::Section::Micro; };
    if (from.metric) {
      return false;
    }
    // What this actor alone uses is free when the actor may begin, for then the place of its result is.
    if (op->hasAttr(ir::kOfChunkName) && from.actors.size() == 1 && !from.carried && !to.carried && !to.metric) {
      return true;
    }
    if (actor.getSection() == task::Section::Micro && program_.getMicroBatches() > 1) {
      return !from.carried && !to.carried && !to.metric && llvm::all_of(from.actors, computes) &&
             llvm::all_of(to.actors, computes) && llvm::all_of(from.actors, micro) && llvm::all_of(to.actors, micro);
    }
    // What comes once a step finds its bytes as the program's order left them, and makes one slot of them.
    if (slotsOf(task::rootOf(operand).getDefiningOp<task::BufferOp>()) > 1) {
      return false;
    }
    if (actor.getStream() == task::StreamKind::Compute) {
      return llvm::all_of(from.actors, computes);
    }
    return from.actors.size() == 2 && llvm::all_of(from.actors, [&](const auto &user) {
             return user.first == at || (computes(user) && writes(actors_[user.first], operand));
           });
  }

  static bool writes(task::ActorOp actor, Value buffer) {
    return llvm::any_of(actor.getBody().front(),
                        [&](Operation &op) { return llvm::is_contained(task::outputsOf(&op), buffer); });
  }

  // Of `op` and of the collectives that run with it.
  static int64_t operandsOn(Operation *op, Value root) {
    auto count = [&](Operation &op) {
      return llvm::count_if(op.getOperands(), [&](Value v) { return task::rootOf(v) == root; });
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
    return buffer && !buffer.getTier() &&
           llvm::is_contained(
               {task::BufferKind::Activation, task::BufferKind::Gradient, task::BufferKind::Communication},
               buffer.getKind());
  }

  static int64_t slotsOf(task::BufferOp buffer) { return int64_t(buffer.getSlots()); }

  // As many as micro-batches are under way between the first unit of the one and the last of the other.
  int64_t slotsFor(const Use &from, const Use &to) {
    std::vector<schedule::Unit> users;
    for (const Use *use : {&from, &to}) {
      for (const auto &it : use->actors) {
        std::optional<schedule::Unit> unit = schedule::unitNamed(actors_[it.first].getUnit().value_or("").str());
        if (unit && !llvm::is_contained(users, *unit)) {
          users.push_back(*unit);
        }
      }
    }
    return users.size() < 2 ? 1 : schedule::inFlight(task::unitsOf(program_), users);
  }

  static Operation *later(Operation *a, Operation *b) { return a->isBeforeInBlock(b) ? b : a; }

  task::ProgramOp program_;
  llvm::SmallVector<task::ActorOp> actors_;
  std::map<std::string, std::vector<int64_t>> unitAt_; // of each unit and micro-batch the place in the schedule
  llvm::DenseMap<Value, Use> uses_;
  llvm::DenseMap<Operation *, int64_t> index_;
};

} // namespace
} // namespace weft::compiler
