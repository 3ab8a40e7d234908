// Numbers as the bytes of an element, in the lowest ones of a word.
#ifndef WEFT_OPS_ABI_ELEMENT_BITS_H_
#define WEFT_OPS_ABI_ELEMENT_BITS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft {

// i32, i64 or u8, whose lowest bytes are those of the wider ones.
bool HasIntegers(DType type);

// `value` as an element of a floating-point tensor; kInvalidArgument for one of another type.
absl::StatusOr<uint64_t> FloatBits(const TensorSpec& tensor, double value);

// Attribute `value` of the spec, as an element of output 0: f32, bf16, f16 or a type of integers.
absl::StatusOr<uint64_t> ElementOfValue(const KernelSpec& spec);

}  // namespace weft

#endif  // WEFT_OPS_ABI_ELEMENT_BITS_H_
