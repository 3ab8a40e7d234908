// The arithmetic of reducing collectives.
#ifndef WEFT_RUNTIME_COLLECTIVE_REDUCE_H_
#define WEFT_RUNTIME_COLLECTIVE_REDUCE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/collective/spec.h"

namespace weft::collective {

// Combines `count` elements at `input_offset` bytes of each of `inputs`, the
// first with the second, the result with the third, and so on, and writes them
// at `output_offset` bytes of each of `outputs`. bf16 and f16 are summed in f32
// and rounded once. An output may be an input at the same offset. Allocates nothing.
using ReduceFunction = void (*)(const void* const* inputs, int input_count, int64_t input_offset, void* const* outputs,
                                int output_count, int64_t output_offset, int64_t count);

// Which ends of a reduction are sums under way, which others go on with: f32 of bf16 and f16, else of the type itself.
struct UnderWay {
  bool first = false;    // the first input
  bool results = false;  // the outputs
};

// Bytes of an element of a sum under way.
int64_t UnderWayBytes(DType dtype);

// kUnimplemented for types without arithmetic (u8).
absl::StatusOr<ReduceFunction> ReducerFor(DType dtype, Reduction reduction, UnderWay under_way = {});

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_REDUCE_H_
