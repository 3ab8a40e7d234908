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

} // namespace

void setSlots(task::ProgramOp program) {
  std::vector<schedule::Unit> order = task::unitsOf(program);
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
      std::vector<schedule::Unit> users;
      for (llvm::StringRef name : key) {
        users.push_back(schedule::unitNamed(name.str()).value_or(schedule::Unit()));
      }
      const int most = key.size() == 1 ? 1 : schedule::inFlight(order, users);
      it = known.try_emplace(key, std::max(most, 1)).first;
    }
    buffer.setSlots(std::min(microBatches, it->second + (touch.moves ? 1 : 0)));
  }
}

} // namespace weft::compiler
