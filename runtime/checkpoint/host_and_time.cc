#include "runtime/checkpoint/host_and_time.h"

#include <unistd.h>

#include <ctime>

namespace weft::checkpoint {

std::string HostName() {
  char name[256] = "";
  const bool known = gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0';
  return known ? name : "unknown";
}

bool IsSameHost(const std::string& a, const std::string& b) {
  const auto is_whole = [](const std::string& name, const std::string& longer) {
    return longer.compare(0, name.size(), name) == 0 && (longer.size() == name.size() || longer[name.size()] == '.');
  };
  return is_whole(a, b) || is_whole(b, a);
}

std::string TimeText() {
  const std::time_t now = std::time(nullptr);
  std::tm utc;
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace weft::checkpoint
