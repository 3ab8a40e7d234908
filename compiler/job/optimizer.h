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

// A schedule without its message: {"warmup_linear", {{"warmup", "10"}, {"total", "100"}, {"min_ratio", "0.1"}}}.
// Several numbers of one name are one text, "10;20". "constant" has none.
struct OptimizerSchedule {
  std::string name;
  std::vector<std::pair<std::string, std::string>> numbers;
};

// The schedule of a job that has been validated.
OptimizerSchedule ScheduleOf(const Optimizer& optimizer);

// "sgd, adam, adamw, lion, adafactor, lamb, lars or muon".
std::string OptimizerNames();

// Fills in what is absent: the numbers of the rule and of the schedule, a constant schedule.
void ResolveOptimizer(Optimizer* optimizer);

// The schedule's numbers are in their ranges: "optimizer.schedule.warmup_linear.total: expected more than warmup (10),
// got 5".
absl::Status ValidateSchedule(const RateSchedule& schedule);

// Groups have a pattern, and say something of what it fits; so has what is frozen.
absl::Status ValidateGroups(const Optimizer& optimizer);

// There is a rule, and its numbers are in their ranges: "optimizer.adam.eps: expected a number above 0, got 0".
absl::Status ValidateRule(const Optimizer& optimizer);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_OPTIMIZER_H_
