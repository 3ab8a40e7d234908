// Rows by their numbers. Nothing depends on the order of threads: which positions name a row is found by looking
// through the ids, and a thread sums an element, one position after another.
#include "ops/cuda/kernel.h"
#include "ops/cuda/sums.h"
#include "ops/gather/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::gather;

WEFT_DEVICE int64_t IdOf(const GatherArguments& args, int64_t i) {
  return args.wide_ids ? static_cast<const int64_t*>(args.ids)[i] : static_cast<const int32_t*>(args.ids)[i];
}

// The local row of id `i`, -1 if another rank has it; an id outside the table raises the alarm.
WEFT_DEVICE int64_t RowOf(const GatherArguments& args, int64_t i) {
  const int64_t id = IdOf(args, i);
  if (id < 0 || id >= args.size) {
    Raise(args.alarm, i, id);
    return -1;
  }
  const int64_t row = id - args.begin;
  return row >= 0 && row < args.count ? row : -1;
}

// The first position from `from` on whose id is `id`, -1 if there is none. `ids` is where those of the batch begin.
WEFT_DEVICE int32_t NextOf(const GatherArguments& args, int64_t ids, int64_t from, int64_t id) {
  for (int64_t i = from; i < args.positions; ++i) {
    if (IdOf(args, ids + i) == id) return static_cast<int32_t>(i);
  }
  return -1;
}

WEFT_DEVICE int32_t LastOf(const GatherArguments& args, int64_t ids, int64_t id) {
  for (int64_t i = args.positions - 1; i >= 0; --i) {
    if (IdOf(args, ids + i) == id) return static_cast<int32_t>(i);
  }
  return -1;
}

// Whether the position is the last one of its row.
WEFT_DEVICE bool Counts(const GatherArguments& args, int64_t batch, int64_t row, int64_t position) {
  return args.first == nullptr || args.first[batch * args.count + row] == position;
}

template <typename Word>
WEFT_DEVICE void Take(const GatherArguments& args) {
  const Word* x = static_cast<const Word*>(args.x);
  Word* y = static_cast<Word*>(args.y);
  for (int64_t i : EachOf(args.batch * args.outer * args.positions * args.inner)) {
    const int64_t line = i / args.inner, position = line % args.positions;
    const int64_t block = line / args.positions, batch = block / args.outer;
    const int64_t row = RowOf(args, batch * args.positions + position);
    const bool here = row >= 0 && Counts(args, batch, row, position);
    y[i] = here ? x[(block * args.count + row) * args.inner + i % args.inner] : Word(0);
  }
}

template <typename T>
WEFT_DEVICE void ScatterAdd(const GatherArguments& args) {
  for (int64_t i : EachOf(args.batch * args.outer * args.count * args.inner)) {
    const int64_t line = i / args.inner, block = line / args.count, batch = block / args.outer;
    const T* updates = static_cast<const T*>(args.x) + block * args.positions * args.inner + i % args.inner;
    const int32_t* next = args.next + batch * args.positions;
    SumOf<T> sum = 0;
    for (int64_t at = args.first[batch * args.count + line % args.count]; at >= 0; at = next[at]) {
      sum += ToSum(updates[at * args.inner]);
    }
    static_cast<T*>(args.y)[i] = FromSum<T>(sum);
  }
}

template <typename Word>
WEFT_DEVICE void ScatterSet(const GatherArguments& args) {
  const Word* updates = static_cast<const Word*>(args.updates);
  for (int64_t i : EachOf(args.batch * args.outer * args.count * args.inner)) {
    const int64_t line = i / args.inner, block = line / args.count;
    const int64_t position = args.first[block / args.outer * args.count + line % args.count];
    static_cast<Word*>(args.y)[i] = position < 0
                                        ? static_cast<const Word*>(args.x)[i]
                                        : updates[(block * args.positions + position) * args.inner + i % args.inner];
  }
}

}  // namespace

// A thread a row, and one a position.
WEFT_KERNEL(links, GatherArguments, kThreads) {
  for (int64_t i : EachOf(args.batch * (args.count + args.positions))) {
    const int64_t batch = i / (args.count + args.positions), at = i % (args.count + args.positions);
    const int64_t ids = batch * args.positions, position = at - args.count;
    if (position < 0) {
      int32_t& first = args.first[batch * args.count + at];
      first = args.next == nullptr ? LastOf(args, ids, args.begin + at) : NextOf(args, ids, 0, args.begin + at);
    } else if (RowOf(args, ids + position) >= 0 && args.next != nullptr) {
      args.next[ids + position] = NextOf(args, ids, position + 1, IdOf(args, ids + position));
    }
  }
}

WEFT_KERNEL(take_2, GatherArguments, kThreads) { Take<uint16_t>(args); }
WEFT_KERNEL(take_4, GatherArguments, kThreads) { Take<uint32_t>(args); }
WEFT_KERNEL(take_8, GatherArguments, kThreads) { Take<uint64_t>(args); }
WEFT_KERNEL(scatter_add_f32, GatherArguments, kThreads) { ScatterAdd<float>(args); }
WEFT_KERNEL(scatter_add_bf16, GatherArguments, kThreads) { ScatterAdd<BF16>(args); }
WEFT_KERNEL(scatter_add_f16, GatherArguments, kThreads) { ScatterAdd<F16>(args); }
WEFT_KERNEL(scatter_add_i32, GatherArguments, kThreads) { ScatterAdd<uint32_t>(args); }
WEFT_KERNEL(scatter_add_i64, GatherArguments, kThreads) { ScatterAdd<uint64_t>(args); }
WEFT_KERNEL(scatter_set_2, GatherArguments, kThreads) { ScatterSet<uint16_t>(args); }
WEFT_KERNEL(scatter_set_4, GatherArguments, kThreads) { ScatterSet<uint32_t>(args); }
WEFT_KERNEL(scatter_set_8, GatherArguments, kThreads) { ScatterSet<uint64_t>(args); }
