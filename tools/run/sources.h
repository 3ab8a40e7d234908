// Where a plan's inputs come from: a data set, or a file of tensors.
#ifndef WEFT_TOOLS_RUN_SOURCES_H_
#define WEFT_TOOLS_RUN_SOURCES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/executor/ports.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/processes.h"
#include "tools/run/record.h"

namespace weft::run {

// What a run reads, and what is known of it.
struct OpenedData {
  Record record;        // `data` and its like: see RecordOf
  std::string text;     // for people: what it is, and how much of it the run reads
  int64_t samples = 0;  // records or sequences in it
  int64_t batch = 0;    // samples a step
  std::unique_ptr<executor::BatchSource> source;
};

// How much of a data set a run reads, and in which order.
struct Extent {
  uint64_t seed = 0;  // of the order
  int64_t steps = 0;  // as many batches
  bool once = false;  // every sample once, in their order, of the first `steps` batches, 0: all; `seed` says nothing
};

// Steps of `batch` samples that it takes to read `samples`.
inline int64_t StepsFor(int64_t samples, int64_t batch) { return (samples + batch - 1) / batch; }

// ", 0.9 epochs in 400 steps" of `batch` samples each on average, "" for no step; ", each once, in 79 steps"; ", the
// first 640, in 10 steps".
std::string ExtentText(const Extent& extent, int64_t samples, double batch);

// Opens --data: arrays for the inputs of their names, see OpenRecords, or tokens, see OpenTokens.
absl::StatusOr<OpenedData> OpenData(const plan::Plan& plan, const std::string& path, const Extent& extent);

// Whether all processes have opened the same data, which may lie elsewhere on each. All come, and get the same error.
absl::Status CheckSameData(Processes& processes, const OpenedData& data);

// Serves the tensors of a .safetensors file under their names.
absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTensors(const std::string& path);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SOURCES_H_
