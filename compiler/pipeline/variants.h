// Plans of several jobs, to be put side by side.
//
//   job 1 ─┐  reads each model file once; jobs in a row that differ late    ┌─ plan 1, or why there is none
//   job 2 ─┼─ go on from what they share (candidates.h)                   ──┼─ plan 2
//   ...   ─┘                                                                └─ ...
#ifndef WEFT_COMPILER_PIPELINE_VARIANTS_H_
#define WEFT_COMPILER_PIPELINE_VARIANTS_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/pipeline/candidates.h"
#include "compiler/pipeline/model_source.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

/// For one thread.
class Variants {
public:
  /// The plan that compile() makes of `job`, which is resolved, of `jobFile` and for `cluster`: proved, with its
  /// prediction; its header says the job with paths as seen from here. But a plan that needs more memory than the
  /// device has is returned as well: see the arenas of its stages. kInvalidArgument says why there is no plan, on one
  /// line; the first error of a model file that does not parse is printed with its line, once.
  absl::StatusOr<plan::Plan> compile(const Job &job, const std::string &jobFile, const Cluster &cluster);

private:
  absl::StatusOr<ModelSource *> read(const Job &job);

  std::map<std::string, absl::StatusOr<std::unique_ptr<ModelSource>>> sources_; // by file
  // Of the last job, and what jobs have in common that go on from there.
  std::string shared_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Candidates> candidates_;
};

/// A text that is the same for jobs of which the later one goes on from a module of the earlier: sort by it.
std::string sharedPart(const Job &job, const Cluster &cluster);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_VARIANTS_H_
