#include "runtime/data/token_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/data/file_kind.h"
#include "runtime/data/npy_header.h"
#include "runtime/data/token_bytes.h"

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

// Of so many bytes of text none may be 0.
constexpr int64_t kTextLookedAt = int64_t{1} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<const TokenFile>> TokenFile::Open(const std::string& path, Format format) {
  absl::StatusOr<std::shared_ptr<const MappedFile>> map = MappedFile::Open(path, "tokens");
  if (!map.ok()) return map.status();
  std::unique_ptr<TokenFile> file(new TokenFile(*std::move(map)));
  if (absl::Status status = file->Interpret(format); !status.ok()) return status;
  return std::unique_ptr<const TokenFile>(std::move(file));
}

absl::Status TokenFile::Interpret(Format format) {
  const bool has_header = map_->bytes() >= 4 && std::find(std::begin(kMagics), std::end(kMagics),
                                                          HeaderField(map_->data(), 0)) != std::end(kMagics);
  if (format != TEXT && has_header) return InterpretHeader(format);
  if (format != TEXT && IsNpy(map_->data(), map_->bytes())) return InterpretNpy(format);
  format_ = format != AUTO ? format : absl::EndsWith(path(), ".bin") ? U16 : TEXT;
  if (absl::Status status = CheckKind(has_header); !status.ok()) return status;
  return InterpretRaw();
}

absl::Status TokenFile::CheckKind(bool has_header) const {
  std::string found = has_header ? "llm.c's token file" : KindOf(map_->data(), map_->bytes());
  if (found.empty() && format_ == TEXT) {
    const void* zero = std::memchr(map_->data(), 0, std::min(map_->bytes(), kTextLookedAt));
    if (zero == nullptr) return absl::OkStatus();
    found = absl::StrCat("a byte 0 at ", static_cast<const uint8_t*>(zero) - map_->data());
  }
  if (found.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path(), ": expected ",
      format_ == TEXT ? "text, or tokens as raw uint16 (data.format=U16, or a name that ends with .bin) or uint32 (U32)"
                      : absl::StrCat("tokens as raw ", Format_Name(format_)),
      ", got ", found));
}

absl::Status TokenFile::CheckAsked(Format format) const {
  if (format == AUTO || format == format_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path(), ": tokens: expected ", Format_Name(format), ", got ",
                                                 Format_Name(format_), " by the file's header"));
}

absl::Status TokenFile::InterpretNpy(Format format) {
  const absl::StatusOr<NpyHeader> header = ReadNpyHeader(path(), map_->data(), map_->bytes());
  if (!header.ok()) return header.status();
  if (header->type != "<u2" && header->type != "<u4") {
    return absl::InvalidArgumentError(absl::StrCat(
        path(), ": tokens: expected a NumPy array of '<u2' (uint16) or '<u4' (uint32), got '", header->type, "'"));
  }
  format_ = header->type == "<u2" ? U16 : U32;
  if (absl::Status status = CheckAsked(format); !status.ok()) return status;
  if (header->shape.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(path(), ": tokens: expected a NumPy array of one dimension, got ", header->shape.size()));
  }
  const int64_t count = header->shape[0], array = map_->bytes() - header->bytes, width = Width(format_);
  if (count == 0) return absl::DataLossError(absl::StrCat(path(), ": expected tokens, got an empty NumPy array"));
  if (array % width != 0 || array / width != count) {
    return absl::DataLossError(absl::StrCat(path(), ": ", array / width < count ? "truncated" : "damaged",
                                            ": expected ", count, " ", Format_Name(format_),
                                            " tokens by the file's header, got ", array, " bytes of them"));
  }
  tokens_ = map_->data() + header->bytes;
  size_ = count;
  return absl::OkStatus();
}

absl::Status TokenFile::InterpretHeader(Format format) {
  if (map_->bytes() < kHeaderBytes) {
    return absl::DataLossError(
        absl::StrCat(path(), ": truncated: expected a header of ", kHeaderBytes, " bytes, got ", map_->bytes()));
  }
  const int32_t version = HeaderField(map_->data(), 1);
  if (version != kVersionU16 && version != kVersionU32) {
    return absl::InvalidArgumentError(absl::StrCat(path(), ": header version: expected ", kVersionU16, " (uint16) or ",
                                                   kVersionU32, " (uint32), got ", version));
  }
  format_ = version == kVersionU16 ? U16 : U32;
  if (absl::Status status = CheckAsked(format); !status.ok()) return status;
  const int64_t count = HeaderField(map_->data(), 2);
  const int64_t expected = kHeaderBytes + count * Width(format_);
  if (count <= 0 || expected != map_->bytes()) {
    return absl::DataLossError(absl::StrCat(path(), ": ", expected > map_->bytes() ? "truncated" : "damaged",
                                            ": expected ", expected, " bytes for the ", count,
                                            " tokens of the header, got ", map_->bytes()));
  }
  tokens_ = map_->data() + kHeaderBytes;
  size_ = count;
  return absl::OkStatus();
}

absl::Status TokenFile::InterpretRaw() {
  const int64_t width = Width(format_);
  if (map_->bytes() % width != 0) {
    return absl::DataLossError(absl::StrCat(path(), ": expected whole ", Format_Name(format_), " tokens of ", width,
                                            " bytes, got ", map_->bytes(), " bytes"));
  }
  tokens_ = map_->data();
  size_ = map_->bytes() / width;
  return absl::OkStatus();
}

uint32_t TokenFile::at(int64_t position) const {
  int32_t token = 0;
  Copy(position, 1, &token);
  return static_cast<uint32_t>(token);
}

void TokenFile::Copy(int64_t begin, int64_t count, int32_t* out) const {
  CopyTokens(Width(format_), tokens_ + begin * Width(format_), count, out);
}

// A header is a whole number of words.
TokenLook TokenFile::Look(int64_t limit) const {
  return LookAtTokens(path(), Width(format_), map_->data(), map_->bytes(), tokens_ - map_->data(), limit);
}

}  // namespace weft::data
