// --weft-schedule-slots: how many micro-batches of a value are under way at once.
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/passes.h"
#include "compiler/passes/schedule/transfer_slots.h"
#include "llvm/ADT/MapVector.h"

namespace weft::compiler {
#define GEN_PASS_DEF_SCHEDULESLOTS
#include "compiler/passes/schedule/Passes.h.inc"
namespace {

// Who touches the bytes of a buffer within the micro-batch section.
struct Touches {
  llvm::SmallVector<llvm::StringRef, 2> units; // the writer's first
  bool moves = false;                          // the host or another stage writes or reads it
  bool stays = false;                          // summed up, or made once a step
  task::ActorOp actor;                         // the first
  bool passes = false;                         // to another actor
};

// Whether an op of another section only reads what the last micro-batch has made, of which it uses the slot.
bool readsLast(mlir::Operation *op, mlir::Value operand) { return !llvm::is_contained(task::outputsOf(op), operand); }

llvm::MapVector<mlir::Value, Touches> touchesOf(task::ProgramOp program) {
  llvm::MapVector<mlir::Value, Touches> touches;
  for (auto actor : program.getBody().getOps<task::ActorOp>()) {
    for (mlir::Operation &op : actor.getBody().front()) {
      for (mlir::Value operand : op.getOperands()) {
        Touches &touch = touches[task::rootOf(operand)];
        touch.moves |= (actor.getStream() == task::StreamKind::Host || actor.getLane()) &&
                       !llvm::isa<task::MoveKernel>(op) && !task::worksBelow(&op);
        touch.actor = touch.actor ? touch.actor : actor;
        touch.passes |= touch.actor != actor;
        touch.stays |= actor.getSection() != task::Section::Micro && !readsLast(&op, operand);
        if (actor.getUnit() && !llvm::is_contained(touch.units, *actor.getUnit())) {
          touch.units.push_back(*actor.getUnit());
        }
      }
      if (auto sum = llvm::dyn_cast<task::SumKernel>(op)) {
        touches[task::rootOf(sum.getSum())].stays = true;
      }
      // A sum that comes from a tier stays there.
      if (auto move = llvm::dyn_cast<task::MoveKernel>(op); move && move.fetchesSum()) {
        touches[task::rootOf(move.getInTier())].stays = true;
      }
    }
  }
  return touches;
}

void setSlots(task::ProgramOp program) {
  std::vector<schedule::Unit> order = task::unitsOf(program);
  std::map<std::vector<llvm::StringRef>, int64_t> known;
  const int64_t microBatches = int64_t(program.getMicroBatches()), overlap = int64_t(program.getOverlap());
  for (auto &[root, touch] : touchesOf(program)) {
    auto buffer = root.getDefiningOp<task::BufferOp>();
    // State is there all the time, also what no update writes.
    if (task::isState(root) || touch.stays || touch.units.empty()) {
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
    const int64_t used = std::max(it->second, touch.passes ? overlap : 1);
    buffer.setSlots(std::min(microBatches, used + (touch.moves ? overlap : 0)));
  }
}

struct ScheduleSlots : impl::ScheduleSlotsBase<ScheduleSlots> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<task::ProgramOp>()) {
      setSlots(program);
    }
    addTransferSlots(getOperation());
  }
};

} // namespace
} // namespace weft::compiler
