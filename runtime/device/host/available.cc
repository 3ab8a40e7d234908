#include "runtime/device/host/available.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace weft::device {
namespace {

// What the files of a control group are called.
struct Names {
  const char* folder;  // of all groups
  const char* limit;
  const char* used;
  const char* inactive;  // in memory.stat: pages of files, with those of groups below
  const char* active;
};
constexpr Names kSecond = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file", "active_file"};
constexpr Names kFirst = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                          "total_inactive_file", "total_active_file"};

// The number behind `word` in a file, or its first one if `word` is empty; -1 if there is none: "max" is no limit.
int64_t NumberIn(const std::string& path, const std::string& word) {
  std::ifstream file(path);
  std::string said, value;
  if (word.empty()) file >> value;
  while (!word.empty() && file >> said) {
    if (said == word && file >> value) break;
  }
  int64_t number = -1;
  return absl::SimpleAtoi(value, &number) ? number : -1;
}

// What a group can still take; -1: it has no limit.
int64_t LeftOf(const std::string& folder, const Names& names) {
  const int64_t limit = NumberIn(folder + "/" + names.limit, ""), used = NumberIn(folder + "/" + names.used, "");
  if (limit < 0 || used < 0) return -1;
  const std::string stat = folder + "/memory.stat";
  const int64_t files =
      std::max<int64_t>(0, NumberIn(stat, names.inactive)) + std::max<int64_t>(0, NumberIn(stat, names.active));
  return std::max<int64_t>(0, limit - std::max<int64_t>(0, used - files));
}

// The smaller of two numbers of which -1 is none.
int64_t Less(int64_t a, int64_t b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); }

// Of a group and those that it lies in. In a container the group's own folder may be all that is seen, as the root.
int64_t LeftOfAll(const std::string& root, std::string group, const Names& names) {
  int64_t left = LeftOf(root + names.folder, names);
  for (; group.size() > 1; group.resize(group.rfind('/'))) {
    left = Less(left, LeftOf(absl::StrCat(root, names.folder, group), names));
  }
  return left;
}

}  // namespace

int64_t AvailableBytes(const std::string& root) {
  const int64_t kib = NumberIn(root + "/proc/meminfo", "MemAvailable:");
  int64_t available = kib < 0 ? -1 : kib * 1024;
  // "4:memory:/group" of version 1, "0::/group" of version 2.
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() < 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    const bool first = std::find(controllers.begin(), controllers.end(), "memory") != controllers.end();
    if (first || parts[0] == "0") available = Less(available, LeftOfAll(root, parts[2], first ? kFirst : kSecond));
  }
  return available;
}

int64_t AvailableBytes() { return AvailableBytes(""); }

}  // namespace weft::device
