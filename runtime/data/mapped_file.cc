#include "runtime/data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "runtime/plan/read_file.h"

namespace weft::data {

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path, const std::string& holds) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is refused, not waited for
  if (fd < 0) return plan::SystemError(path, "cannot open", errno);
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected a regular file of ", holds));
  }
  if (info.st_size == 0) {
    close(fd);
    return absl::DataLossError(absl::StrCat(path, ": expected ", holds, ", got an empty file"));
  }
  void* map = mmap(nullptr, info.st_size, PROT_READ, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);
  if (map == MAP_FAILED) return plan::SystemError(path, "cannot map", error);
  return std::shared_ptr<const MappedFile>(new MappedFile(path, map, info.st_size));
}

MappedFile::~MappedFile() { munmap(const_cast<uint8_t*>(data_), bytes_); }

}  // namespace weft::data
