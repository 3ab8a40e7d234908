// Rows of a table by their ids, and the sum of rows by id.
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/embedding/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::embedding;

// The local row of a position's id, -1 if another rank has it; an id outside the
// vocabulary raises the alarm.
WEFT_DEVICE int64_t RowOf(const EmbeddingArguments& args, int64_t position) {
  const int32_t id = args.ids[position];
  if (id < 0 || id >= args.size) {
    Raise(args.alarm, position, id);
    return -1;
  }
  const int64_t row = id - args.begin;
  return row >= 0 && row < args.count ? row : -1;
}

// y[p] = table[ids[p]], 0 where another rank has the row. Neighbouring threads
// move neighbouring elements.
template <typename Word>
WEFT_DEVICE void Gather(const EmbeddingArguments& args) {
  const Word* table = static_cast<const Word*>(args.x);
  Word* y = static_cast<Word*>(args.y);
  for (int64_t i : EachOf(args.positions * args.width)) {
    const int64_t row = RowOf(args, i / args.width);
    y[i] = row >= 0 ? table[row * args.width + i % args.width] : Word(0);
  }
}

// A block sorts its keys by Batcher's bitonic network. No two keys are equal, so there is one order.
WEFT_DEVICE void SortTile(const SortArguments& args) {
  __shared__ Key keys[kSortedAtOnce];
  const int64_t first = int64_t{blockIdx.x} * kSortedAtOnce;
  for (int i = threadIdx.x; i < kSortedAtOnce; i += kThreads) {
    const int64_t position = first + i;
    keys[i] = ~Key{0};  // behind all others
    if (position < args.of.positions) {
      const int64_t row = RowOf(args.of, position);
      keys[i] = Key{row < 0 ? kNoRow : static_cast<uint32_t>(row)} << kRowShift | static_cast<Key>(position);
    }
  }
  for (int size = 2; size <= kSortedAtOnce; size *= 2) {
    for (int apart = size / 2; apart > 0; apart /= 2) {
      __syncthreads();
      for (int pair = threadIdx.x; pair < kSortedAtOnce / 2; pair += kThreads) {
        const int low = pair / apart * 2 * apart + pair % apart, high = low + apart;
        const Key a = keys[low], b = keys[high];
        const bool ascending = (low & size) == 0;
        if ((a > b) == ascending) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kSortedAtOnce && first + i < args.of.positions; i += kThreads) {
    args.keys[first + i] = keys[i];
  }
}

// A key's place is its own in its run, and behind those of the other run of the pair that are smaller.
WEFT_DEVICE void MergeRuns(const MergeArguments& args) {
  for (int64_t i : EachOf(args.count)) {
    const Key key = args.from[i];
    const int64_t run = i >> args.log_run, other = (run ^ 1) << args.log_run;
    int64_t low = other < args.count ? other : args.count, high = low + (int64_t{1} << args.log_run);
    if (high > args.count) high = args.count;
    const int64_t begin = low;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (args.from[middle] < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const int64_t pair = (run & ~int64_t{1}) << args.log_run;
    args.to[pair + (i - (run << args.log_run)) + (low - begin)] = key;
  }
}

WEFT_DEVICE uint32_t RowOf(Key key) { return static_cast<uint32_t>(key >> kRowShift); }

// A block has the row whose first key is its own, if it is one, and some columns: each row is summed by one thread a
// column, in double, in the order of the positions.
template <typename T>
WEFT_DEVICE void SumRows(const SumArguments& args) {
  constexpr int kTogether = 8;  // loads in flight
  const uint32_t row = RowOf(args.keys[blockIdx.x]);
  if (row == kNoRow || (blockIdx.x > 0 && RowOf(args.keys[blockIdx.x - 1]) == row)) return;
  const int64_t column = (int64_t{blockIdx.y} * kSumThreads + threadIdx.x) * kColumns, columns = args.width - column;
  if (columns <= 0) return;
  const T* x = static_cast<const T*>(args.x) + column;
  double sum[kColumns] = {};
  for (int64_t at = blockIdx.x; at < args.positions && RowOf(args.keys[at]) == row; at += kTogether) {
    Pack<T, kColumns> rows[kTogether];
    bool here[kTogether];
    for (int k = 0; k < kTogether; ++k) {
      const Key key = at + k < args.positions ? args.keys[at + k] : ~Key{0};
      here[k] = RowOf(key) == row;
      if (here[k])
        rows[k] = LoadPack<kColumns>(x + static_cast<int64_t>(static_cast<uint32_t>(key)) * args.width, columns);
    }
    for (int k = 0; k < kTogether; ++k) {
      for (int i = 0; i < kColumns; ++i) {
        if (here[k]) sum[i] += static_cast<double>(Widen(rows[k][i]));
      }
    }
  }
  Pack<float, kColumns> y;
  for (int i = 0; i < kColumns; ++i) y[i] = static_cast<float>(sum[i]);
  StorePack<kColumns>(args.y + int64_t{row} * args.width + column, y, columns);
}

}  // namespace

WEFT_KERNEL(embedding_2, EmbeddingArguments, kThreads) { Gather<uint16_t>(args); }
WEFT_KERNEL(embedding_4, EmbeddingArguments, kThreads) { Gather<uint32_t>(args); }
WEFT_KERNEL(embedding_sort, SortArguments, kThreads) { SortTile(args); }
WEFT_KERNEL(embedding_merge, MergeArguments, kThreads) { MergeRuns(args); }
WEFT_KERNEL(embedding_grad_f32, SumArguments, kSumThreads) { SumRows<float>(args); }
WEFT_KERNEL(embedding_grad_bf16, SumArguments, kSumThreads) { SumRows<BF16>(args); }
WEFT_KERNEL(embedding_grad_f16, SumArguments, kSumThreads) { SumRows<F16>(args); }
