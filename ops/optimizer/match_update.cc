#include "ops/optimizer/match_update.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"

namespace weft::optimizer {

absl::StatusOr<int64_t> MatchUpdate(const KernelSpec& spec, int state) {
  std::string kept;
  for (int k = 0; k < state; ++k) kept += ",.";
  const bool step = spec.inputs.size() > static_cast<size_t>(state) + 4;
  absl::StatusOr<Extents> extents =
      MatchSpec(spec, absl::StrCat(".,any:.", kept, ",,", step ? "," : "", "->.", kept).c_str());
  if (!extents.ok()) return extents.status();
  if (!WidensToFloat(spec.inputs[1].dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradient: expected f32, bf16 or f16, got ", spec.inputs[1].ToString()));
  }
  return extents->rows();
}

absl::Status ReadNumbers(const KernelSpec& spec, std::initializer_list<std::pair<const char*, double*>> numbers) {
  for (const auto& [name, number] : numbers) {
    const bool optional = name == std::string_view("weight_decay") || name == std::string_view("decoupled");
    const absl::StatusOr<double> value = optional ? FloatAttribute(spec, name, 0) : spec.attributes.Float(name);
    if (!value.ok()) return value.status();
    if (absl::StartsWith(name, "beta") && !(*value >= 0 && *value < 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute `", name, "`: expected 0 or more and less than 1, got ", *value));
    }
    *number = *value;
  }
  return absl::OkStatus();
}

absl::StatusOr<AdamNumbers> AdamNumbers::Read(const KernelSpec& spec) {
  AdamNumbers it;
  const absl::Status status = ReadNumbers(spec, {{"beta1", &it.beta1},
                                                 {"beta2", &it.beta2},
                                                 {"eps", &it.eps},
                                                 {"weight_decay", &it.weight_decay},
                                                 {"decoupled", &it.decoupled}});
  if (!status.ok()) return status;
  return it;
}

}  // namespace weft::optimizer
