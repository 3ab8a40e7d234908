// CPU kernels of embedding (a table of any element type) and embedding_grad
// (f32), with i32 ids. The table may be a tile of the vocabulary: ids of other tiles give rows of zeros, ids
// outside the whole vocabulary are an error of Run().
//
// embedding_grad adds the rows of one id in double, in the order of the
// positions: for n occurrences |error| <= 2^-24 |result| + n 2^-53 sum |dout|,
// on any number of threads.
#ifndef WEFT_OPS_EMBEDDING_CPU_H_
#define WEFT_OPS_EMBEDDING_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterEmbeddingKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_EMBEDDING_CPU_H_
