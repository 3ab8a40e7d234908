#include "runtime/checkpoint/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::checkpoint {
namespace {

// Linux transfers at most 0x7ffff000 bytes a call, and may stop earlier. Pieces
// of this size cost nothing and take every larger transfer through the loop.
constexpr int64_t kMostBytes = int64_t{1} << 24;

// O_DIRECT wants offsets, sizes and addresses that are multiples of the disk's blocks, 512 or 4096 bytes.
constexpr int64_t kBlock = 4096;
// Bytes that are copied to such an address at once, which stay in a core's cache; less is written through the system's.
constexpr int64_t kPieceBytes = int64_t{1} << 20;

template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

absl::Status SystemError(const std::string& path, const std::string& action, int error) {
  const std::string text = absl::StrCat(path, ": cannot ", action, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::UnavailableError(text);
  }
}

File::File(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      past_cache_(std::exchange(other.past_cache_, -1)) {}

File::~File() {
  if (past_cache_ >= 0) close(past_cache_);
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status File::Error(const char* action) const { return SystemError(path_, action, errno); }

absl::StatusOr<File> File::OpenToRead(const std::string& path) {
  // A pipe is refused, not waited for.
  const int descriptor = Retry([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (descriptor < 0) return SystemError(path, "open", errno);
  File file(path, descriptor);
  struct stat info;
  if (fstat(descriptor, &info) != 0) return file.Error("open");
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": expected a regular file"));
  return file;
}

absl::StatusOr<File> File::Create(const std::string& path) {
  const int descriptor = Retry([&] { return open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); });
  if (descriptor < 0) return SystemError(path, "create", errno);
  return File(path, descriptor);
}

absl::StatusOr<File> File::OpenToWrite(const std::string& path) {
  const int descriptor = Retry([&] { return open(path.c_str(), O_RDWR | O_CLOEXEC); });
  if (descriptor < 0) return SystemError(path, "open", errno);
  return File(path, descriptor);
}

absl::StatusOr<int64_t> File::Size() const {
  struct stat info;
  if (fstat(descriptor_, &info) != 0) return Error("stat");
  return info.st_size;
}

absl::StatusOr<int64_t> File::TakenBytes() const {
  struct stat info;
  if (fstat(descriptor_, &info) != 0) return Error("stat");
  constexpr int64_t kUnit = 512;  // of st_blocks, whatever the file system's
  return info.st_blocks * kUnit;
}

absl::Status File::Allocate(int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  if (Retry([&] { return fallocate(descriptor_, 0, 0, bytes); }) == 0) return absl::OkStatus();
  if (errno != EOPNOTSUPP && errno != ENOSYS) return Error("allocate");
  return Retry([&] { return ftruncate(descriptor_, bytes); }) == 0 ? absl::OkStatus() : Error("allocate");
}

absl::Status File::ReadAt(int64_t offset, void* data, int64_t bytes) const {
  char* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t done = Retry([&] { return pread(descriptor_, to, std::min(bytes, kMostBytes), offset); });
    if (done < 0) return Error("read");
    if (done == 0) {
      return absl::DataLossError(absl::StrCat(path_, ": truncated: expected ", bytes, " more bytes at ", offset));
    }
    to += done;
    offset += done;
    bytes -= done;
  }
  return absl::OkStatus();
}

void File::WritePastCache() {
  past_cache_ = Retry([&] { return open(path_.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC); });
}

// Whole blocks past the cache, the rest through it: no page has both.
absl::Status File::WriteAt(int64_t offset, const void* data, int64_t bytes) const {
  const char* from = static_cast<const char*>(data);
  const auto through = [&](int64_t count) {
    absl::Status status = WriteThroughCache(offset, from, count);
    from += count;
    offset += count;
    bytes -= count;
    return status;
  };
  if (past_cache_ < 0 || bytes < kPieceBytes) return through(bytes);
  if (absl::Status status = through((kBlock - offset % kBlock) % kBlock); !status.ok()) return status;
  const std::unique_ptr<void, decltype(&std::free)> piece(std::aligned_alloc(kBlock, kPieceBytes), &std::free);
  while (piece != nullptr && bytes >= kBlock) {
    const int64_t size = std::min(bytes / kBlock * kBlock, kPieceBytes);
    std::memcpy(piece.get(), from, size);
    const ssize_t done = Retry([&] { return pwrite(past_cache_, piece.get(), size, offset); });
    // Some file systems open such a file and refuse to write it, or stop within a block.
    if (done < 0 && errno != EINVAL) return Error("write");
    if (done <= 0 || done % kBlock != 0) break;
    from += done;
    offset += done;
    bytes -= done;
  }
  return through(bytes);
}

absl::Status File::WriteThroughCache(int64_t offset, const char* from, int64_t bytes) const {
  while (bytes > 0) {
    const ssize_t done = Retry([&] { return pwrite(descriptor_, from, std::min(bytes, kMostBytes), offset); });
    if (done < 0) return Error("write");
    if (done == 0) return SystemError(path_, "write", ENOSPC);
    from += done;
    offset += done;
    bytes -= done;
  }
  return absl::OkStatus();
}

absl::Status File::SyncAndClose() {
  if (past_cache_ >= 0) close(std::exchange(past_cache_, -1));
  if (Retry([&] { return fsync(descriptor_); }) != 0) return Error("sync");
  // close() is not retried: on Linux the descriptor is gone even after EINTR.
  if (close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) return Error("close");
  return absl::OkStatus();
}

absl::Status SyncDirectory(const std::string& path) {
  const int descriptor = Retry([&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) return SystemError(path, "open", errno);
  const int result = Retry([&] { return fsync(descriptor); });
  const int error = errno;
  close(descriptor);
  // Some file systems have nothing to sync for a directory and say so.
  if (result != 0 && error != EINVAL) return SystemError(path, "sync", error);
  return absl::OkStatus();
}

std::string Parent(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

absl::StatusOr<std::string> ReadText(const std::string& path, int64_t limit) {
  absl::StatusOr<File> file = File::OpenToRead(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<int64_t> size = file->Size();
  if (!size.ok()) return size.status();
  if (*size > limit) {
    return absl::DataLossError(absl::StrCat(path, ": expected at most ", limit, " bytes, got ", *size));
  }
  std::string text(*size, '\0');
  if (absl::Status status = file->ReadAt(0, text.data(), *size); !status.ok()) return status;
  return text;
}

absl::Status ReplaceText(const std::string& path, const std::string& text) {
  const std::string partial = path + ".partial";
  absl::Status status;
  {
    absl::StatusOr<File> file = File::Create(partial);
    if (!file.ok()) return file.status();
    status = file->WriteAt(0, text.data(), static_cast<int64_t>(text.size()));
    if (status.ok()) status = file->SyncAndClose();
  }
  if (status.ok() && rename(partial.c_str(), path.c_str()) != 0) status = SystemError(path, "replace", errno);
  if (!status.ok()) {
    unlink(partial.c_str());
    return status;
  }
  return SyncDirectory(Parent(path));
}

}  // namespace weft::checkpoint
