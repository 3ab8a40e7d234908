// What a function yields of every sample of a data set.
#ifndef WEFT_TOOLS_RUN_SAMPLE_RESULTS_H_
#define WEFT_TOOLS_RUN_SAMPLE_RESULTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/executor/ports.h"
#include "tools/run/inputs.h"
#include "tools/run/output_file.h"

namespace weft::run {

// Takes step after step of a run that reads each sample once. Rows beyond the last sample, which fill the last step,
// are dropped.
class SampleResults : public executor::ResultSink {
 public:
  // Of outputs that have passed Check(). `batch` samples a step, `samples` of all; `file`, where every output goes
  // whole, may be null.
  SampleResults(const std::vector<InputInfo>& outputs, int64_t samples, int64_t batch, OutputFile* file);

  // kFailedPrecondition for an output that is a pending sum.
  absl::StatusOr<std::unique_ptr<executor::ResultField>> Bind(const executor::Port& port) override;

  // kInvalidArgument unless the first dimension of the output is the batch.
  static absl::Status Check(const InputInfo& output, int64_t batch);
  // Whether an output is one number a sample, whose mean says something.
  static bool IsNumber(const InputInfo& output) { return output.shape.size() == 1; }

  // The mean over all samples of each output that is one number a sample, by name. It is summed in the order of the
  // samples, in float64, so that it does not depend on the layout. All processes come, after the last step.
  absl::StatusOr<std::vector<std::pair<std::string, double>>> Means(Processes& processes) const;

 private:
  // The numbers of an output, and which of them the ranks of this process have given.
  struct Numbers {
    std::vector<double> values;
    std::vector<char> known;
  };
  class Field;

  const int64_t samples_;
  const int64_t batch_;
  OutputFile* const file_;
  std::map<std::string, Numbers> numbers_;  // by output, of those that are numbers; fields write different ones
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SAMPLE_RESULTS_H_
