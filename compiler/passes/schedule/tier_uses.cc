#include "compiler/passes/schedule/tier_uses.h"

#include "compiler/analysis/layer.h"
#include "compiler/analysis/unit_order.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/host_work.h"
#include "ops/layout/ops.h"

namespace weft::compiler {
namespace {

using mlir::Operation;
using mlir::Value;

void addTouchers(Value buffer, llvm::SmallVectorImpl<Operation *> &touchers) {
  for (Operation *user : buffer.getUsers()) {
    if (auto alias = llvm::dyn_cast<task::AliasOp>(user)) {
      addTouchers(alias, touchers);
    } else if (!llvm::is_contained(touchers, user)) {
      touchers.push_back(user);
    }
  }
}

// Whether copies can stand around an op.
bool mayMoveFor(Operation *op, Value buffer) {
  const bool isKernel = llvm::isa<task::KernelOp>(op), state = task::isState(buffer);
  if ((!isKernel && !llvm::isa<task::CollectiveOp>(op)) || op->hasAttr(ir::kOfChunkName)) {
    return false;
  }
  if (writesAny(op, buffer) && !llvm::is_contained(task::outputsOf(op), buffer)) {
    return false; // by a view
  }
  switch (task::sectionOf(op)) {
  case task::Section::Begin:
    return isKernel && !(state && writesAny(op, buffer));
  case task::Section::Micro:
    return !layerOf(ir::scopeOf(op)).empty() && !(state && writesAny(op, buffer));
  case task::Section::Step:
    return isKernel || state;
  }
  llvm_unreachable("every op has a section");
}

bool areTogether(Operation *a, Operation *b) {
  return ir::chunkOf(a) == ir::chunkOf(b) && unitKindOf(a) == unitKindOf(b) &&
         layerOf(ir::scopeOf(a)) == layerOf(ir::scopeOf(b));
}

// Whether the first use makes a buffer that is no state, or adds to what the micro-batches before have made, and the
// others read it. Within a section the order of the copies does not tell one use from another.
bool isMadeFirst(llvm::ArrayRef<TierUse> uses, Value buffer) {
  const TierUse &made = uses.front();
  Operation *first = made.work.front();
  const bool makes = writesAny(first, buffer) && (!readsAny(first, buffer) || llvm::isa<task::SumKernel>(first));
  return makes && made.section != task::Section::Step && llvm::all_of(uses.drop_front(), [&](const TierUse &use) {
           return use.section != made.section &&
                  llvm::none_of(use.work, [&](Operation *op) { return writesAny(op, buffer); });
         });
}

} // namespace

llvm::SmallVector<Operation *> touchersOf(Value buffer) {
  llvm::SmallVector<Operation *> touchers;
  addTouchers(buffer, touchers);
  llvm::sort(touchers, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return touchers;
}

bool readsAny(Operation *op, Value root) {
  return llvm::any_of(task::inputsOf(op), [&](Value input) { return task::rootOf(input) == root; });
}

bool writesAny(Operation *op, Value root) {
  return llvm::any_of(task::outputsOf(op), [&](Value output) { return task::rootOf(output) == root; });
}

std::optional<llvm::SmallVector<TierUse>> tierUsesOf(task::BufferOp buffer, const HostWork *host) {
  llvm::SmallVector<Operation *> touchers = touchersOf(buffer);
  const bool isMadeBelow =
      host && llvm::any_of(touchers, [&](Operation *op) { return host->has(op) && writesAny(op, buffer); });
  llvm::erase_if(touchers, [&](Operation *op) { return host && host->has(op); });
  if (touchers.empty() || !llvm::all_of(touchers, [&](Operation *op) { return mayMoveFor(op, buffer); })) {
    return std::nullopt;
  }
  const bool updated = llvm::any_of(
      touchers, [&](Operation *op) { return task::sectionOf(op) == task::Section::Step && writesAny(op, buffer); });
  auto isOf = [&](const TierUse &use, Operation *op) {
    if (use.section != task::sectionOf(op)) {
      return false;
    }
    return use.section == task::Section::Micro ? areTogether(use.work.front(), op)
                                               : use.section == task::Section::Step && updated;
  };
  llvm::SmallVector<TierUse> uses;
  for (Operation *op : touchers) {
    auto use = llvm::find_if(uses, [&](const TierUse &it) { return isOf(it, op); });
    if (use == uses.end()) {
      uses.push_back({task::sectionOf(op), {op}});
    } else {
      use->work.push_back(op);
    }
  }
  if (!task::isState(buffer) && !isMadeBelow && !isMadeFirst(uses, buffer)) {
    return std::nullopt;
  }
  return uses;
}

} // namespace weft::compiler
