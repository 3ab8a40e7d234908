#include "runtime/trace/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace weft::trace {

absl::Status WriteFile(const std::string& path, const std::string& json) {
  // Aside first, but for pipes and the like.
  std::error_code ignored;
  const bool special = std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  const std::string target = special ? path : path + ".partial";
  std::FILE* file = std::fopen(target.c_str(), "w");
  bool written = file != nullptr && std::fwrite(json.data(), 1, json.size(), file) == json.size();
  int error = errno;
  if (file != nullptr && std::fclose(file) != 0) {
    if (written) error = errno;
    written = false;
  }
  if (written && (special || std::rename(target.c_str(), path.c_str()) == 0)) return absl::OkStatus();
  if (written) error = errno;
  if (!special && file != nullptr) std::remove(target.c_str());
  return absl::UnavailableError(absl::StrCat(path, ": the timeline cannot be written: ", std::strerror(error)));
}

}  // namespace weft::trace
