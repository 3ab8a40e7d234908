#include "compiler/passes/schedule/step_order.h"

#include <limits>

#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/tier_uses.h"

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

  // Those of more than one.
  std::vector<Bundle> together() const {
    std::vector<Bundle> several;
    for (const Issue &issue : issues_) {
      if (issue.members.size() > 1) {
        several.push_back(issue.members);
      }
    }
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
      Issue *issue = joined(collective, waits);
      if (!issue) {
        waits = std::max(waits, issued_);
        issued_ = waits == kLast ? kLast : waits + 1;
        issue = &issues_.emplace_back();
        issue->number = issued_;
      }
      waits = issue->number;
      issue->members.push_back(collective);
      issue->bytes += bytesOf(collective);
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

  // A collective behind the bundles, or several together.
  struct Issue {
    size_t number = 0; // how many operations are over with it
    Bundle members;
    int64_t bytes = 0;
  };

  // What a collective is one operation with: it has to wait for `waits`, and needs nothing of that. Of gathers the
  // collective before it; of an optimizer's sums, such as norms of parameters, any before it.
  Issue *joined(task::CollectiveOp op, size_t waits) {
    const bool isGather = op.getKind() == task::CollectiveKind::AllGather;
    const bool isSum = op.getKind() == task::CollectiveKind::AllReduce && ir::phaseOf(op) == ir::OpPhase::Update;
    if (!(isGather || isSum) || collectives_.after.contains(op) || issued_ == kLast || comesFromTier(op)) {
      return nullptr;
    }
    for (Issue &issue : llvm::reverse(issues_)) {
      if (waits >= issue.number) {
        return nullptr;
      }
      task::CollectiveOp first = issue.members.front();
      if (first.getKind() == op.getKind() && first.getAxes() == op.getAxes() && first.getMax() == op.getMax() &&
          (isGather || ir::phaseOf(first) == ir::OpPhase::Update) && issue.bytes + bytesOf(op) <= kBucketBytes) {
        return &issue;
      }
      if (isGather) {
        return nullptr;
      }
    }
    return nullptr;
  }

  // What is fetched comes for its own use: an earlier one would wait for it, and it may wait for what that makes.
  static bool comesFromTier(task::CollectiveOp op) {
    Value root = task::rootOf(op.getInput());
    return llvm::any_of(touchersOf(root), [&](Operation *toucher) {
      return llvm::isa<task::MoveKernel>(toucher) && writesAny(toucher, root);
    });
  }

  int64_t bytesOf(task::CollectiveOp op) { return task::localBytesOf(task::tensorOf(op.getOutput()), placement_); }

  ir::PlacementAttr placement_;
  const StepCollectives &collectives_;
  size_t issued_ = 0;
  std::vector<Issue> issues_;
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
  llvm::stable_sort(order.work, [&](Operation *a, Operation *b) { return waits.of(a) < waits.of(b); });
  order.together = waits.together();
  return order;
}

} // namespace weft::compiler
