#include "compiler/passes/schedule/host_work.h"

#include <limits>

#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/tier_uses.h"
#include "ops/layout/ops.h"

namespace weft::compiler {
namespace {

using mlir::Operation;
using mlir::Value;
using task::Section;

bool isBelow(Value root) { return !task::tierOf(root).empty(); }

bool multiplies(task::KernelOp kernel) { return kernel.getCost() && (*kernel.getCost())[0] > 0; }

} // namespace

HostWork::HostWork(task::ProgramOp program) {
  for (auto buffer : program.getBody().getOps<task::BufferOp>()) {
    if (buffer.getTier() && task::isState(buffer)) {
      held_.insert(buffer);
    }
  }
  for (const Section section : {Section::Begin, Section::Step}) {
    for (auto kernel : program.getBody().getOps<task::KernelOp>()) {
      const bool isOther = llvm::isa<task::MoveKernel, task::InputKernel, task::SumKernel>(kernel.getOperation()) ||
                           kernel.getName() == task::OutputKernel::kName || kernel->hasAttr(ir::kOfChunkName);
      if (kernel.getSection() == section && !isOther) {
        kernels_.push_back(kernel);
      }
    }
  }
  while (!find()) {
  }
  llvm::DenseSet<Value> seen;
  for (task::KernelOp kernel : kernels_) {
    for (Value operand : has(kernel) ? kernel->getOperands() : mlir::ValueRange()) {
      if (seen.insert(task::rootOf(operand)).second) {
        touched_.push_back(task::rootOf(operand));
      }
    }
  }
}

// State that it touches is held; in the begin section it reads nothing that the device makes.
bool HostWork::mayRun(task::KernelOp kernel) const {
  const auto isHere = [&](Value operand) {
    Value root = task::rootOf(operand);
    return task::isState(root) && !held_.contains(root);
  };
  const auto isOurs = [&](Value input) {
    return task::isState(task::rootOf(input)) || made_.contains(task::rootOf(input));
  };
  return !refused_.contains(kernel) && llvm::none_of(kernel->getOperands(), isHere) &&
         (kernel.getSection() == Section::Step || llvm::all_of(kernel.getInputs(), isOurs));
}

bool HostWork::isWanted(task::KernelOp kernel) const {
  const auto touchesState = [&](Value operand) { return held_.contains(task::rootOf(operand)); };
  if (multiplies(kernel)) {
    return false;
  }
  if (llvm::any_of(kernel->getOperands(), touchesState)) {
    return true;
  }
  return kernel.getSection() == Section::Step && llvm::any_of(kernel.getInputs(), [&](Value input) {
           Value root = task::rootOf(input);
           return made_.contains(root) || (isBelow(root) && !task::isState(root));
         });
}

bool HostWork::isReadByWork(task::KernelOp kernel) const {
  return llvm::any_of(kernel.getOutputs(), [&](Value output) {
    return llvm::any_of(touchersOf(task::rootOf(output)), [&](Operation *op) { return has(op); });
  });
}

void HostWork::add(task::KernelOp kernel) {
  work_.insert(kernel);
  for (Value output : kernel.getOutputs()) {
    if (!task::isState(task::rootOf(output))) {
      made_.insert(task::rootOf(output));
    }
  }
}

// Goes through the kernels once. False: something cannot be the host's after all.
bool HostWork::find() {
  work_.clear();
  made_.clear();
  for (task::KernelOp kernel : kernels_) {
    if (mayRun(kernel) && isWanted(kernel)) {
      add(kernel);
    }
  }
  for (task::KernelOp kernel : kernels_) {
    if (kernel.getSection() == Section::Step && kernel.getInputs().empty() && mayRun(kernel) && isReadByWork(kernel)) {
      add(kernel);
    }
  }
  bool found = true;
  for (Value root : made_) {
    for (Operation *op : touchersOf(root)) {
      if (writesAny(op, root) && !has(op)) {
        for (Operation *other : touchersOf(root)) {
          found &= !has(other) || !refused_.insert(other).second;
        }
      }
    }
  }
  for (Value state : llvm::to_vector(held_)) {
    bool written = false, mixed = false;
    for (Operation *op : touchersOf(state)) {
      mixed |=
          !has(op) && (llvm::isa<task::MetricOp>(op) || writesAny(op, state) || task::sectionOf(op) == Section::Step);
      written |= has(op) && writesAny(op, state);
    }
    if (mixed || !written) {
      held_.erase(state);
      found = false;
    }
  }
  return found;
}

bool servesHost(Operation *op) { return llvm::isa<task::MoveKernel>(op) && op->hasAttr(kOnceName); }

llvm::SmallVector<Operation *> byArrival(llvm::ArrayRef<Operation *> step, llvm::ArrayRef<Operation *> micro) {
  // Of the last micro-batch, and of what the device does behind it.
  constexpr size_t kBehind = std::numeric_limits<size_t>::max();
  llvm::DenseMap<Operation *, size_t> at;
  llvm::DenseMap<Value, size_t> written, touched; // by root
  for (auto [i, op] : llvm::enumerate(micro)) {
    for (Value output : task::outputsOf(op)) {
      written[task::rootOf(output)] = i + 1;
    }
  }
  for (Operation *op : step) {
    const bool beside = task::worksBelow(op) || llvm::isa<task::MoveKernel, task::CollectiveOp>(op);
    size_t arrives = beside ? 0 : kBehind;
    for (Value input : task::inputsOf(op)) {
      arrives = std::max(arrives, written.lookup(task::rootOf(input)));
    }
    for (Value output : task::outputsOf(op)) {
      arrives = std::max({arrives, written.lookup(task::rootOf(output)), touched.lookup(task::rootOf(output))});
    }
    for (Value operand : op->getOperands()) {
      size_t &last = touched[task::rootOf(operand)];
      last = std::max(last, arrives);
    }
    for (Value output : task::outputsOf(op)) {
      written[task::rootOf(output)] = arrives;
    }
    at[op] = arrives;
  }
  llvm::SmallVector<Operation *> sorted(step);
  llvm::stable_sort(sorted, [&](Operation *a, Operation *b) { return at.lookup(a) < at.lookup(b); });
  return sorted;
}

} // namespace weft::compiler
