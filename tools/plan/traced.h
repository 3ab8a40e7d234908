// Where a plan's predicted seconds differ from those of a trace, by families of kernels: `weft-plan explain --with`.
#ifndef WEFT_TOOLS_PLAN_TRACED_H_
#define WEFT_TOOLS_PLAN_TRACED_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/sim/costs.h"
#include "runtime/sim/simulate.h"

namespace weft::tools {

// Kernels of one family. Seconds are of a step and a rank, means over the ranks of the trace.
struct TracedFamily {
  std::string family;      // as calibrations name it; of a kernel that runs several, "einsum + add + gelu"
  double runs = 0;         // in a step
  double predicted_s = 0;  // by the rates of the cluster, with what ranks take from each other, without launches
  double traced_s = 0;     // the median over the steps
};

struct Traced {
  std::vector<TracedFamily> families;  // what takes most in the trace first
  TracedFamily launches;               // what acts that run kernels take beside them
  TracedFamily step;                   // from the first act of a step to the end of its last one
  int steps = 0;                       // that the medians are over
};

// The name that weft-run's traces have for an actor's kernel.
std::string TracedName(const plan::Actor& actor, int kernel);

// Whether a track of a trace has the kernels of a stream, not its acts.
bool HasKernels(const std::string& track);

// By stage and actor: how much longer its acts take than they would with cores of their own.
std::vector<std::vector<double>> Stretches(const sim::Report& report, const sim::Costs& costs);

double MedianOf(std::vector<double> values);

// Of a trace of weft-run with --trace-kernels. Its first step, which prepares what is done once, is left out where
// there are more. kInvalidArgument, naming `trace_path`: no such trace, or one of another plan.
absl::StatusOr<Traced> CompareWithTrace(const plan::Plan& plan, const Cluster& cluster, const sim::Report& report,
                                        const std::string& trace_path);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_TRACED_H_
