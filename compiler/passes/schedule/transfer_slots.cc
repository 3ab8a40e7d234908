#include "compiler/passes/schedule/transfer_slots.h"

#include "compiler/dialect/task/registers.h"
#include "llvm/ADT/MapVector.h"

namespace weft::compiler {
namespace {

// What acts once a micro-batch: a unit of a stage, or a transfer.
struct Node {
  int done = 0;                               // micro-batches
  llvm::SmallVector<size_t, 4> reads, writes; // buffers
};

// A buffer at an end of a transfer, and who touches it.
struct Moved {
  task::BufferOp op;
  size_t writer;
  llvm::SmallVector<size_t, 4> readers;
};

// The stages of a module as they pass micro-batches to each other. Those that overlap are one here.
class Stages {
public:
  explicit Stages(mlir::ModuleOp module) {
    for (auto program : module.getOps<task::ProgramOp>()) {
      overlap_ = int(program.getOverlap());
      microBatches_ = (int(program.getMicroBatches()) + overlap_ - 1) / overlap_;
      add(program);
    }
  }

  // Whether all micro-batches come to their end. If not, one more slot of some buffer is needed.
  bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Stage &stage : stages_) {
        for (; stage.at < stage.order.size() && canAct(stage.order[stage.at]); moved = true) {
          ++nodes_[stage.order[stage.at++]].done;
        }
      }
      for (auto [transfer, node] : transfers_) {
        for (; nodes_[node].done < microBatches_ && canAct(node); moved = true) {
          ++nodes_[node].done;
        }
      }
    }
    return llvm::all_of(stages_, [](const Stage &stage) { return stage.at == stage.order.size(); });
  }

  // Of those that wait for each other, gives one that waits for a slot another slot. Whether there is one.
  bool addSlot() {
    llvm::SmallVector<size_t> path; // each waits for the next
    llvm::SmallVector<std::optional<size_t>> buffers;
    size_t node = firstWaiting();
    while (!llvm::is_contained(path, node)) {
      Wait wait = *waitOf(node);
      path.push_back(node);
      buffers.push_back(wait.slotOf);
      node = wait.node;
    }
    for (size_t i = size_t(llvm::find(path, node) - path.begin()); i < path.size(); ++i) {
      if (buffers[i]) {
        task::BufferOp op = moved_[*buffers[i]].op;
        op.setSlots(op.getSlots() + overlap_);
        return true;
      }
    }
    return false;
  }

private:
  struct Stage {
    std::vector<size_t> order; // of nodes
    size_t at = 0;             // the first that has not acted
  };

  // Whom a node waits for; of which buffer it waits for a slot, if it does.
  struct Wait {
    size_t node;
    std::optional<size_t> slotOf;
  };

  bool canAct(size_t node) { return !missing(node); }

  // As there may be no more slots than micro-batches, those of the last ones may be fewer than overlap.
  int slotsOf(Moved &moved) const { return (int(moved.op.getSlots()) + overlap_ - 1) / overlap_; }

  // What a node's next micro-batch lacks, apart from its stage coming to it.
  std::optional<Wait> missing(size_t node) {
    const int microBatch = nodes_[node].done;
    for (size_t buffer : nodes_[node].reads) {
      if (nodes_[moved_[buffer].writer].done <= microBatch) {
        return Wait{moved_[buffer].writer, std::nullopt};
      }
    }
    for (size_t buffer : nodes_[node].writes) {
      for (size_t reader : moved_[buffer].readers) {
        if (nodes_[reader].done <= microBatch - slotsOf(moved_[buffer])) {
          return Wait{reader, buffer};
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Wait> waitOf(size_t node) {
    if (std::optional<Wait> wait = missing(node)) {
      return wait;
    }
    for (const Stage &stage : stages_) { // it waits for its turn
      if (stage.at < stage.order.size() && llvm::is_contained(llvm::ArrayRef(stage.order).drop_front(stage.at), node)) {
        return Wait{stage.order[stage.at], std::nullopt};
      }
    }
    return std::nullopt;
  }

  size_t firstWaiting() const {
    auto stage = llvm::find_if(stages_, [](const Stage &stage) { return stage.at < stage.order.size(); });
    return stage->order[stage->at];
  }

  void add(task::ProgramOp program) {
    std::map<std::string, size_t> units;
    Stage &stage = stages_.emplace_back();
    for (const schedule::Unit &unit : task::unitsOf(program)) {
      if (unit.microBatch % overlap_ != 0) {
        continue;
      }
      auto [it, isNew] = units.try_emplace(schedule::nameOf(unit), nodes_.size());
      if (isNew) {
        nodes_.emplace_back();
      }
      stage.order.push_back(it->second);
    }
    addBuffers(program, units);
  }

  // The micro-batch section's: those that a transfer touches.
  void addBuffers(task::ProgramOp program, const std::map<std::string, size_t> &units) {
    llvm::MapVector<mlir::Value, llvm::SmallVector<size_t, 4>> users; // by root, the writer first
    llvm::DenseSet<mlir::Value> moved;
    for (auto actor : program.getBody().getOps<task::ActorOp>()) {
      auto unit = units.find(actor.getUnit().value_or("").str());
      if (actor.getSection() != task::Section::Micro || unit == units.end()) {
        continue;
      }
      for (mlir::Operation &op : actor.getBody().front()) {
        std::optional<size_t> transfer = transferOf(&op);
        for (mlir::Value operand : op.getOperands()) {
          mlir::Value root = task::rootOf(operand);
          llvm::SmallVector<size_t, 4> &all = users[root];
          size_t node = transfer.value_or(unit->second);
          if (transfer && !task::isState(root)) {
            moved.insert(root);
          }
          if (!llvm::is_contained(all, node)) {
            all.push_back(node);
          }
        }
      }
    }
    for (auto &[root, all] : users) {
      if (!moved.contains(root)) {
        continue;
      }
      nodes_[all.front()].writes.push_back(moved_.size());
      for (size_t reader : llvm::ArrayRef(all).drop_front()) {
        nodes_[reader].reads.push_back(moved_.size());
      }
      moved_.push_back({root.getDefiningOp<task::BufferOp>(), all.front(), {all.begin() + 1, all.end()}});
    }
  }

  // The node of a transfer that `op` is an end of.
  std::optional<size_t> transferOf(mlir::Operation *op) {
    auto send = llvm::dyn_cast<task::SendOp>(op);
    auto receive = llvm::dyn_cast<task::ReceiveOp>(op);
    if (!send && !receive) {
      return std::nullopt;
    }
    auto [it, isNew] = transfers_.try_emplace(send ? send.getTransfer() : receive.getTransfer(), nodes_.size());
    if (isNew) {
      nodes_.emplace_back();
    }
    return it->second;
  }

  int overlap_ = 1, microBatches_ = 0;
  std::vector<Stage> stages_;
  std::map<uint64_t, size_t> transfers_; // their nodes
  std::vector<Node> nodes_;
  std::vector<Moved> moved_;
};

} // namespace

void addTransferSlots(mlir::ModuleOp module) {
  Stages stages(module);
  while (!stages.run() && stages.addSlot()) {
  }
}

} // namespace weft::compiler
