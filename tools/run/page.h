// `weft run --report`: the page of the plan (tools/plan/report), with what the run has come to. A person opens it and
// loads it again.
#ifndef WEFT_TOOLS_RUN_PAGE_H_
#define WEFT_TOOLS_RUN_PAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/trace/metrics.h"
#include "tools/plan/report/page.h"

namespace weft::run {

// The lines of a run's steps, thinned out evenly as they become many: those with an evaluation last.
class Course {
 public:
  explicit Course(size_t most) : most_(most) {}

  // Steps come in their order.
  void Add(const trace::StepMetrics& metrics);

  // {"steps": `steps`, "every": so many steps a row, "rows": [...]}; the last row is the last step.
  std::string ToJson(int64_t steps) const;

 private:
  struct Row {
    int64_t step;
    std::string json;
    bool evaluated = false;
  };
  bool Stays(const Row& row) const { return row.step % every_ == 0 || (row.evaluated && keeps_evaluations_); }

  const size_t most_;
  int64_t every_ = 1;
  bool keeps_evaluations_ = true;
  std::vector<Row> rows_;
  Row last_ = {0, ""};
};

// One thread.
class RunPage {
 public:
  // Writes nothing yet. `plan_path` names the plan on the page; `steps` are asked for. Takes a second for a plan for a
  // thousand ranks.
  static absl::StatusOr<std::unique_ptr<RunPage>> Create(const plan::Plan& plan, const std::string& plan_path,
                                                         const std::string& path, int64_t steps);

  // Writes the page at the first step, and when some seconds have gone since it was written. kUnavailable naming the
  // file.
  absl::Status Add(const trace::StepMetrics& metrics);
  // With all that was added, at once.
  absl::Status Write();

 private:
  RunPage(std::string path, int64_t steps, tools::Page page);

  const std::string path_;
  const int64_t steps_;
  const tools::Page page_;
  Course course_;
  int64_t written_ns_ = 0;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_PAGE_H_
