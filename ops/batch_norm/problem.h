// What the kernels of batch normalisation are made for, checked once.
#ifndef WEFT_OPS_BATCH_NORM_PROBLEM_H_
#define WEFT_OPS_BATCH_NORM_PROBLEM_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/abi/reduction.h"

namespace weft::batch_norm {

// A tensor has, by its letter: 'x' all dims of the first input and its type, f32, bf16 or f16; 'k' the kept dims, those
// that the attribute `dims` does not name, in f32; 'c' the last of them, the channels, in f32.
struct Problem {
  reduce::ReducePlan plan;
  int64_t channels = 1;
  double count = 1;  // elements of a statistic: of the whole dims, of which a rank may hold a part
  float eps = 0;     // if there is the attribute
};

// kInvalidArgument names what does not fit `inputs` and `outputs`, a letter each.
absl::StatusOr<Problem> MakeProblem(const KernelSpec& spec, const char* inputs, const char* outputs);

}  // namespace weft::batch_norm

#endif  // WEFT_OPS_BATCH_NORM_PROBLEM_H_
