// The form of an update's spec: for the kernels of every device.
#ifndef WEFT_OPS_OPTIMIZER_MATCH_UPDATE_H_
#define WEFT_OPS_OPTIMIZER_MATCH_UPDATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"

namespace weft::optimizer {

// As MatchSpec(): `tensors`, then `lr`, `grad_scale` and, where there is one input more, `step`. Any thread.
absl::StatusOr<Extents> MatchUpdate(const KernelSpec& spec, const std::string& tensors, const char* results);

}  // namespace weft::optimizer

#endif  // WEFT_OPS_OPTIMIZER_MATCH_UPDATE_H_
