#include "runtime/checkpoint/snapshot_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/file.h"

namespace weft::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMagic = 0x31706e5374666577;  // "weftSnp1"
// What a head may grow by: its step, and what the record says of evaluations.
constexpr int64_t kHeadMayGrow = 1 << 16;
constexpr int64_t kAlignment = 64;

struct SealBytes {
  uint64_t magic = kMagic;
  uint64_t tiles = 0, head = 0;  // bytes
  uint64_t tiles_checksum = 0, head_checksum = 0;
  uint64_t checksum = 0;  // of those before
};

int64_t AlignedUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

uint64_t ChecksumOf(const SealBytes& seal) {
  return Checksum(sizeof(uint64_t), 0, &seal, sizeof(SealBytes) / sizeof(uint64_t) - 1);
}

// In words as far as they go.
uint64_t ChecksumOf(const char* bytes, int64_t size) {
  const int64_t words = size / 8;
  return Checksum(8, 0, bytes, words) + Checksum(1, words * 8, bytes + words * 8, size - words * 8);
}

std::string TextOf(const SnapshotHead& head) {
  const Json json = {{"run", head.run},   {"plan", head.plan},     {"rank", head.rank},   {"step", head.step},
                     {"seed", head.seed}, {"record", head.record}, {"hosts", head.hosts}, {"tiles", head.tiles}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Maps `size` bytes, and closes the descriptor.
absl::StatusOr<char*> Map(const std::string& path, int descriptor, int64_t size, int protection) {
  void* const base = mmap(nullptr, size, protection, MAP_SHARED, descriptor, 0);
  const int error = errno;
  close(descriptor);
  if (base == MAP_FAILED) return SystemError(path, "map", error);
  return static_cast<char*>(base);
}

absl::Status Damaged(const std::string& path, const char* what) {
  return absl::DataLossError(absl::StrCat(path, ": expected a snapshot as it was written, got another ", what));
}

}  // namespace

int64_t SnapshotFile::BytesFor(int64_t tiles, const SnapshotHead& head) {
  const auto text = static_cast<int64_t>(TextOf(head).size());
  return AlignedUp(tiles) + AlignedUp(text + kHeadMayGrow) + static_cast<int64_t>(sizeof(SealBytes));
}

absl::StatusOr<std::unique_ptr<SnapshotFile>> SnapshotFile::Create(const std::string& path, int64_t bytes) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return SystemError(path, "create", errno);
  if (const int error = posix_fallocate(descriptor, 0, bytes); error != 0) {
    close(descriptor);
    unlink(path.c_str());
    return SystemError(path, absl::StrCat("take ", bytes, " bytes"), error);
  }
  absl::StatusOr<char*> base = Map(path, descriptor, bytes, PROT_READ | PROT_WRITE);
  if (!base.ok()) return base.status();
  return std::unique_ptr<SnapshotFile>(new SnapshotFile(path, *base, bytes));
}

absl::StatusOr<std::unique_ptr<SnapshotFile>> SnapshotFile::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return SystemError(path, "open", errno);
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < static_cast<off_t>(sizeof(SealBytes))) {
    close(descriptor);
    return Damaged(path, "size");
  }
  absl::StatusOr<char*> base = Map(path, descriptor, info.st_size, PROT_READ);
  if (!base.ok()) return base.status();
  std::unique_ptr<SnapshotFile> file(new SnapshotFile(path, *base, info.st_size));
  if (absl::Status status = file->ReadSeal(); !status.ok()) return status;
  return file;
}

SnapshotFile::~SnapshotFile() { munmap(base_, size_); }

absl::Status SnapshotFile::ReadSeal() {
  SealBytes seal;
  std::memcpy(&seal, base_ + size_ - sizeof(seal), sizeof(seal));
  const uint64_t inside = size_ - sizeof(seal);
  if (!IsSealed() || seal.tiles > inside || seal.head > inside - seal.tiles) return Damaged(path_, "seal");
  const char* const text = base_ + seal.tiles;
  if (ChecksumOf(text, static_cast<int64_t>(seal.head)) != seal.head_checksum) return Damaged(path_, "head");
  const Json json = Json::parse(text, text + seal.head, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Damaged(path_, "head");
  tiles_ = static_cast<int64_t>(seal.tiles);
  checksum_ = seal.tiles_checksum;
  head_ = {.run = json.at("run"),
           .plan = json.at("plan"),
           .rank = json.at("rank"),
           .step = json.at("step"),
           .seed = json.at("seed"),
           .record = json.at("record"),
           .hosts = json.at("hosts"),
           .tiles = json.at("tiles")};
  return absl::OkStatus();
}

absl::Status SnapshotFile::Seal(const SnapshotHead& head, int64_t tiles) {
  const std::string text = TextOf(head);
  SealBytes seal{.tiles = static_cast<uint64_t>(AlignedUp(tiles)), .head = text.size()};
  if (seal.tiles + seal.head + sizeof(seal) > static_cast<uint64_t>(size_)) {
    return absl::InternalError(absl::StrCat(path_, ": expected a head of at most ",
                                            size_ - static_cast<int64_t>(seal.tiles + sizeof(seal)), " bytes, got ",
                                            text.size()));
  }
  std::memcpy(base_ + seal.tiles, text.data(), text.size());
  seal.tiles_checksum = ChecksumOf(base_, static_cast<int64_t>(seal.tiles));
  seal.head_checksum = ChecksumOf(text.data(), static_cast<int64_t>(text.size()));
  seal.checksum = ChecksumOf(seal);
  std::memcpy(base_ + size_ - sizeof(seal), &seal, sizeof(seal));
  return absl::OkStatus();
}

bool SnapshotFile::IsSealed() const {
  SealBytes seal;
  std::memcpy(&seal, base_ + size_ - sizeof(seal), sizeof(seal));
  return seal.magic == kMagic && seal.checksum == ChecksumOf(seal);
}

absl::Status SnapshotFile::Unseal(const std::string& partial) {
  if (absl::Status status = Rename(partial); !status.ok()) return status;
  std::memset(base_ + size_ - sizeof(SealBytes), 0, sizeof(SealBytes));
  return absl::OkStatus();
}

absl::Status SnapshotFile::Verify() const {
  return ChecksumOf(base_, tiles_) == checksum_ ? absl::OkStatus() : Damaged(path_, "byte in its tiles");
}

absl::Status SnapshotFile::Rename(const std::string& path) {
  if (rename(path_.c_str(), path.c_str()) != 0) return SystemError(path_, absl::StrCat("rename to ", path), errno);
  path_ = path;
  return absl::OkStatus();
}

}  // namespace weft::checkpoint
