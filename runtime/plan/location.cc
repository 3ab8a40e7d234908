#include "runtime/plan/location.h"

#include "absl/strings/match.h"

namespace weft::plan {

LocationParts PartsOf(absl::string_view location) {
  constexpr absl::string_view kIn = "in ";
  if (absl::StartsWith(location, kIn)) return {"", std::string(location.substr(kIn.size()))};
  const size_t in = location.rfind(" in ");
  if (in == location.npos) return {std::string(location), ""};
  return {std::string(location.substr(0, in)), std::string(location.substr(in + 1 + kIn.size()))};
}

}  // namespace weft::plan
