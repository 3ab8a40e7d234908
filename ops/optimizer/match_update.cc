#include "ops/optimizer/match_update.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::optimizer {

absl::StatusOr<Extents> MatchUpdate(const KernelSpec& spec, const std::string& tensors, const char* results) {
  const auto plain = static_cast<size_t>(std::count(tensors.begin(), tensors.end(), ',')) + 3;
  return MatchSpec(spec, absl::StrCat(tensors, ",,", spec.inputs.size() > plain ? "," : "", "->", results).c_str());
}

}  // namespace weft::optimizer
