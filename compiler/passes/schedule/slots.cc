#include "compiler/passes/schedule/slots.h"

#include "llvm/ADT/MapVector.h"

namespace weft::compiler {
namespace {

// Who touches the bytes of a buffer within the micro-batch section.
struct Touches {
  llvm::SmallVector<llvm::StringRef, 2> units; // the writer's first
  bool moves = false;                          // the host or another stage writes or reads it
  bool stays = false;                          // summed up, or touched once a step
};

llvm::MapVector<mlir::Value, Touches> touchesOf(task::ProgramOp program) {
  llvm::MapVector<mlir::Value, Touches> touches;
  for (auto actor : program.getBody().getOps<task::ActorOp>()) {
    for (mlir::Operation &op : actor.getBody().front()) {
      auto kernel = llvm::dyn_cast<task::KernelOp>(op);
      for (mlir::Value operand : op.getOperands()) {
        Touches &touch = touches[task::rootOf(operand)];
        touch.moves |= actor.getStream() == task::StreamKind::Host || actor.getLane();
        touch.stays |= actor.getSection() != task::Section::Micro;
        if (actor.getUnit() && !llvm::is_contained(touch.units, *actor.getUnit())) {
          touch.units.push_back(*actor.getUnit());
        }
      }
      if (kernel && kernel.getName() == "accumulate") {
        touches[task::rootOf(kernel.getOutputs()[0])].stays = true;
      }
    }
  }
  return touches;
}

// The most micro-batches whose `names[0]` has begun and one of whose `names` has not ended.
int64_t mostUnderWay(llvm::ArrayRef<task::Unit> order, llvm::ArrayRef<llvm::StringRef> names) {
  llvm::DenseMap<int64_t, size_t> left; // by micro-batch: units that are still to come
  int64_t underWay = 0, most = 0;
  for (const task::Unit &unit : order) {
    std::string name = unit.name();
    if (!llvm::is_contained(names, name)) {
      continue;
    }
    if (name == names[0]) {
      left[unit.microBatch] += names.size();
      most = std::max(most, ++underWay);
    }
    if (--left[unit.microBatch] == 0) {
      --underWay;
    }
  }
  return std::max<int64_t>(most, 1);
}

} // namespace

void setSlots(task::ProgramOp program) {
  std::vector<task::Unit> order = task::unitsOf(program);
  std::map<std::vector<llvm::StringRef>, int64_t> known;
  int64_t microBatches = int64_t(program.getMicroBatches());
  for (auto &[root, touch] : touchesOf(program)) {
    auto buffer = root.getDefiningOp<task::BufferOp>();
    if (touch.stays || touch.units.empty()) {
      continue;
    }
    std::vector<llvm::StringRef> key(touch.units.begin(), touch.units.end());
    auto it = known.find(key);
    if (it == known.end()) {
      it = known.try_emplace(key, key.size() == 1 ? 1 : mostUnderWay(order, key)).first;
    }
    buffer.setSlots(std::min(microBatches, it->second + (touch.moves ? 1 : 0)));
  }
}

} // namespace weft::compiler
