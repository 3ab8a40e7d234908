#include "ops/constant/known.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ops/abi/element_bits.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/tile_runs.h"

namespace weft::constant {

absl::StatusOr<uint64_t> FilledElement(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "->any:*").status());
  return ElementOfValue(spec);
}

absl::StatusOr<Iota> PlanIota(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "->any:*").status());
  const TensorSpec& tile = spec.outputs[0];
  if (tile.dtype != DType::kI32 && tile.dtype != DType::kI64 && tile.dtype != DType::kF32) {
    return absl::InvalidArgumentError(absl::StrCat("output 0: expected i32, i64 or f32, got ", tile.ToString()));
  }
  WEFT_ASSIGN_OR_RETURN(int64_t dim, IntAttribute(spec, "dim", 0, tile.rank()));
  Iota plan{.extent = tile.dims[dim], .inner = 1, .begin = tile.origin[dim]};
  for (int64_t d = dim + 1; d < tile.rank(); ++d) plan.inner *= tile.dims[d];
  return plan;
}

absl::StatusOr<std::vector<uint8_t>> TileOf(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "->any:*").status());
  const TensorSpec& tile = spec.outputs[0];
  WEFT_ASSIGN_OR_RETURN(std::vector<int64_t> values, spec.attributes.Ints("values"));
  const TileRuns runs(tile);
  if (static_cast<int64_t>(values.size()) != runs.global_elements()) {
    return absl::InvalidArgumentError(absl::StrCat("attribute `values`: expected ", runs.global_elements(),
                                                   ", one an element of the whole tensor, got ", values.size()));
  }
  const size_t size = SizeOf(tile.dtype);
  std::vector<uint8_t> bytes(tile.bytes());
  absl::Status status;
  runs.ForRange(0, tile.elements(), [&](int64_t local, int64_t global, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      auto word = static_cast<uint64_t>(values[static_cast<size_t>(global + i)]);
      if (!HasIntegers(tile.dtype)) {
        absl::StatusOr<uint64_t> bits = FloatBits(tile, std::bit_cast<double>(word));
        if (!bits.ok()) {
          status = bits.status();
          return;
        }
        word = *bits;
      }
      std::memcpy(&bytes[static_cast<size_t>(local + i) * size], &word, size);
    }
  });
  if (!status.ok()) return status;
  return bytes;
}

}  // namespace weft::constant
