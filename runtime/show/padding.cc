#include "runtime/show/padding.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"

namespace weft::plan {

Padding PaddingOf(const Plan& plan) {
  Padding padding;
  double all = 0, inside = 0;
  for (const Stage& stage : plan.stages()) {
    for (const Buffer& buffer : stage.buffers()) {
      if (buffer.alias_of() != 0) continue;
      double bytes = static_cast<double>(LocalBytes(plan.placements(stage.placement()), buffer));
      all += bytes;
      for (int d = 0; d < buffer.unpadded_shape_size(); ++d) {
        if (buffer.unpadded_shape(d) == buffer.shape(d)) continue;
        padding.dims.emplace(buffer.unpadded_shape(d), buffer.shape(d));
        bytes *= static_cast<double>(buffer.unpadded_shape(d)) / static_cast<double>(buffer.shape(d));
      }
      inside += bytes;
    }
  }
  padding.share = padding.dims.empty() ? 0 : 1 - inside / all;
  return padding;
}

std::string TextOf(const Padding& padding) {
  if (padding.dims.empty()) return "";
  std::vector<std::string> dims;
  for (const auto& [from, to] : padding.dims) dims.push_back(absl::StrCat(CountText(from), " to ", CountText(to)));
  return absl::StrCat(absl::StrJoin(dims, ", "),
                      absl::StrFormat(": %.2g %% of the bytes of all buffers", 100 * padding.share));
}

}  // namespace weft::plan
