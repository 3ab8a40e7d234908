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
#include "runtime/plan/read_file.h"

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

// Magic, version and length: of the payload, in bytes.
absl::StatusOr<int64_t> CheckHead(const std::string& path, const std::string& head) {
  const size_t magic = std::min<size_t>(8, head.size());
  if (head.empty() || head.compare(0, magic, kPlanMagic, magic) != 0) {
    return Bad(path, "not a plan: expected a file that weft-compile wrote");
  }
  if (head.size() < kHeadBytes) {
    return Bad(path, absl::StrCat("truncated: expected at least ", kHeadBytes, " bytes, got ", head.size()));
  }
  const uint64_t version = GetWord(head.data() + 8);
  if (version != kPlanVersion) {
    return Bad(path, absl::StrCat("plan version: expected ", kPlanVersion, ", got ", version,
                                  version < kPlanVersion
                                      ? "; compile the job again with this version of weft"
                                      : "; a newer weft wrote it: run it with that, or compile the job again"));
  }
  const uint64_t length = GetWord(head.data() + 16);
  if (length > INT_MAX) {
    return Bad(path, absl::StrCat("damaged: expected a length of at most ", INT_MAX, " bytes, got ", length));
  }
  return static_cast<int64_t>(length);
}

// What follows the head, whole and undamaged. Not more is read than the head says.
absl::StatusOr<std::string> ReadPayload(const std::string& path) {
  absl::StatusOr<FileReader> reader = FileReader::Open(path);
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<std::string> head = reader->Next(kHeadBytes);
  if (!head.ok()) return head.status();
  const absl::StatusOr<int64_t> length = CheckHead(path, *head);
  if (!length.ok()) return length.status();
  absl::StatusOr<std::string> payload = reader->Next(*length + 1);
  if (!payload.ok()) return payload.status();
  const auto there = static_cast<int64_t>(payload->size());
  if (there != *length) {
    return Bad(path, absl::StrCat(there < *length ? "truncated" : "damaged", ": expected ", *length,
                                  " bytes after the head, got ", there > *length ? "more" : absl::StrCat(there)));
  }
  const uint64_t expected = GetWord(head->data() + 24), got = HashBytes(payload->data(), payload->size());
  if (expected == got) return payload;
  return Bad(path, absl::StrCat("damaged: expected hash ", absl::Hex(expected, absl::kZeroPad16), ", got ",
                                absl::Hex(got, absl::kZeroPad16)));
}

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return SystemError(path, "cannot be created", errno);
  bool written = true;
  while (written && !bytes.empty()) {
    const ssize_t put = write(file, bytes.data(), bytes.size());
    written = put >= 0 || errno == EINTR;
    bytes.remove_prefix(put > 0 ? put : 0);
  }
  written = written && fsync(file) == 0;
  const int error = errno;
  if (close(file) == 0 && written) return absl::OkStatus();
  return SystemError(path, "cannot be written", written ? errno : error);
}

// The name of a file beside `path` with these bytes.
absl::StatusOr<std::string> WrittenAside(const std::string& path, absl::string_view bytes) {
  // A rename onto a folder or a device would fail late, or replace the device.
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Bad(path, "expected the name of a file, got that of something else");
  }
  std::string aside = absl::StrCat(path, ".partial.", getpid());
  absl::Status status = WriteFile(aside, bytes);
  if (status.ok()) return aside;
  unlink(aside.c_str());
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
  const absl::StatusOr<std::string> payload = ReadPayload(path);
  if (!payload.ok()) return payload.status();
  if (!plan.ParseFromArray(payload->data(), static_cast<int>(payload->size()))) {
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

absl::StatusOr<Plan> ParseFirst(absl::string_view* bytes) {
  const std::string where = "plan";
  const absl::StatusOr<int64_t> length = CheckHead(where, std::string(bytes->substr(0, kHeadBytes)));
  if (!length.ok()) return length.status();
  const absl::string_view payload = bytes->substr(kHeadBytes, *length);
  if (payload.size() != static_cast<size_t>(*length) ||
      GetWord(bytes->data() + 24) != HashBytes(payload.data(), payload.size())) {
    return Bad(where, "truncated or damaged");
  }
  Plan plan;
  if (!plan.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return Bad(where, "damaged: its contents do not parse");
  }
  bytes->remove_prefix(kHeadBytes + payload.size());
  return plan;
}

absl::Status Save(Plan plan, const std::string& path) {
  plan.mutable_header()->set_version(kPlanVersion);
  plan.mutable_header()->set_hash(HashOf(plan));
  if (plan.ByteSizeLong() > INT_MAX) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": plan size: expected at most ", INT_MAX, " bytes, got ", plan.ByteSizeLong()));
  }
  const std::string payload = Serialise(plan);
  std::string bytes(kHeadBytes, '\0');
  std::memcpy(bytes.data(), kPlanMagic, 8);
  PutWord(kPlanVersion, bytes.data() + 8);
  PutWord(payload.size(), bytes.data() + 16);
  PutWord(HashBytes(payload.data(), payload.size()), bytes.data() + 24);
  return ReplaceFile(path, bytes + payload);
}

absl::Status ReplaceFile(const std::string& path, absl::string_view bytes) {
  absl::StatusOr<std::string> aside = WrittenAside(path, bytes);
  if (!aside.ok()) return aside.status();
  if (std::rename(aside->c_str(), path.c_str()) == 0) return absl::OkStatus();
  const absl::Status status = SystemError(path, "cannot be written", errno);
  unlink(aside->c_str());
  return status;
}

absl::Status CanReplaceFile(const std::string& path) {
  const absl::StatusOr<std::string> aside = WrittenAside(path, "");
  if (aside.ok()) unlink(aside->c_str());
  return aside.status();
}

}  // namespace weft::plan
