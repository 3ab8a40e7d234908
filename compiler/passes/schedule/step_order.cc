#include "compiler/passes/schedule/step_order.h"

#include <limits>

#include "compiler/dialect/task/registers.h"

namespace weft::compiler {
namespace {

using mlir::Operation;
using mlir::Value;

// Of what waits for another stage: that one may wait for what comes before it here.
constexpr size_t kLast = std::numeric_limits<size_t>::max();

// For each op of the section, how many operations of the communication stream have to be over before it.
class Waits {
public:
  Waits(const StepCollectives &collectives, llvm::ArrayRef<Operation *> step) {
    for (const auto &bundle : collectives.bundles) {
      ++issued_;
      for (task::CollectiveOp member : bundle) {
        bundled_[member] = issued_;
      }
    }
    for (Operation *op : step) {
      add(op);
    }
  }

  size_t of(Operation *op) const { return waits_.lookup(op); }

private:
  void add(Operation *op) {
    size_t waits = llvm::isa<task::ReceiveOp>(op) ? kLast : 0;
    for (Value input : task::inputsOf(op)) {
      waits = std::max(waits, written_.lookup(task::rootOf(input)));
    }
    for (Value output : task::outputsOf(op)) {
      Value root = task::rootOf(output);
      waits = std::max({waits, written_.lookup(root), read_.lookup(root)});
    }
    if (auto bundle = bundled_.find(op); bundle != bundled_.end()) {
      waits = bundle->second;
    } else if (llvm::isa<task::CollectiveOp>(op)) {
      // These follow one another, behind the bundles.
      waits = std::max(waits, issued_);
      issued_ = waits == kLast ? kLast : ++waits;
    }
    for (Value input : task::inputsOf(op)) {
      size_t &read = read_[task::rootOf(input)];
      read = std::max(read, waits);
    }
    for (Value output : task::outputsOf(op)) {
      written_[task::rootOf(output)] = waits;
    }
    waits_[op] = waits;
  }

  size_t issued_ = 0;
  llvm::DenseMap<Operation *, size_t> bundled_, waits_;
  llvm::DenseMap<Value, size_t> written_, read_; // by root: what the last writer, and any reader, waits for
};

} // namespace

std::vector<Operation *> byCompletion(const StepCollectives &collectives, llvm::ArrayRef<Operation *> step) {
  std::vector<Operation *> order(step.begin(), step.end());
  if (!collectives.overlap) {
    return order;
  }
  Waits waits(collectives, step);
  llvm::sort(order, [&](Operation *a, Operation *b) {
    return waits.of(a) != waits.of(b) ? waits.of(a) < waits.of(b) : a->isBeforeInBlock(b);
  });
  return order;
}

} // namespace weft::compiler
