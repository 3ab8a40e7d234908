// What is evaluated between the steps of a training.
#ifndef WEFT_TOOLS_RUN_EVALUATIONS_H_
#define WEFT_TOOLS_RUN_EVALUATIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/run/best.h"
#include "tools/run/cluster.h"
#include "tools/run/sample_results.h"
#include "tools/run/sources.h"
#include "tools/run/train.h"

namespace weft::run {

// The evaluation of a plan over --eval-data, on the parameters as they are. All processes make the same calls, and get
// the same answers and errors.
class Evaluations {
 public:
  // Null without --eval-data. `training`: what the training reads, which says how long an epoch is.
  static absl::StatusOr<std::unique_ptr<Evaluations>> Open(const Context& context, const OpenedData& training,
                                                           int64_t last_step);

  // For StartCluster.
  Beside& beside() { return beside_; }

  // Whether there is one after so many steps.
  bool IsAfter(int64_t steps) const;

  // The mean over the samples of each output that is one number a sample, by name. While no step of the training runs.
  absl::StatusOr<std::vector<std::pair<std::string, double>>> Run();

  // How the job and the request say what is best.
  const BestRule& rule() const { return rule_; }
  // `eval_data` and its like, see RecordOf.
  const Record& record() const { return record_; }
  // For people, of the start: what is evaluated, and when.
  const std::string& text() const { return text_; }

 private:
  Evaluations(const Context& context, int64_t last_step);
  absl::Status OpenData(const OpenedData& training);
  std::string WhenText() const;

  const Context context_;  // of the evaluation's plan
  const Evaluation& asked_;
  const int64_t last_step_;
  int64_t every_ = 0;  // steps; 0: an epoch
  int64_t epoch_samples_ = 0, step_samples_ = 0;
  int64_t samples_ = 0;  // that are read
  BestRule rule_;
  Record record_;
  std::string text_;
  // In the order in which they need each other.
  OpenedData data_;
  std::unique_ptr<SampleResults> results_;
  Beside beside_;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_EVALUATIONS_H_
