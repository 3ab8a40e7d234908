// metrics.jsonl, for scripts: a JSON object of what is run, {"run":{"weft":"...", ...}}, then one a step, or one of an
// evaluation; among them one of what happens between steps: {"checkpoint":{"step":40, ...}}, {"restart":{...}},
// {"slow_rank":{...}}, {"replicas":{...}}, {"snapshot":{...}}.
#ifndef WEFT_RUNTIME_TRACE_METRICS_H_
#define WEFT_RUNTIME_TRACE_METRICS_H_

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::trace {

struct StepMetrics {
  int64_t step = 0;                // from 1
  std::optional<float> loss;       // before the step's update
  std::optional<float> grad_norm;  // before the step's update
  std::optional<float> lr;
  // Of float16: the loss scale of the next step, and how many steps were
  // skipped so far. Absent from the line where they are absent here.
  std::optional<float> loss_scale;
  std::optional<float> skipped_steps;
  // The model's own, by name: letters, digits, `_`, `.` and `-`.
  std::vector<std::pair<std::string, std::optional<float>>> of_model;
  // What an evaluation behind this step has found, by name, if there was one.
  std::vector<std::pair<std::string, double>> evaluation;
  int64_t tokens = 0;  // of this step, over all ranks
  double tokens_per_s = 0;
  double tflops = 0;  // model FLOPs a second, 1e12
  // Shares, if these rates are known: of the rate of matrix products that was measured at the start, and of the one
  // that the plan's cluster states, which is a data sheet's or a calibration's. On a GPU both are the stated one.
  std::optional<double> mfu, mfu_cluster;
  int64_t memory_bytes = 0;            // resident, of this process, at most so far
  std::optional<double> memory_share;  // of what the host has; of one process
};

// In front of the name of what an evaluation has found.
inline constexpr char kEvaluationPrefix[] = "eval_";

// What an evaluation finds over a whole data set.
struct EvaluationMetrics {
  int64_t samples = 0;
  std::vector<std::pair<std::string, double>> means;  // over the samples, by name
};

// {"samples":10000,"means":{"accuracy":0.85,"loss":0.4}}; what is not finite is null.
std::string ToJson(const EvaluationMetrics& metrics);

// A checkpoint that has been written, and its seconds.
struct SavedCheckpoint {
  int64_t step = 0;
  double stood_s = 0;  // in which no step was done for it
  double write_s = 0;  // from its begin until it was whole
};

// Snapshots of all ranks that are whole, wherever they are kept, and their seconds.
struct TakenSnapshot {
  int64_t step = 0;
  int64_t bytes = 0;   // of the state
  double stood_s = 0;  // in which no step was done for it
  double write_s = 0;  // from its begin until all were whole
};

// A run that begins again where another was ended.
struct Restart {
  int64_t step = 0;              // that it goes on after
  std::optional<int64_t> again;  // steps that are done once more, if that is known
  std::string reason;            // for people
};

// A rank that takes longer than others for the same work.
struct SlowRank {
  int64_t step = 0;  // that was done when it was seen
  int rank = 0;
  std::string host;
  double times = 0;        // as long as the others compute
  int64_t since = 0;       // the first step of the time in which it was
  std::string actor;       // where it loses most
  double actor_times = 0;  // as long as the others take there
};

// Replicas that were compared, after a step.
struct ComparedReplicas {
  int64_t step = 0;
  std::string difference;  // for people; empty: none
};

// {"restart":{"step":40,"again":17,"reason":"rank 1 is lost: ..."}}
std::string ToJson(const Restart& restart);

// {"slow_rank":{"step":300,"rank":12,"host":"b","times":1.43,"since":201,"actor":"h.7.forward","actor_times":2.1}}
std::string ToJson(const SlowRank& slow);

// {"replicas":{"step":40,"equal":true}}, with "difference":"..." where they are not
std::string ToJson(const ComparedReplicas& replicas);

// The last step of which a file has a line; nothing if there is none.
std::optional<int64_t> LastStep(const std::string& path);

// {"checkpoint":{"step":40,"stood_s":0.01,"write_s":0.3}}
std::string ToJson(const SavedCheckpoint& saved);

// {"snapshot":{"step":40,"bytes":1446912,"stood_s":0.001,"write_s":0.02}}
std::string ToJson(const TakenSnapshot& taken);

// The line without its newline. Floats carry full float32 precision; what is
// absent or not finite is null. An evaluation's loss is "eval_loss".
std::string ToJson(const StepMetrics& metrics);

// Writes a line a step, flushed at once, so that a killed run keeps its lines.
// An existing file stays as it is until the first line: a run that fails before
// it leaves nothing behind. For one thread.
class MetricsWriter {
 public:
  // Keeps the lines of an existing file up to step `done` (what a resumed run goes
  // on from), and those of all restarts, and drops the others; `about` says by key what is run, on a line of its
  // own in front of the steps to come. A file without such a line is of an older
  // Weft, which counted steps from 0: its lines are counted anew. kInvalidArgument
  // if the file cannot be created.
  static absl::StatusOr<std::unique_ptr<MetricsWriter>> Open(const std::string& path, int64_t done,
                                                             const std::map<std::string, std::string>& about);
  ~MetricsWriter();

  // kUnavailable naming the file when the disk is full.
  absl::Status Write(const StepMetrics& metrics) { return WriteLine(ToJson(metrics)); }
  absl::Status Write(const EvaluationMetrics& metrics) { return WriteLine(ToJson(metrics)); }
  absl::Status Write(const SavedCheckpoint& saved) { return WriteLine(ToJson(saved)); }
  absl::Status Write(const TakenSnapshot& taken) { return WriteLine(ToJson(taken)); }
  absl::Status Write(const Restart& restart) { return WriteLine(ToJson(restart)); }
  absl::Status Write(const SlowRank& slow) { return WriteLine(ToJson(slow)); }
  absl::Status Write(const ComparedReplicas& replicas) { return WriteLine(ToJson(replicas)); }

 private:
  absl::Status WriteLine(const std::string& json);

  MetricsWriter(std::string path, std::string partial, std::FILE* file)
      : path_(std::move(path)), partial_(std::move(partial)), file_(file) {}

  const std::string path_;
  std::string partial_;  // where the file is written until the first line; empty afterwards
  std::FILE* file_;
};

}  // namespace weft::trace

#endif  // WEFT_RUNTIME_TRACE_METRICS_H_
