// Which kernels are timed.
#ifndef WEFT_TOOLS_CALIBRATE_CASES_H_
#define WEFT_TOOLS_CALIBRATE_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/plan.pb.h"
#include "tools/calibrate/bench.h"

namespace weft::calibrate {

// The kernels of compute streams, each once, by the bytes that they move: those of the first rank of each stage. Not
// those that exchange data with the host. Errors: of generated kernels that this machine cannot run.
absl::StatusOr<std::vector<Case>> KernelCases(const std::vector<plan::Plan>& plans);

// Products of [m, k] by [k, n] for all m, n and k of `sizes`: once with both operands row-major, once with the second
// and once with the first transposed, as the products of a linear layer and of its two gradients. `type`: that of the
// operands, as in plan::Product.
std::vector<Case> ProductCases(const std::vector<int64_t>& sizes, const std::string& type);

// The element type of operands that a plan::Product calls so.
DType TypeOfOperands(const std::string& type);

// Attention and its gradient, causal and not, for sequences of these lengths and heads of several sizes, of so many
// `tokens` together.
std::vector<Case> AttentionCases(const std::vector<int64_t>& lengths, const std::string& type, int64_t tokens);

// Of all kernels of a plan's first rank in a step, ports included.
std::vector<plan::KernelWork> WorksOfStep(const plan::Plan& plan);

}  // namespace weft::calibrate

#endif  // WEFT_TOOLS_CALIBRATE_CASES_H_
