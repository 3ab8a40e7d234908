#include "runtime/checkpoint/safetensors_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/tile.h"

namespace weft::checkpoint {
namespace {

constexpr int64_t kPieceBytes = 1 << 20;
constexpr int64_t kWidenElements = 4096;

bool Widens(DType from, DType to) { return to == DType::kF32 && from != to && WidensToFloat(from); }

}  // namespace

absl::StatusOr<std::unique_ptr<const SafetensorsReader>> SafetensorsReader::Open(const std::string& path) {
  absl::StatusOr<File> file = File::OpenToRead(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<SafetensorsHeader> header = ReadHeader(*file);
  if (!header.ok()) return header.status();
  return std::unique_ptr<const SafetensorsReader>(new SafetensorsReader(*std::move(file), *std::move(header)));
}

absl::StatusOr<const TensorEntry*> SafetensorsReader::Find(const std::string& name,
                                                           const std::vector<std::string>& prefixes) const {
  if (const TensorEntry* entry = header_.Find(name)) return entry;
  for (const std::string& prefix : prefixes) {
    if (const TensorEntry* entry = header_.Find(prefix + name)) return entry;
  }
  return absl::NotFoundError(
      absl::StrCat(path(), ": expected a tensor `", name, "`, got ", NamesLike(name, {&header_})));
}

absl::Status SafetensorsReader::Read(const TensorEntry& entry, const TensorSpec& spec,
                                     const std::vector<int64_t>& stored_shape, Conversion conversion, void* out) const {
  const std::string what = absl::StrCat(path(), ": `", entry.name, "`");
  if (entry.shape != stored_shape) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": shape: expected ", ShapeText(stored_shape), ", got ", ShapeText(entry.shape)));
  }
  if (absl::Status status = CheckTile(what, spec, entry.shape); !status.ok()) return status;
  const bool widen = conversion == Conversion::kWiden && Widens(entry.dtype, spec.dtype);
  if (!widen && (entry.dtype != spec.dtype || spec.dtype == DType::kInvalid)) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": dtype: expected ", NameOf(spec.dtype), ", got ",
                                                   entry.dtype == DType::kInvalid ? entry.type : NameOf(entry.dtype)));
  }
  const size_t size = SizeOf(spec.dtype);
  return ForEachRun(spec, [&](int64_t index, int64_t offset, int64_t count) {
    char* to = static_cast<char*>(out) + offset * size;
    return widen ? ReadWidened(entry, index, count, reinterpret_cast<float*>(to)) : ReadRun(entry, index, count, to);
  });
}

absl::Status SafetensorsReader::ReadRun(const TensorEntry& entry, int64_t index, int64_t count, char* out) const {
  const int64_t size = SizeOf(entry.dtype);
  return file_.ReadAt(entry.begin + index * size, out, count * size);
}

absl::Status SafetensorsReader::ReadWidened(const TensorEntry& entry, int64_t index, int64_t count, float* out) const {
  uint16_t piece[kWidenElements];
  for (int64_t done = 0; done < count; done += kWidenElements) {
    const int64_t n = std::min(kWidenElements, count - done);
    if (absl::Status status = ReadRun(entry, index + done, n, reinterpret_cast<char*>(piece)); !status.ok()) {
      return status;
    }
    for (int64_t i = 0; i < n; ++i) {
      out[done + i] = entry.dtype == DType::kBF16 ? ToFloat(BFloat16{piece[i]}) : ToFloat(Float16{piece[i]});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SafetensorsReader::ChecksumOf(const TensorEntry& entry) const {
  const int64_t size = entry.dtype == DType::kInvalid ? 1 : static_cast<int64_t>(SizeOf(entry.dtype));
  const int64_t bytes = entry.end - entry.begin;
  std::vector<char> piece(std::min(bytes, kPieceBytes));
  uint64_t sum = 0;
  for (int64_t done = 0; done < bytes; done += kPieceBytes) {
    const int64_t n = std::min(kPieceBytes, bytes - done);
    if (absl::Status status = file_.ReadAt(entry.begin + done, piece.data(), n); !status.ok()) return status;
    sum += Checksum(size, done / size, piece.data(), n / size);
  }
  return sum;
}

}  // namespace weft::checkpoint
