#include "ops/optimizer/check_spec.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"

namespace weft::optimizer {

absl::Status CheckSquares(const KernelSpec& spec) {
  if (spec.inputs.empty()) return absl::InvalidArgumentError("expected 1 or more inputs, got 0");
  std::string text = "any:*";
  for (size_t i = 1; i < spec.inputs.size(); ++i) text += ",any:*";
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, (text + "->").c_str()).status());
  for (const TensorSpec& input : spec.inputs) {
    if (WidensToFloat(input.dtype)) continue;
    return absl::InvalidArgumentError(absl::StrCat("gradient: expected f32, bf16 or f16, got ", input.ToString()));
  }
  return absl::OkStatus();
}

absl::Status ReadNumbers(const KernelSpec& spec, std::initializer_list<std::pair<const char*, double*>> numbers) {
  for (const auto& [name, number] : numbers) {
    WEFT_ASSIGN_OR_RETURN(*number, spec.attributes.Float(name));
  }
  return absl::OkStatus();
}

}  // namespace weft::optimizer
