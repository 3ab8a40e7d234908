#include "runtime/data/array.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/safetensors_header.h"
#include "runtime/checkpoint/tile.h"
#include "runtime/data/file_kind.h"
#include "runtime/data/inflate.h"
#include "runtime/data/mapped_file.h"
#include "runtime/data/npy_header.h"

namespace weft::data {
namespace {

constexpr char kTypesText[] = "u8, u16, i32, i64, f16, f32 or f64";

// Checks the array that `header_bytes` of header say of `bytes` bytes, and puts it together.
absl::StatusOr<Array> Take(Array array, int64_t header_bytes, int64_t bytes) {
  if (array.shape.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(array.where, ": expected an array of records, got a scalar"));
  }
  const int64_t elements = checkpoint::ElementsOf(array.shape);
  const std::string found = absl::StrCat(array.type->name, checkpoint::ShapeText(array.shape));
  if (elements == 0) {
    return absl::DataLossError(
        absl::StrCat(array.where, ": expected at least one record, got an empty array, ", found));
  }
  const int64_t got = bytes - header_bytes;
  if (elements < 0 || elements > got / array.type->bytes || elements * array.type->bytes != got) {
    const bool fewer = elements < 0 || elements > got / array.type->bytes;
    return absl::DataLossError(absl::StrCat(array.where, ": ", fewer ? "truncated" : "damaged", ": expected ", found,
                                            " by the file's header, got ", got, " bytes of it"));
  }
  array.data += header_bytes;
  return array;
}

absl::StatusOr<Array> FromNpy(Array array, int64_t bytes) {
  absl::StatusOr<NpyHeader> header = ReadNpyHeader(array.where, array.data, bytes);
  if (!header.ok()) return header.status();
  array.type = TypeOfNumpy(header->type);
  if (array.type == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(array.where, ": elements: expected ", kTypesText, ", little-endian, got '", header->type, "'"));
  }
  if (header->fortran_order && header->shape.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(array.where, ": expected the last dimension to vary fastest (C's order), got Fortran's order"));
  }
  array.shape = std::move(header->shape);
  return Take(std::move(array), header->bytes, bytes);
}

// The format is that of yann.lecun.com/exdb/mnist: two bytes 0, the type of the elements, the number of dimensions,
// their sizes as big-endian u32, the elements.
bool IsIdx(const uint8_t* file, int64_t bytes) {
  return bytes >= 4 && file[0] == 0 && file[1] == 0 && file[2] >= 0x08 && file[2] <= 0x0E;
}

absl::StatusOr<Array> FromIdx(Array array, int64_t bytes) {
  const uint8_t* file = array.data;
  if (file[2] != 0x08) {
    return absl::InvalidArgumentError(absl::StrCat(
        array.where, ": IDX elements: expected unsigned bytes (type 8), got type ", static_cast<int>(file[2])));
  }
  array.type = TypeOfNumpy("|u1");
  const int64_t header = 4 + 4 * int64_t{file[3]};
  if (bytes < header) {
    return absl::DataLossError(
        absl::StrCat(array.where, ": truncated: expected an IDX header of ", header, " bytes, got ", bytes));
  }
  for (const uint8_t* size = file + 4; size < file + header; size += 4) {
    array.shape.push_back(int64_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3]);
  }
  return Take(std::move(array), header, bytes);
}

absl::StatusOr<Array> FromSafetensors(const std::string& path, const std::string& field,
                                      const std::shared_ptr<const MappedFile>& map) {
  absl::StatusOr<checkpoint::File> file = checkpoint::File::OpenToRead(path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<checkpoint::SafetensorsHeader> header = checkpoint::ReadHeader(*file);
  if (!header.ok()) return header.status();
  const checkpoint::TensorEntry* entry = header->Find(field);
  if (entry == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(path, ": expected a tensor `", field, "`, got ", checkpoint::NamesLike(field, {&*header})));
  }
  Array array{.where = path, .type = TypeOfSafetensors(entry->type), .shape = entry->shape, .data = map->data()};
  array.owner = map;
  if (array.type == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": `", field, "`: elements: expected ", kTypesText, " or bf16, got ", entry->type));
  }
  return Take(std::move(array), entry->begin, entry->end);
}

}  // namespace

int64_t Array::elements() const {
  int64_t count = 1;
  for (size_t d = 1; d < shape.size(); ++d) count *= shape[d];
  return count;
}

std::string Array::RecordText() const {
  return shape.size() == 1
             ? type->name
             : absl::StrCat(type->name, checkpoint::ShapeText(std::vector<int64_t>(shape.begin() + 1, shape.end())));
}

absl::StatusOr<Array> OpenArray(const std::string& path, const std::string& field) {
  const absl::StatusOr<std::shared_ptr<const MappedFile>> map = MappedFile::Open(path, "records");
  if (!map.ok()) return map.status();
  if (absl::EndsWith(path, ".safetensors")) return FromSafetensors(path, field, *map);
  Array array{.where = path, .data = (*map)->data(), .owner = *map};
  int64_t bytes = (*map)->bytes();
  if (IsGzip(array.data, bytes)) {
    const auto inflated = Inflate(path, array.data, bytes);
    if (!inflated.ok()) return inflated.status();
    array.data = (*inflated)->data();
    array.owner = *inflated;
    bytes = static_cast<int64_t>((*inflated)->size());
  }
  if (IsNpy(array.data, bytes)) return FromNpy(std::move(array), bytes);
  if (IsIdx(array.data, bytes)) return FromIdx(std::move(array), bytes);
  const std::string kind = KindOf(array.data, bytes);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": expected an array: NumPy's (.npy) or IDX, also gzipped, or a .safetensors file, got ",
                   kind.empty() ? "a file of another kind" : kind));
}

}  // namespace weft::data
