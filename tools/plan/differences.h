// What differs between two plans, the most telling first.
#ifndef WEFT_TOOLS_PLAN_DIFFERENCES_H_
#define WEFT_TOOLS_PLAN_DIFFERENCES_H_

#include <string>

#include "runtime/plan/plan.pb.h"

namespace weft::tools {

// Empty for plans that are the same but for their hash. Otherwise a summary (step, memory, messages, collectives), then
// what differs in the jobs, in the clusters and in parameters of kernels that stand at the same place, then at most
// `lines` lines of what differs in the listings (0: all). Both plans must be valid.
std::string DifferencesText(const plan::Plan& before, const plan::Plan& after, int lines);

// The same as a JSON object, also for plans that are the same: docs/howto/compare_layouts.md lists the keys.
std::string DifferencesJson(const plan::Plan& before, const plan::Plan& after, int lines);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_DIFFERENCES_H_
