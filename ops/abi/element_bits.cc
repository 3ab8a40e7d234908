#include "ops/abi/element_bits.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"

namespace weft {
namespace {

template <typename T>
uint64_t BitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

}  // namespace

absl::StatusOr<uint64_t> FloatBits(const TensorSpec& tensor, double value) {
  const auto narrow = static_cast<float>(value);
  if (tensor.dtype == DType::kF32) return BitsOf(narrow);
  if (tensor.dtype == DType::kBF16) return BitsOf(ToBFloat16(narrow).bits);
  if (tensor.dtype == DType::kF16) return BitsOf(ToFloat16(narrow).bits);
  return absl::InvalidArgumentError(
      absl::StrCat("output 0: expected f32, bf16, f16, i32, i64 or u8, got ", tensor.ToString()));
}

bool HasIntegers(DType type) { return type == DType::kI32 || type == DType::kI64 || type == DType::kU8; }

absl::StatusOr<uint64_t> ElementOfValue(const KernelSpec& spec) {
  const TensorSpec& tensor = spec.outputs[0];
  if (HasIntegers(tensor.dtype)) {
    WEFT_ASSIGN_OR_RETURN(int64_t value, spec.attributes.Int("value"));
    return static_cast<uint64_t>(value);
  }
  WEFT_ASSIGN_OR_RETURN(double value, spec.attributes.Float("value"));
  return FloatBits(tensor, value);
}

}  // namespace weft
