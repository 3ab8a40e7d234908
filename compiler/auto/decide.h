// graph.auto_parallel: the keys that a job leaves open, chosen.
//
//   job, cluster ─ Space ─▶ choices ─ a few layers compiled ─▶ estimates ─ the best, whole ─▶ Decision
//
// The search goes from several starts to the neighbours that an estimate finds better, until none is. An estimate comes
// from a model with three layers of each repeat (profile.h). The best are then compiled whole and simulated. Where the
// cluster has a tier below the device, what layers keep may lie there instead of being recomputed. Where still nothing
// fits, or what fits is slower than what does not, the search is done again with the optimizer's state there, then with
// parameters, each with the effort that the job allows; where the host may update that state, both ways are tried. The
// fastest plan is taken, and no way further down is tried once one brought nothing.
#ifndef WEFT_COMPILER_AUTO_DECIDE_H_
#define WEFT_COMPILER_AUTO_DECIDE_H_

#include <atomic>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/pipeline/compile.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

struct DecideOptions {
  /// Told now and then how far the search is, in a line without its end; may be empty.
  std::function<void(const std::string &)> progress;
  /// Ends the search with the best so far once it is true; may be null.
  const std::atomic<bool> *stop = nullptr;
};

struct Decided {
  Job job;         // resolved, asks for no search; its paths are as in the job that was asked for
  plan::Plan plan; // of this job, as compile() gives it; its header holds the decision
};

/// Chooses for `options.job`, which has graph.auto_parallel; `stopAfter` and `dumpIr` do not count. The result depends
/// on the job, the model and the cluster alone, unless `stop` becomes true. An error of the model is printed at its
/// line, and the status has no message then; kResourceExhausted: nothing fits the memory, with the least that would;
/// kInvalidArgument: no layout is possible.
absl::StatusOr<Decided> decide(const CompileOptions &options, const DecideOptions &how);

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_DECIDE_H_
