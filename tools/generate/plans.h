// The two plans that go on with sequences: of one job, with the same parameters and caches.
#ifndef WEFT_TOOLS_GENERATE_PLANS_H_
#define WEFT_TOOLS_GENERATE_PLANS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/processes.h"

namespace weft::generate {

struct PlanRequest {
  std::string job;  // a file
  std::vector<std::string> overrides;
  std::string graph;      // "": GraphOf() the job's
  int64_t sequences = 1;  // the batch
};

// The function beside a graph that is trained: `logits` in the place of `train`.
std::string GraphOf(const std::string& graph);

// Compiles a plan that takes `chunk` tokens of each sequence. An error of the model is printed to standard error, by
// the first process; the status then has no message. All processes come, and get the same plan or error.
absl::StatusOr<plan::Plan> CompilePlan(const PlanRequest& request, int64_t chunk, run::Processes& processes);

// Of a plan that CompilePlan() has made.
struct Facts {
  int64_t length = 0;       // of the caches: tokens of a sequence
  int64_t vocabulary = 0;   // of the logits
  int64_t cache_bytes = 0;  // of all ranks
};
// kInvalidArgument unless it has caches, and its one output is logits, f32 [batch, 1, vocabulary].
absl::StatusOr<Facts> FactsOf(const plan::Plan& plan);

}  // namespace weft::generate

#endif  // WEFT_TOOLS_GENERATE_PLANS_H_
