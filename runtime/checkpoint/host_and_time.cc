#include "runtime/checkpoint/host_and_time.h"

#include <unistd.h>

#include <ctime>

namespace weft::checkpoint {

std::string HostName() {
  char name[256] = "";
  const bool known = gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0';
  return known ? name : "unknown";
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
