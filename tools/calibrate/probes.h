// The plans that the program carries: what their kernels are, plans of real jobs have too.
#ifndef WEFT_TOOLS_CALIBRATE_PROBES_H_
#define WEFT_TOOLS_CALIBRATE_PROBES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"

namespace weft::calibrate {

// Those for "cpu" or "cuda" (probes.bzl). The first two are of one rank each, tiny, and differ in their number of
// layers; the third is of one rank, and of some size.
absl::StatusOr<std::vector<plan::Plan>> ProbePlans(const std::string& kind);

}  // namespace weft::calibrate

#endif  // WEFT_TOOLS_CALIBRATE_PROBES_H_
