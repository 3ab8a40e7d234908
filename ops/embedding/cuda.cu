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
// move neighbouring words, of which a row has `width`.
template <typename Word>
WEFT_DEVICE void Gather(const EmbeddingArguments& args) {
  const Word* table = static_cast<const Word*>(args.x);
  Word* y = static_cast<Word*>(args.y);
  for (int64_t i : EachOf(args.positions * args.width)) {
    const int64_t row = RowOf(args, i / args.width);
    y[i] = row >= 0 ? table[row * args.width + i % args.width] : Word{};
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

WEFT_DEVICE void StoreRow(const SumArguments& args, uint32_t row, int64_t column, const Pack<double, kColumns>& sum) {
  Pack<float, kColumns> y;
  for (int i = 0; i < kColumns; ++i) y[i] = static_cast<float>(sum[i]);
  float* const to = args.y + int64_t{row} * args.width + column;
  if (args.adds) {
    const Pack<float, kColumns> before = LoadPack<kColumns>(static_cast<const float*>(to), args.width - column);
    for (int i = 0; i < kColumns; ++i) y[i] = before[i] + y[i];
  }
  StorePack(to, y, args.width - column);
}

// The end of the keys from `at` on that have its row, in the chunk of `at`.
WEFT_DEVICE int64_t EndOfRun(const SumArguments& args, int64_t at) {
  const int64_t whole = (at / kChunk + 1) * kChunk, end = whole < args.positions ? whole : args.positions;
  const uint32_t row = RowOf(args.keys[at]);
  while (at < end && RowOf(args.keys[at]) == row) ++at;
  return at;
}

// A block has a chunk of the sorted keys and some columns. A row all of whose keys are in the chunk is written; of one
// that goes on in another chunk, the part is kept: at the chunk's place if it has begun in an earlier one, behind
// those if it begins here. Each thread adds up in double, in the order of the positions.
template <typename T>
WEFT_DEVICE void SumChunk(const SumArguments& args) {
  constexpr int kTogether = 8;  // loads in flight
  const int64_t chunk = blockIdx.x, begin = chunk * kChunk, chunks = gridDim.x;
  const int64_t column = (int64_t{blockIdx.y} * kSumThreads + threadIdx.x) * kColumns, columns = args.width - column;
  if (columns <= 0) return;
  const T* x = static_cast<const T*>(args.x) + column;
  for (int64_t at = begin, end; at < args.positions && at < begin + kChunk; at = end) {
    end = EndOfRun(args, at);
    const uint32_t row = RowOf(args.keys[at]);
    if (row == kNoRow) return;  // behind all others
    Pack<double, kColumns> sum = {};
    for (int64_t first = at; first < end; first += kTogether) {
      Pack<T, kColumns> rows[kTogether];
      for (int k = 0; k < kTogether; ++k) {
        if (first + k >= end) continue;
        rows[k] = LoadPack<kColumns>(x + int64_t{static_cast<uint32_t>(args.keys[first + k])} * args.width, columns);
      }
      for (int k = 0; k < kTogether; ++k) {
        if (first + k >= end) continue;
        for (int i = 0; i < kColumns; ++i) sum[i] += static_cast<double>(Widen(rows[k][i]));
      }
    }
    const bool goes_on = end == begin + kChunk && end < args.positions && RowOf(args.keys[end]) == row;
    if (at == begin && at > 0 && RowOf(args.keys[at - 1]) == row) {
      StorePack(args.parts + chunk * args.width + column, sum, columns);
    } else if (goes_on) {
      StorePack(args.parts + (chunks + chunk) * args.width + column, sum, columns);
    } else {
      StoreRow(args, row, column, sum);
    }
  }
}

// A block has a chunk and some columns, and adds up the parts of the row that begins in the chunk and goes on.
WEFT_DEVICE void SumParts(const SumArguments& args) {
  const int64_t chunk = blockIdx.x, chunks = gridDim.x, next = (chunk + 1) * kChunk;
  const int64_t column = (int64_t{blockIdx.y} * kSumThreads + threadIdx.x) * kColumns, columns = args.width - column;
  if (columns <= 0 || next >= args.positions) return;
  const uint32_t row = RowOf(args.keys[next]);
  if (row == kNoRow || RowOf(args.keys[next - 1]) != row) return;
  const int64_t begin = chunk * kChunk;
  if (begin > 0 && RowOf(args.keys[begin]) == row && RowOf(args.keys[begin - 1]) == row) return;  // began earlier
  const double* part = args.parts + column;
  Pack<double, kColumns> sum = LoadPack<kColumns>(part + (chunks + chunk) * args.width, columns);
  for (int64_t other = chunk + 1; other < chunks && RowOf(args.keys[other * kChunk]) == row; ++other) {
    const Pack<double, kColumns> more = LoadPack<kColumns>(part + other * args.width, columns);
    for (int i = 0; i < kColumns; ++i) sum[i] += more[i];
  }
  StoreRow(args, row, column, sum);
}

}  // namespace

WEFT_KERNEL(embedding_2, EmbeddingArguments, kThreads) { Gather<uint16_t>(args); }
WEFT_KERNEL(embedding_4, EmbeddingArguments, kThreads) { Gather<uint32_t>(args); }
WEFT_KERNEL(embedding_16, EmbeddingArguments, kThreads) {
  using Word = Pack<uint32_t>;
  Gather<Word>(args);
}
WEFT_KERNEL(embedding_sort, SortArguments, kThreads) { SortTile(args); }
WEFT_KERNEL(embedding_merge, MergeArguments, kThreads) { MergeRuns(args); }
WEFT_KERNEL(embedding_grad_f32, SumArguments, kSumThreads) { SumChunk<float>(args); }
WEFT_KERNEL(embedding_grad_bf16, SumArguments, kSumThreads) { SumChunk<BF16>(args); }
WEFT_KERNEL(embedding_grad_f16, SumArguments, kSumThreads) { SumChunk<F16>(args); }
WEFT_KERNEL(embedding_grad_parts, SumArguments, kSumThreads) { SumParts(args); }
