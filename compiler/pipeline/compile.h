// From a job to a plan.
#ifndef WEFT_COMPILER_PIPELINE_COMPILE_H_
#define WEFT_COMPILER_PIPELINE_COMPILE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/pipeline/phases.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

struct CompileOptions {
  Job job;                        // resolved, as LoadJob returns it; the plan's header holds it
  std::string jobFile;            // which `job` is of: its paths are seen from this file's folder
  Cluster cluster;                // that the job names
  std::optional<Phase> stopAfter; // `ir` is then the module behind this phase
  std::string dumpIr;             // a folder that gets one file a phase; empty: none
  uint32_t memorySeed = 0;        // where chance begins in the search for offsets; tests have others
};

struct Compiled {
  plan::Plan plan; // empty if stopped before
  std::string ir;  // MLIR text, if stopped before
};

/// Runs the phases. An error of the model is printed to standard error, at its
/// line; the status then has no message, for all is said. A plan that is
/// returned has passed the validator and the verifier.
absl::StatusOr<Compiled> compile(const CompileOptions &options);

/// What a batch asks for and no plan may have, whatever the cluster: kInvalidArgument.
absl::Status checkMicroBatches(const Batch &batch);

class Candidates;

/// What compile() does last with the plan of a job, whose paths are seen from here: proves that it does what it should
/// and fits, and adds the prediction. A plan that does not fit is refused with what would, by `candidates`, unless that
/// is null.
absl::Status certify(const Job &job, const Cluster &cluster, Candidates *candidates, plan::Plan &plan);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_COMPILE_H_
