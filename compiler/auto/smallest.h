// The choices that need the least memory of a rank, whatever their steps take.
#ifndef WEFT_COMPILER_AUTO_SMALLEST_H_
#define WEFT_COMPILER_AUTO_SMALLEST_H_

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/auto/choice.h"
#include "compiler/auto/estimate.h"

namespace weft::compiler {

/// A choice with what it recomputes, and what it is estimated to need with stages that are cut for the memory.
struct Small {
  Choice choice;
  Recompute::Policy policy;
  Estimate estimate;
};

/// From several starts to the first neighbour that needs less, until none does: with one schedule, and all recomputed.
/// What needs least, and where each began, is then looked at with every schedule, policy and layout. Nothing of that
/// depends on the memory that a device has. For one thread.
class Smallest {
public:
  /// Of a choice and a policy; kResourceExhausted ends the search.
  using EstimateOf = std::function<absl::StatusOr<Estimate>(const Choice &, Recompute::Policy)>;

  /// `policies`: those that the job leaves open, the one that recomputes most at the end. `layouts`: that a choice may
  /// have (Choice::layout), the model's first. The space outlives this.
  Smallest(const Space &space, std::vector<Recompute::Policy> policies,
           std::function<std::vector<int64_t>(const Choice &)> layouts, EstimateOf estimateOf);

  /// At most so many, the smallest first; behind them what tiers have too little for.
  std::vector<Small> find(size_t most);

private:
  std::optional<double> look(const Choice &choice);
  void descend(const Choice &start);

  const Space &space_;
  const std::vector<Recompute::Policy> policies_;
  const std::function<std::vector<int64_t>(const Choice &)> layouts_;
  const EstimateOf estimateOf_;
  std::map<Choice, std::optional<double>> seen_; // bytes
  bool isOver_ = false;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_SMALLEST_H_
