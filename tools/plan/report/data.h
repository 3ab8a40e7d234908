// What the page of a plan shows, as one JSON: what `show`, `explain` and `simulate` say, and beside it what only a page
// has room for. Lists that are long are columns, a list a key, so that the file stays small.
#ifndef WEFT_TOOLS_PLAN_REPORT_DATA_H_
#define WEFT_TOOLS_PLAN_REPORT_DATA_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/plan.pb.h"

namespace weft::tools {

// Of a validated plan for `cluster`, beside a trace of weft-run unless `trace` is empty. Its keys:
//   name, plan      where it came from; what it is, and for what
//   explain         as `weft plan explain --json`; "loss" in each alternative of its decision
//   stages          as `weft plan simulate --json`, with "memory" of a rank
//   timeline        the acts of the simulated step, in nanoseconds: see TimelineJson()
//   measured        the same of a step of the trace, or null
//   memory          what is live when, and where: see MemoryJson()
//   kernels         those that layers have alike: see KernelsJson()
//   roofline        the cluster's rates, by which they were predicted
//   model           the forward as a graph, layers that are alike folded: see ModelJson()
//   parameters      with the tiles that ranks hold: see ParametersJson()
// Errors begin with `path` or with `trace`.
absl::StatusOr<nlohmann::ordered_json> ReportData(const std::string& path, const plan::Plan& plan,
                                                  const Cluster& cluster, const std::string& trace);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_REPORT_DATA_H_
