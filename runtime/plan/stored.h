// What checkpoint files have of a parameter or of optimizer state.
#ifndef WEFT_RUNTIME_PLAN_STORED_H_
#define WEFT_RUNTIME_PLAN_STORED_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// One tensor of a file.
struct StoredTensor {
  std::string name;
  std::vector<int64_t> shape;
};

// What stands in the name of a buffer for the index of its first dim: `experts.*.w1.weight` of [8, 48, 32] is in files
// `experts.0.w1.weight` to `experts.7.w1.weight`, of [48, 32].
inline constexpr char kStackedIndex = '*';

// Whether files have a tensor for each index of the buffer's first dim.
bool IsStacked(const Buffer& buffer);

// The tensors of a buffer, in the order of that index; one, of its name, unless it is stacked.
std::vector<StoredTensor> StoredTensorsOf(const Buffer& buffer);

// The shapes of the tensors of all parameters of a plan, by name.
std::map<std::string, std::vector<int64_t>> StoredParametersOf(const Plan& plan);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_STORED_H_
