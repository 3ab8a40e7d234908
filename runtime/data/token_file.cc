#include "runtime/data/token_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"
#include "runtime/data/file_kind.h"
#include "runtime/data/npy_header.h"
#include "runtime/plan/read_file.h"

namespace weft::data {
namespace {

constexpr int64_t kHeaderBytes = 1024;
constexpr int32_t kMagics[] = {20240520, 20240801};
constexpr int32_t kVersionU16 = 1;
constexpr int32_t kVersionU32 = 7;

int64_t Width(Format format) { return format == U32 ? 4 : format == U16 ? 2 : 1; }

int32_t HeaderField(const uint8_t* map, int index) {
  int32_t value;
  std::memcpy(&value, map + 4 * index, 4);
  return value;
}

template <typename Token>
Token TokenAt(const uint8_t* from, int64_t i) {
  Token token;
  std::memcpy(&token, from + i * sizeof(Token), sizeof(Token));
  return token;
}

template <typename Token>
void CopyTokens(const uint8_t* from, int64_t count, int32_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int32_t>(TokenAt<Token>(from, i));
}

// Of so many bytes of text none may be 0.
constexpr int64_t kTextLookedAt = int64_t{1} << 20;

// A look at parts of a file is one at blocks of this size.
constexpr int64_t kBlock = int64_t{1} << 20;
constexpr int64_t kWord = 8;

// The parts [begin, end) of `bytes` that a look takes, ascending; each begins at a whole word.
std::vector<std::pair<int64_t, int64_t>> Parts(int64_t bytes, int64_t limit) {
  if (bytes <= std::max(limit, 2 * kBlock)) return {{0, bytes}};
  const int64_t count = std::max<int64_t>(limit / kBlock, 2), last = bytes - kBlock;
  std::vector<std::pair<int64_t, int64_t>> parts;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = last / (count - 1) * i / kWord * kWord;
    parts.emplace_back(begin, i + 1 < count ? begin + kBlock : bytes);
  }
  return parts;
}

// The part's share of the file's hash: a sum over its words, each mixed with its place.
uint64_t HashOf(const uint8_t* map, int64_t begin, int64_t end) {
  uint64_t hash = 0;
  for (int64_t at = begin; at < end; at += kWord) {
    uint64_t word = 0;
    std::memcpy(&word, map + at, std::min(kWord, end - at));
    hash += MixSeed(word, static_cast<uint64_t>(at));
  }
  return hash;
}

template <typename Token>
uint32_t LargestOf(const uint8_t* from, int64_t count) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, uint32_t{TokenAt<Token>(from, i)});
  return largest;
}

uint32_t LargestOf(Format format, const uint8_t* from, int64_t count) {
  return format == U32   ? LargestOf<uint32_t>(from, count)
         : format == U16 ? LargestOf<uint16_t>(from, count)
                         : LargestOf<uint8_t>(from, count);
}

}  // namespace

absl::StatusOr<std::unique_ptr<const TokenFile>> TokenFile::Open(const std::string& path, Format format) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is refused, not waited for
  if (fd < 0) return plan::SystemError(path, "cannot open", errno);
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected a regular file of tokens"));
  }
  if (info.st_size == 0) {
    close(fd);
    return absl::DataLossError(absl::StrCat(path, ": expected tokens, got an empty file"));
  }
  void* map = mmap(nullptr, info.st_size, PROT_READ, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);
  if (map == MAP_FAILED) return plan::SystemError(path, "cannot map", error);
  std::unique_ptr<TokenFile> file(new TokenFile(path, map, info.st_size));
  if (absl::Status status = file->Interpret(format); !status.ok()) return status;
  return std::unique_ptr<const TokenFile>(std::move(file));
}

TokenFile::~TokenFile() { munmap(const_cast<uint8_t*>(map_), map_bytes_); }

absl::Status TokenFile::Interpret(Format format) {
  const bool has_header =
      map_bytes_ >= 4 && std::find(std::begin(kMagics), std::end(kMagics), HeaderField(map_, 0)) != std::end(kMagics);
  if (format != TEXT && has_header) return InterpretHeader(format);
  if (format != TEXT && IsNpy(map_, map_bytes_)) return InterpretNpy(format);
  format_ = format != AUTO ? format : absl::EndsWith(path_, ".bin") ? U16 : TEXT;
  if (absl::Status status = CheckKind(has_header); !status.ok()) return status;
  return InterpretRaw();
}

absl::Status TokenFile::CheckKind(bool has_header) const {
  std::string found = has_header ? "llm.c's token file" : KindOf(map_, map_bytes_);
  if (found.empty() && format_ == TEXT) {
    const void* zero = std::memchr(map_, 0, std::min(map_bytes_, kTextLookedAt));
    if (zero == nullptr) return absl::OkStatus();
    found = absl::StrCat("a byte 0 at ", static_cast<const uint8_t*>(zero) - map_);
  }
  if (found.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path_, ": expected ",
      format_ == TEXT ? "text, or tokens as raw uint16 (data.format=U16, or a name that ends with .bin) or uint32 (U32)"
                      : absl::StrCat("tokens as raw ", Format_Name(format_)),
      ", got ", found));
}

absl::Status TokenFile::CheckAsked(Format format) const {
  if (format == AUTO || format == format_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path_, ": tokens: expected ", Format_Name(format), ", got ",
                                                 Format_Name(format_), " by the file's header"));
}

absl::Status TokenFile::InterpretNpy(Format format) {
  const absl::StatusOr<NpyHeader> header = ReadNpyHeader(path_, map_, map_bytes_);
  if (!header.ok()) return header.status();
  if (header->type != "<u2" && header->type != "<u4") {
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ": tokens: expected a NumPy array of '<u2' (uint16) or '<u4' (uint32), got '", header->type, "'"));
  }
  format_ = header->type == "<u2" ? U16 : U32;
  if (absl::Status status = CheckAsked(format); !status.ok()) return status;
  if (header->shape.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": tokens: expected a NumPy array of one dimension, got ", header->shape.size()));
  }
  const int64_t count = header->shape[0], array = map_bytes_ - header->bytes, width = Width(format_);
  if (count == 0) return absl::DataLossError(absl::StrCat(path_, ": expected tokens, got an empty NumPy array"));
  if (array % width != 0 || array / width != count) {
    return absl::DataLossError(absl::StrCat(path_, ": ", array / width < count ? "truncated" : "damaged", ": expected ",
                                            count, " ", Format_Name(format_), " tokens by the file's header, got ",
                                            array, " bytes of them"));
  }
  tokens_ = map_ + header->bytes;
  size_ = count;
  return absl::OkStatus();
}

absl::Status TokenFile::InterpretHeader(Format format) {
  if (map_bytes_ < kHeaderBytes) {
    return absl::DataLossError(
        absl::StrCat(path_, ": truncated: expected a header of ", kHeaderBytes, " bytes, got ", map_bytes_));
  }
  const int32_t version = HeaderField(map_, 1);
  if (version != kVersionU16 && version != kVersionU32) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": header version: expected ", kVersionU16, " (uint16) or ",
                                                   kVersionU32, " (uint32), got ", version));
  }
  format_ = version == kVersionU16 ? U16 : U32;
  if (absl::Status status = CheckAsked(format); !status.ok()) return status;
  const int64_t count = HeaderField(map_, 2);
  const int64_t expected = kHeaderBytes + count * Width(format_);
  if (count <= 0 || expected != map_bytes_) {
    return absl::DataLossError(absl::StrCat(path_, ": ", expected > map_bytes_ ? "truncated" : "damaged", ": expected ",
                                            expected, " bytes for the ", count, " tokens of the header, got ",
                                            map_bytes_));
  }
  tokens_ = map_ + kHeaderBytes;
  size_ = count;
  return absl::OkStatus();
}

absl::Status TokenFile::InterpretRaw() {
  const int64_t width = Width(format_);
  if (map_bytes_ % width != 0) {
    return absl::DataLossError(absl::StrCat(path_, ": expected whole ", Format_Name(format_), " tokens of ", width,
                                            " bytes, got ", map_bytes_, " bytes"));
  }
  tokens_ = map_;
  size_ = map_bytes_ / width;
  return absl::OkStatus();
}

uint32_t TokenFile::at(int64_t position) const {
  int32_t token = 0;
  Copy(position, 1, &token);
  return static_cast<uint32_t>(token);
}

void TokenFile::Copy(int64_t begin, int64_t count, int32_t* out) const {
  const uint8_t* from = tokens_ + begin * Width(format_);
  format_ == U32   ? CopyTokens<uint32_t>(from, count, out)
  : format_ == U16 ? CopyTokens<uint16_t>(from, count, out)
                   : CopyTokens<uint8_t>(from, count, out);
}

TokenLook TokenFile::Look(int64_t limit) const {
  TokenLook look;
  const int64_t width = Width(format_), data = tokens_ - map_;
  const auto parts = Parts(map_bytes_, limit);
  look.whole = parts.size() == 1;
  look.hash = MixSeed(map_bytes_, 1);  // no word is at 1
  for (const auto& [begin, end] : parts) {
    look.hash += HashOf(map_, begin, end);
    // A header is a whole number of words, and so of tokens.
    for (int64_t at = std::max(begin, data); at < end; at += kBlock) {
      const int64_t count = (std::min(at + kBlock, end) - at) / width;
      const uint32_t largest = LargestOf(format_, map_ + at, count);
      if (largest <= look.largest) continue;
      look.largest = largest;
      look.largest_at = (at - data) / width;  // the block's first token
    }
  }
  for (int64_t last = size_ - 1; look.largest_at < last && at(look.largest_at) != look.largest;) ++look.largest_at;
  return look;
}

}  // namespace weft::data
