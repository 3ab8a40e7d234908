#include "runtime/trace/file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace weft::trace {

std::FILE* OpenToWrite(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return nullptr;
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return fdopen(file, "w");
}

std::string WhyNotWritten(int error) {
  return error == ENXIO ? "expected a pipe that somebody reads, found no reader" : std::strerror(error);
}

absl::Status WriteFile(const std::string& path, const std::string& json) {
  // Aside first, but for pipes and the like.
  std::error_code ignored;
  const bool special = std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  const std::string target = special ? path : path + ".partial";
  std::FILE* file = OpenToWrite(target);
  bool written = file != nullptr && std::fwrite(json.data(), 1, json.size(), file) == json.size();
  int error = errno;
  if (file != nullptr && std::fclose(file) != 0) {
    if (written) error = errno;
    written = false;
  }
  if (written && (special || std::rename(target.c_str(), path.c_str()) == 0)) return absl::OkStatus();
  if (written) error = errno;
  if (!special && file != nullptr) std::remove(target.c_str());
  return absl::UnavailableError(absl::StrCat(path, ": the timeline cannot be written: ", WhyNotWritten(error)));
}

absl::Status MergeFiles(const std::vector<std::string>& parts, const std::string& path) {
  // Timeline::ToJson() has a first line, an object a line, and two characters at the end.
  std::string merged;
  for (const std::string& part : parts) {
    std::ifstream file(part, std::ios::binary);
    const std::string json((std::istreambuf_iterator<char>(file)), {});
    const size_t begin = json.find('\n'), end = json.rfind("\n]}");
    if (begin == std::string::npos || end == std::string::npos) {
      return absl::UnavailableError(absl::StrCat(part, ": expected the timeline of a process, found none"));
    }
    if (merged.empty()) {
      merged = json.substr(0, end);
    } else if (end > begin) {
      absl::StrAppend(&merged, ",", json.substr(begin, end - begin));
    }
  }
  if (absl::Status status = WriteFile(path, merged + "\n]}\n"); !status.ok()) return status;
  for (const std::string& part : parts) std::remove(part.c_str());
  return absl::OkStatus();
}

}  // namespace weft::trace
