// The kernels that the compiler always generates.
#ifndef WEFT_OPS_ABI_GENERATED_NAMES_H_
#define WEFT_OPS_ABI_GENERATED_NAMES_H_

#include <string_view>

namespace weft {

// Of kernel_names.h those that no registry has: what their families describe (cells.cc) fits all operands that there
// may be. ops/cpu_kernels_test.cc compares with the registries.
inline constexpr std::string_view kGeneratedNames[] = {
    "relu",          "relu_grad",    "silu",       "silu_grad",       "gelu",      "gelu_grad",     "dropout",
    "softmax",       "softmax_grad", "layer_norm", "layer_norm_grad", "rms_norm",  "rms_norm_grad", "greater",
    "greater_equal", "less",         "less_equal", "equal",           "not_equal", "logical_and",   "logical_or",
    "logical_not",   "select",       "sgd",        "sgd_momentum",    "adam",
};

constexpr bool IsGeneratedName(std::string_view name) {
  for (std::string_view known : kGeneratedNames) {
    if (known == name) return true;
  }
  return false;
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_GENERATED_NAMES_H_
