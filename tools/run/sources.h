// Where a plan's inputs come from: a data set, or a file of tensors.
#ifndef WEFT_TOOLS_RUN_SOURCES_H_
#define WEFT_TOOLS_RUN_SOURCES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/executor/ports.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/record.h"

namespace weft::run {

// What a run trains on, and what is known of it.
struct OpenedData {
  Record record;     // `data` and its like: see RecordOf
  std::string text;  // for people: what it is, and how much of it the run reads
  std::unique_ptr<executor::BatchSource> source;
};

// ", 0.9 epochs in 400 steps" of `batch` records each on average; "" for no step.
std::string EpochsText(int64_t records, double batch, int64_t steps);

// Opens --data for a run of `steps` steps: arrays for the inputs of their names, see OpenRecords, or tokens, see
// OpenTokens.
absl::StatusOr<OpenedData> OpenData(const plan::Plan& plan, const std::string& path, uint64_t seed, int64_t steps);

// Serves the tensors of a .safetensors file under their names.
absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTensors(const std::string& path);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SOURCES_H_
