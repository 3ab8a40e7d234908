// Evaluates a compiled function inside a test: whole arrays in, whole arrays
// out, all ranks as threads.
#ifndef WEFT_TESTS_SUPPORT_FUNCTION_H_
#define WEFT_TESTS_SUPPORT_FUNCTION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"

namespace weft::tests {

using Arrays = std::map<std::string, std::vector<float>>;

// Compiles the only graph of a model given as text. `overrides` are those of a
// job.
absl::StatusOr<plan::Plan> CompileModel(const std::string& text, const std::vector<std::string>& overrides);

// Runs the function once on float32 inputs by name (row-major, whole).
absl::StatusOr<Arrays> Evaluate(const plan::Plan& plan, const Arrays& inputs);

}  // namespace weft::tests

#endif  // WEFT_TESTS_SUPPORT_FUNCTION_H_
