#include "ops/optimizer/match_update.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"

namespace weft::optimizer {

absl::Status CheckGradient(const TensorSpec& gradient) {
  if (WidensToFloat(gradient.dtype)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("gradient: expected f32, bf16 or f16, got ", gradient.ToString()));
}

absl::Status CheckSquares(const KernelSpec& spec) {
  if (spec.inputs.empty()) return absl::InvalidArgumentError("expected 1 or more inputs, got 0");
  std::string text = "any:*";
  for (size_t i = 1; i < spec.inputs.size(); ++i) text += ",any:*";
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, (text + "->").c_str()).status());
  for (const TensorSpec& input : spec.inputs) WEFT_RETURN_IF_ERROR(CheckGradient(input));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MatchUpdate(const KernelSpec& spec, int state) {
  std::string kept;
  for (int k = 0; k < state; ++k) kept += ",.";
  const bool step = spec.inputs.size() > static_cast<size_t>(state) + 4;
  WEFT_ASSIGN_OR_RETURN(Extents extents,
                        MatchSpec(spec, absl::StrCat(".,any:.", kept, ",,", step ? "," : "", "->.", kept).c_str()));
  WEFT_RETURN_IF_ERROR(CheckGradient(spec.inputs[1]));
  return extents.rows();
}

absl::Status ReadNumbers(const KernelSpec& spec, std::initializer_list<std::pair<const char*, double*>> numbers) {
  for (const auto& [name, number] : numbers) {
    const bool optional = name == std::string_view("weight_decay") || name == std::string_view("decoupled");
    WEFT_ASSIGN_OR_RETURN(const double value, optional ? FloatAttribute(spec, name, 0) : spec.attributes.Float(name));
    if (absl::StartsWith(name, "beta") && !(value >= 0 && value < 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute `", name, "`: expected 0 or more and less than 1, got ", value));
    }
    *number = value;
  }
  return absl::OkStatus();
}

absl::StatusOr<AdamNumbers> AdamNumbers::Read(const KernelSpec& spec) {
  AdamNumbers it;
  WEFT_RETURN_IF_ERROR(ReadNumbers(spec, {{"beta1", &it.beta1},
                                          {"beta2", &it.beta2},
                                          {"eps", &it.eps},
                                          {"weight_decay", &it.weight_decay},
                                          {"decoupled", &it.decoupled}}));
  return it;
}

}  // namespace weft::optimizer
