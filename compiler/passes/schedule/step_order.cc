#include "compiler/passes/schedule/step_order.h"

#include <limits>

#include "compiler/dialect/task/registers.h"

namespace weft::compiler {
namespace {

using Bundle = llvm::SmallVector<task::CollectiveOp>;

// Of what waits for another stage: that one may wait for what comes before it here.
constexpr size_t kLast = std::numeric_limits<size_t>::max();

// For each op of the section, how many operations of the communication stream have to be over before it.
class Waits {
public:
  Waits(task::ProgramOp program, const StepCollectives &collectives, llvm::ArrayRef<Operation *> step)
      : placement_(program.getPlacement()), collectives_(collectives) {
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

  // Bundles of more than one gather.
  std::vector<Bundle> gathers() const {
    std::vector<Bundle> several;
    llvm::copy_if(gathers_, std::back_inserter(several), [](const Bundle &bundle) { return bundle.size() > 1; });
    return several;
  }

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
    } else if (auto collective = llvm::dyn_cast<task::CollectiveOp>(op)) {
      // These follow one another, behind the bundles.
      if (!joins(collective, waits)) {
        waits = std::max(waits, issued_);
        issued_ = waits == kLast ? kLast : waits + 1;
        gathers_.push_back({});
        bytes_ = 0;
      }
      waits = issued_;
      gathers_.back().push_back(collective);
      bytes_ += bytesOf(collective);
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

  // Whether a gather is one operation with the collective before it: that is a gather alike, and the new one, which has
  // to wait for `waits`, needs nothing of it.
  bool joins(task::CollectiveOp op, size_t waits) {
    if (gathers_.empty() || op.getKind() != task::CollectiveKind::AllGather || issued_ == kLast || waits >= issued_) {
      return false;
    }
    task::CollectiveOp first = gathers_.back().front();
    return first.getKind() == op.getKind() && first.getAxes() == op.getAxes() && !collectives_.after.contains(op) &&
           bytes_ + bytesOf(op) <= kBucketBytes;
  }

  int64_t bytesOf(task::CollectiveOp op) { return task::localBytesOf(task::tensorOf(op.getOutput()), placement_); }

  ir::PlacementAttr placement_;
  const StepCollectives &collectives_;
  size_t issued_ = 0;
  std::vector<Bundle> gathers_; // collectives behind the bundles: each alone, or gathers together
  int64_t bytes_ = 0;           // of the last of these
  llvm::DenseMap<Operation *, size_t> bundled_, waits_;
  llvm::DenseMap<Value, size_t> written_, read_; // by root: what the last writer, and any reader, waits for
};

} // namespace

StepOrder byCompletion(task::ProgramOp program, const StepCollectives &collectives, llvm::ArrayRef<Operation *> step) {
  StepOrder order{{step.begin(), step.end()}, {}};
  if (!collectives.overlap) {
    return order;
  }
  Waits waits(program, collectives, step);
  llvm::sort(order.work, [&](Operation *a, Operation *b) {
    return waits.of(a) != waits.of(b) ? waits.of(a) < waits.of(b) : a->isBeforeInBlock(b);
  });
  order.gathers = waits.gathers();
  return order;
}

} // namespace weft::compiler
