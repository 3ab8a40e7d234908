// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_EMBEDDING_CUDA_ARGUMENTS_H_
#define WEFT_OPS_EMBEDDING_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/gpu_alarm.h"

namespace weft::embedding {

inline constexpr int kThreads = 256;
inline constexpr int kSortedAtOnce = 2048;  // positions, a power of 2
inline constexpr int kChunk = 32;           // keys of a block that sums rows
inline constexpr int kSumThreads = 64;      // of a block that sums rows, with kColumns columns each
inline constexpr int kColumns = 4;

// The local table is [count, width] elements, or for embedding words, rows `begin` and on of a vocabulary of `size`.
// embedding: x is the table, y [positions, width]; embedding_grad: the other way round.
struct EmbeddingArguments {
  const int32_t* ids;
  const void* x;
  void* y;
  int64_t positions;
  int64_t width;
  int64_t size, begin, count;
  GpuAlarm* alarm;
};

// A position with its local row before it, so that sorted keys are rows in order, and a row's positions in theirs.
using Key = uint64_t;
inline constexpr int kRowShift = 32;
inline constexpr uint32_t kNoRow = 0xffffffffu;  // another rank's

// Sorts the keys of the ids, kSortedAtOnce at a time.
struct SortArguments {
  EmbeddingArguments of;
  Key* keys;
};
// Merges sorted runs of 2^log_run keys in pairs.
struct MergeArguments {
  const Key* from;
  Key* to;
  int64_t count;
  int32_t log_run;
};
// y[r] = the sum of x[p] over the positions of row r, for every row that has some, or y[r] + that if it adds. First
// each chunk of keys is summed, and then those rows that are in several: a frequent word has thousands of positions.
// `parts`: for every chunk a row of sums of the row that it begins with, then likewise of the row that it ends with.
struct SumArguments {
  const Key* keys;
  const void* x;
  float* y;
  double* parts;
  int64_t positions, width;
  bool adds;
};

}  // namespace weft::embedding

#endif  // WEFT_OPS_EMBEDDING_CUDA_ARGUMENTS_H_
