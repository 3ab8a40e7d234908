#include "runtime/data/record_batches.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/abi/philox.h"
#include "runtime/data/augment.h"

namespace weft::data {
namespace {

// Copies the tile of one record, from dimension `d` on, element `at` of the record being its first; moves `out` on.
bool CopyTile(const TensorSpec& spec, int64_t d, const Array& array, Conversion convert, int64_t at, uint8_t*& out) {
  int64_t inner = 1;  // elements of the dimensions behind d, and whether the tile has all of them
  bool whole = true;
  for (int64_t i = d + 1; i < spec.rank(); ++i) {
    inner *= spec.global_dims[i];
    whole &= spec.dims[i] == spec.global_dims[i];
  }
  const bool last = d >= spec.rank();
  at += last ? 0 : spec.origin[d] * inner;
  if (whole) {
    const int64_t count = last ? 1 : spec.dims[d] * inner;
    const bool fit = convert(array.data + at * array.type->bytes, count, out);
    out += count * static_cast<int64_t>(SizeOf(spec.dtype));
    return fit;
  }
  bool fit = true;
  for (int64_t i = 0; i < spec.dims[d]; ++i) fit &= CopyTile(spec, d + 1, array, convert, at + i * inner, out);
  return fit;
}

// Whether records of two shapes are the same, but for dimensions of one element: an image of one channel is [28,28] or
// [1,28,28]. The first dimension counts the records.
bool SameRecords(std::vector<int64_t> a, std::vector<int64_t> b) {
  for (std::vector<int64_t>* shape : {&a, &b})
    shape->erase(std::remove(shape->begin() + 1, shape->end(), 1), shape->end());
  return std::equal(a.begin() + 1, a.end(), b.begin() + 1, b.end());
}

std::string NamesOf(const RecordBatches::Fields& fields) {
  return absl::StrJoin(fields, "`, `", [](std::string* out, const auto& it) { out->append(it.first); });
}

uint64_t HashOfText(const std::string& text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto size = static_cast<int64_t>(text.size());
  return HashOf(bytes, size, PartsOf(size));
}

}  // namespace

IdLook LookAtIds(const Array& array, int64_t skip, int64_t limit) {
  const auto parts = PartsOf(array.bytes(), limit);
  IdLook look{.whole = parts.size() == 1};
  bool first = true;
  for (const auto& [begin, end] : parts) {
    const int64_t width = array.type->bytes;
    const Extremes ids = ExtremesOf(*array.type, array.data, begin / width, (end - begin) / width, skip);
    if (first || ids.least < look.ids.least) look.ids.least = ids.least, look.ids.least_at = ids.least_at;
    if (first || ids.largest > look.ids.largest) look.ids.largest = ids.largest, look.ids.largest_at = ids.largest_at;
    first = false;
  }
  look.ids.least_at /= array.elements();
  look.ids.largest_at /= array.elements();
  return look;
}

absl::StatusOr<std::unique_ptr<RecordBatches>> RecordBatches::Create(Fields fields, const SampleOrder::Options& options,
                                                                     Augmentations augmentations) {
  const auto& [first_name, first] = *fields.begin();
  const int64_t records = first.records();
  for (const auto& [name, array] : fields) {
    if (array.records() == records) continue;
    return absl::InvalidArgumentError(absl::StrCat(array.where(), ": `", name, "`: expected ", records,
                                                   " records, as `", first_name, "` has, got ", array.records()));
  }
  if (records < options.least_records()) {
    return absl::InvalidArgumentError(absl::StrCat(first.where(), ": `", first_name, "`: expected at least ",
                                                   options.least_records(), " records, for a step, got ", records));
  }
  for (const auto& [name, augmentation] : augmentations) {
    if (fields.count(name) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("data.augment: expected one of `", NamesOf(fields), "`, got `", name, "`"));
  }
  return std::unique_ptr<RecordBatches>(
      new RecordBatches(std::move(fields), options, records, std::move(augmentations)));
}

absl::Status RecordBatches::Check(const TensorSpec& spec, const std::string& field) const {
  const auto found = fields_.find(field);
  if (found == fields_.end()) {
    return absl::NotFoundError(absl::StrCat("data field: expected `", NamesOf(fields_), "`, got `", field, "`"));
  }
  const Array& array = found->second.first();
  if (absl::Status status = order_.Check(spec, field); !status.ok()) return status;
  if (ConversionOf(*array.type, spec.dtype) == nullptr || !SameRecords(array.shape, spec.global_dims)) {
    const auto expected = [&] {
      std::vector<std::string> dims = {"rows"};
      for (int64_t d = 1; d < spec.rank(); ++d) dims.push_back(absl::StrCat(spec.global_dims[d]));
      return absl::StrCat(NameOf(spec.dtype), "[", absl::StrJoin(dims, ","), "]");
    };
    return absl::InvalidArgumentError(absl::StrCat(array.where, ": `", field, "`: expected what fits the plan's ",
                                                   expected(), ", got records of ", array.RecordText()));
  }
  const auto augmentation = augmentations_.find(field);
  return augmentation == augmentations_.end() ? absl::OkStatus() : CheckAugmentation(augmentation->second, spec);
}

absl::Status RecordBatches::CopySample(int64_t sample, const TensorSpec& spec, const std::string& field,
                                       void* out) const {
  const auto [array, record] = fields_.find(field)->second.At(order_.RecordOf(sample));
  const auto augmentation = augmentations_.find(field);
  auto* to = static_cast<uint8_t*>(out);
  const int64_t rank = spec.rank();
  const bool fit = augmentation == augmentations_.end()
                       ? CopyTile(spec, 1, array, ConversionOf(*array.type, spec.dtype), record * array.elements(), to)
                       : CopyView(ViewOf(augmentation->second, seed_, sample, spec.global_dims[rank - 2],
                                         spec.global_dims[rank - 1]),
                                  array, record, spec, to);
  if (fit) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(array.where, ": `", field, "`: expected numbers that ", NameOf(spec.dtype),
                                            " has, got others in record ", record));
}

std::string RecordBatches::form() const {
  return absl::StrJoin(fields_, ", ", [](std::string* out, const auto& it) {
    absl::StrAppend(out, it.first, " ", it.second.first().RecordText());
  });
}

uint64_t RecordBatches::Hash() const {
  uint64_t hash = 0;
  for (const auto& [name, shards] : fields_) {
    uint64_t content = 0;
    for (const Array& array : shards.arrays()) {
      const uint64_t own = HashOf(array.data, array.bytes(), PartsOf(array.bytes()));
      content = shards.arrays().size() == 1 ? own : MixSeed(content, own);
    }
    hash += MixSeed(content, HashOfText(absl::StrCat(name, " ", shards.first().RecordText())));
  }
  return hash;
}

}  // namespace weft::data
