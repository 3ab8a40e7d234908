// A plan as text for people and as JSON for scripts. Deterministic: the same
// plan gives the same bytes. The plan must be valid (validate.h); a blocked one
// is shown without its lower bounds of memory. Any thread.
#ifndef WEFT_RUNTIME_SHOW_PRINT_H_
#define WEFT_RUNTIME_SHOW_PRINT_H_

#include <string>

#include "runtime/plan/plan.pb.h"

namespace weft::plan {

struct PrintOptions {
  // List every kernel with its operands.
  bool kernels = false;
};

// Header, then for each stage: streams with their actors and order, collectives,
// memory, parameters; transfers and metrics.
std::string SummaryText(const Plan& plan, const PrintOptions& options = {});

// Memory of each stage by category, with its lower bound, where the peak is and
// the largest buffers.
std::string MemoryText(const Plan& plan);

// The same as JSON objects, two spaces deep.
std::string SummaryJson(const Plan& plan, const PrintOptions& options = {});
std::string MemoryJson(const Plan& plan);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SHOW_PRINT_H_
