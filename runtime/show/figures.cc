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

namespace {

// "248,905 (62,226 a device)", with a unit behind the first.
std::string TokensText(const Figures& figures, const char* unit) {
  const std::string all = RateText(*figures.tokens_per_s) + unit;
  return figures.devices == 1 ? all : absl::StrCat(all, " (", RateText(*figures.tokens_per_s_device), " a device)");
}

std::string RoomText(const Figures& figures) {
  return absl::StrCat(HeadroomText(*figures.headroom_bytes), " (", ShareText(*figures.headroom_fraction), ")");
}

}  // namespace

std::vector<std::vector<std::string>> FigureRows(const Figures& figures) {
  std::vector<std::vector<std::string>> rows;
  if (figures.tokens_per_s.has_value()) rows.push_back({"tokens/s", TokensText(figures, "")});
  if (figures.mfu.has_value()) rows.push_back({"MFU", ShareText(*figures.mfu)});
  if (figures.headroom_bytes.has_value()) rows.push_back({"headroom", RoomText(figures)});
  return rows;
}

std::string FiguresText(const Figures& figures) {
  std::vector<std::string> parts;
  if (figures.tokens_per_s.has_value()) parts.push_back(TokensText(figures, " tokens/s"));
  if (figures.mfu.has_value()) parts.push_back("MFU " + ShareText(*figures.mfu));
  if (figures.headroom_bytes.has_value()) parts.push_back("headroom " + RoomText(figures));
  return absl::StrJoin(parts, ", ");
}

}  // namespace weft::plan
