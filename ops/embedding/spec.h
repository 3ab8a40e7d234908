// What kernels of embedding_grad are asked for, on both devices.
#ifndef WEFT_OPS_EMBEDDING_SPEC_H_
#define WEFT_OPS_EMBEDDING_SPEC_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"

namespace weft::embedding {

// Where the sums of rows go: to a table that is zero elsewhere; to the rows of one that is there; or to a sum over the
// micro-batches, which the first of them begins.
enum class RowsInto { kNew, kTable, kSum };

inline bool Adds(RowsInto into, const RunContext& context) {
  return into == RowsInto::kTable || (into == RowsInto::kSum && context.micro_batch > 0);
}

struct GradSpec {
  RowsInto into;
  Extents extents;  // rows() positions, 'h' columns, 'v' local rows of the table
  int64_t size;     // of the vocabulary
};

// `embedding_grad`, with the epilogue `add` or without, or `accumulate_embedding_grad`. kInvalidArgument for another
// epilogue, or operands that do not fit.
absl::StatusOr<GradSpec> ParseGrad(const KernelSpec& spec);

}  // namespace weft::embedding

#endif  // WEFT_OPS_EMBEDDING_SPEC_H_
