#include "runtime/plan/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace weft::plan {

absl::Status SystemError(const std::string& path, const char* what, int error) {
  const std::string text = absl::StrCat(path, ": ", what, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(text);
    case EACCES:  // what a path leads to is part of the request
    case EISDIR:
    case ENOTDIR:
    case EPERM:
    case EROFS:
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(text);
    default:
      return absl::UnavailableError(text);
  }
}

absl::StatusOr<FileReader> FileReader::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path, "cannot be opened", errno);
  return FileReader(path, file);
}

FileReader::FileReader(FileReader&& from) noexcept : path_(from.path_), file_(from.file_) { from.file_ = -1; }

FileReader::~FileReader() {
  if (file_ >= 0) close(file_);
}

absl::StatusOr<std::string> FileReader::Next(int64_t most) {
  std::string bytes;
  char block[1 << 16];
  while (static_cast<int64_t>(bytes.size()) < most) {
    const auto wanted = static_cast<size_t>(std::min<int64_t>(sizeof block, most - static_cast<int64_t>(bytes.size())));
    const ssize_t got = read(file_, block, wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(path_, "cannot be read", errno);
    if (got == 0) break;
    bytes.append(block, got);
  }
  return bytes;
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  absl::StatusOr<FileReader> reader = FileReader::Open(path);
  if (!reader.ok()) return reader.status();
  absl::StatusOr<std::string> text = reader->Next(kMostTextBytes + 1);
  if (text.ok() && static_cast<int64_t>(text->size()) > kMostTextBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected at most ", kMostTextBytes, " bytes, got more"));
  }
  return text;
}

}  // namespace weft::plan
