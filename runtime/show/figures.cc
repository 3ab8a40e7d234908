#include "runtime/show/figures.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/names.h"

namespace weft::plan {

std::string ShareText(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

std::string RateText(double per_second) {
  return per_second < 99.95 ? absl::StrFormat("%.3g", per_second) : CountText(std::llround(per_second));
}

std::string HeadroomText(int64_t bytes) { return bytes < 0 ? "-" + BytesText(-bytes) : BytesText(bytes); }

std::vector<std::vector<std::string>> FigureRows(const Figures& figures) {
  std::vector<std::vector<std::string>> rows;
  if (figures.tokens_per_s.has_value()) {
    rows.push_back({"tokens/s", absl::StrCat(RateText(*figures.tokens_per_s), " (",
                                             RateText(*figures.tokens_per_s_device), " a device)")});
  }
  if (figures.mfu.has_value()) rows.push_back({"MFU", ShareText(*figures.mfu)});
  if (figures.headroom_bytes.has_value()) {
    rows.push_back({"headroom", absl::StrCat(HeadroomText(*figures.headroom_bytes), " (",
                                             ShareText(*figures.headroom_fraction), ")")});
  }
  return rows;
}

std::string FiguresText(const Figures& figures) {
  std::vector<std::string> parts;
  for (const std::vector<std::string>& row : FigureRows(figures)) {
    if (row[0] != "tokens/s") {
      parts.push_back(absl::StrCat(row[0], " ", row[1]));
      continue;
    }
    parts.push_back(absl::StrCat(RateText(*figures.tokens_per_s), " tokens/s (", RateText(*figures.tokens_per_s_device),
                                 " a device)"));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace weft::plan
