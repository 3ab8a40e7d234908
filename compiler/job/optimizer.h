// The rules that a job may name, read off the messages of job.proto: a rule is a field of Optimizer.rule, its numbers
// are the fields of that field's message, whose options say what they may be and are by default.
#ifndef WEFT_COMPILER_JOB_OPTIMIZER_H_
#define WEFT_COMPILER_JOB_OPTIMIZER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/plan/job.pb.h"

namespace weft {

// A rule without its message: {"adamw", 1e-3, {{"beta1", 0.9}, ...}}.
struct OptimizerRule {
  std::string name;
  double lr = 0;
  std::vector<std::pair<std::string, double>> numbers;
};

// The rule of a job that has been validated; an empty name where it has none.
OptimizerRule RuleOf(const Optimizer& optimizer);

// "sgd, adam or adamw".
std::string OptimizerNames();

// Fills in what is absent: the numbers of the rule, a constant schedule.
void ResolveOptimizer(Optimizer* optimizer);

// There is a rule, and its numbers are in their ranges: "optimizer.adam.eps: expected a number above 0, got 0".
absl::Status ValidateRule(const Optimizer& optimizer);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_OPTIMIZER_H_
