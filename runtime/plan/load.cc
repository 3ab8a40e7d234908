#include "runtime/plan/load.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace weft::plan {
namespace {

constexpr size_t kHeadBytes = 32;

void PutWord(uint64_t value, char* to) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

uint64_t GetWord(const char* from, size_t bytes = 8) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  return value;
}

std::string Serialise(const Plan& plan) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    plan.SerializeToCodedStream(&coded);
  }
  return bytes;
}

uint64_t HashBytes(const char* bytes, size_t size) {
  uint64_t hash = size;
  for (size_t i = 0; i < size; i += 8) {
    hash = (hash ^ GetWord(bytes + i, std::min<size_t>(8, size - i))) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  }
  return hash;
}

absl::Status Bad(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

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

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path, "cannot be opened", errno);
  std::string bytes;
  struct stat info;
  if (fstat(file, &info) == 0 && info.st_size > 0) bytes.reserve(info.st_size);
  char block[1 << 16];
  ssize_t got = 0;
  while ((got = read(file, block, sizeof block)) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0) bytes.append(block, got);
  }
  const int error = errno;
  close(file);
  if (got < 0) return SystemError(path, "cannot be read", error);
  return bytes;
}

// Magic, version, length and hash.
absl::Status CheckHead(const std::string& path, const std::string& bytes) {
  const size_t magic = std::min<size_t>(8, bytes.size());
  if (bytes.empty() || bytes.compare(0, magic, kPlanMagic, magic) != 0) {
    return Bad(path, "not a plan: expected a file that weft-compile wrote");
  }
  if (bytes.size() < kHeadBytes) {
    return Bad(path, absl::StrCat("truncated: expected at least ", kHeadBytes, " bytes, got ", bytes.size()));
  }
  const uint64_t version = GetWord(bytes.data() + 8);
  if (version != kPlanVersion) {
    return Bad(path, absl::StrCat("plan version: expected ", kPlanVersion, ", got ", version,
                                  version < kPlanVersion
                                      ? "; compile the job again with this version of weft"
                                      : "; a newer weft wrote it: run it with that, or compile the job again"));
  }
  const uint64_t length = GetWord(bytes.data() + 16);
  const uint64_t there = bytes.size() - kHeadBytes;
  if (there != length || length > INT_MAX) {
    return Bad(path, absl::StrCat(there < length ? "truncated" : "damaged", ": expected ", length,
                                  " bytes after the head, got ", there));
  }
  const uint64_t expected = GetWord(bytes.data() + 24);
  const uint64_t got = HashBytes(bytes.data() + kHeadBytes, there);
  if (expected == got) return absl::OkStatus();
  return Bad(path, absl::StrCat("damaged: expected hash ", absl::Hex(expected, absl::kZeroPad16), ", got ",
                                absl::Hex(got, absl::kZeroPad16)));
}

absl::Status WriteAll(int file, const std::string& path, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t put = write(file, data, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return SystemError(path, "cannot be written", errno);
    data += put;
    size -= put;
  }
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, const char* head, const std::string& payload) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return SystemError(path, "cannot be created", errno);
  absl::Status status = WriteAll(file, path, head, kHeadBytes);
  if (status.ok()) status = WriteAll(file, path, payload.data(), payload.size());
  if (status.ok() && fsync(file) != 0) status = SystemError(path, "cannot be written", errno);
  if (close(file) != 0 && status.ok()) status = SystemError(path, "cannot be written", errno);
  return status;
}

}  // namespace

uint64_t HashOf(Plan& plan) {
  const uint64_t kept = plan.header().hash();
  if (kept != 0) plan.mutable_header()->clear_hash();
  const std::string bytes = Serialise(plan);
  const uint64_t hash = HashBytes(bytes.data(), bytes.size());
  if (kept != 0) plan.mutable_header()->set_hash(kept);
  return hash;
}

absl::Status LoadInto(const std::string& path, Plan& plan) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  if (absl::Status status = CheckHead(path, *bytes); !status.ok()) return status;
  if (!plan.ParseFromArray(bytes->data() + kHeadBytes, static_cast<int>(bytes->size() - kHeadBytes))) {
    return Bad(path, "damaged: its contents do not parse");
  }
  if (plan.header().version() != kPlanVersion) {
    return Bad(path, absl::StrCat("plan version: expected ", kPlanVersion, ", got ", plan.header().version()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Plan> Load(const std::string& path) {
  Plan plan;
  if (absl::Status status = LoadInto(path, plan); !status.ok()) return status;
  return plan;
}

absl::Status Save(Plan plan, const std::string& path) {
  plan.mutable_header()->set_version(kPlanVersion);
  plan.mutable_header()->set_hash(HashOf(plan));
  if (plan.ByteSizeLong() > INT_MAX) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": plan size: expected at most ", INT_MAX, " bytes, got ", plan.ByteSizeLong()));
  }
  // A rename onto a folder or a device would fail late, or replace the device.
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Bad(path, "expected the name of a file, got that of something else");
  }
  const std::string payload = Serialise(plan);
  char head[kHeadBytes];
  std::memcpy(head, kPlanMagic, 8);
  PutWord(kPlanVersion, head + 8);
  PutWord(payload.size(), head + 16);
  PutWord(HashBytes(payload.data(), payload.size()), head + 24);
  const std::string aside = absl::StrCat(path, ".partial.", getpid());
  absl::Status status = WriteFile(aside, head, payload);
  if (status.ok() && std::rename(aside.c_str(), path.c_str()) != 0) {
    status = SystemError(path, "cannot be written", errno);
  }
  if (!status.ok()) unlink(aside.c_str());
  return status;
}

}  // namespace weft::plan
