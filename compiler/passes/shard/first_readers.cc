#include "compiler/passes/shard/first_readers.h"

#include "compiler/analysis/section.h"
#include "compiler/analysis/unit_order.h"

namespace weft::compiler {
namespace {

UnitOrder unitOf(Operation *op) { return unitOrderOf(unitKindOf(op), int(ir::chunkOf(op))); }

// The reader on its own stage that is of the earliest unit, if that is before the op's own.
Operation *earlierReader(Operation *op, const Sections &sections) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    if (sections.isMicro(user) && ir::stageOf(user) == ir::stageOf(op) && unitOf(user) < unitOf(first ? first : op)) {
      first = user;
    }
  }
  return first;
}

void moveBehindOperands(Operation *op) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    last = producer && (!last || last->isBeforeInBlock(producer)) ? producer : last;
  }
  if (last) {
    op->moveAfter(last);
  } else {
    op->moveBefore(op->getBlock(), op->getBlock()->begin());
  }
}

} // namespace

void moveToFirstReaders(ir::GraphOp graph) {
  Sections sections(graph);
  SmallVector<Operation *> moved; // the last first
  for (Operation &op : llvm::reverse(graph.getBody().front())) {
    Operation *reader = sections.isMicro(&op) ? earlierReader(&op, sections) : nullptr;
    if (reader) {
      ir::setBelongings(&op, ir::belongingsOf(reader));
      moved.push_back(&op);
    }
  }
  for (Operation *op : llvm::reverse(moved)) {
    moveBehindOperands(op);
  }
}

} // namespace weft::compiler
