// Collectives among virtual ranks on one GPU: what reduce.cc and tile_copy.cc do
// on the host. Halves are summed in float and rounded once; a NaN wins a maximum.
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "runtime/collective/local/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::collective;

struct Sum {
  template <typename T>
  WEFT_DEVICE static T Of(T a, T b) {
    return a + b;
  }
  // Whole numbers wrap around.
  WEFT_DEVICE static int32_t Of(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
  WEFT_DEVICE static int64_t Of(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
struct Max {
  template <typename T>
  WEFT_DEVICE static T Of(T a, T b) {
    return b > a || b != b ? b : a;
  }
};

// Calls body(index in the inputs, index in the outputs) for this thread's elements.
template <typename Body>
WEFT_DEVICE void ForElements(const CombineArguments& args, const Body& body) {
  for (int64_t i : EachOf(args.n)) {
    int64_t from = args.from + i % args.run, to = args.to + i % args.run, rest = i / args.run;
    for (int l = 0; l < args.levels; ++l) {
      from += rest % args.count[l] * args.from_step[l];
      to += rest % args.count[l] * args.to_step[l];
      rest /= args.count[l];
    }
    body(from, to);
  }
}

template <typename Op, typename T>
WEFT_DEVICE void Combine(const CombineArguments& args) {
  ForElements(args, [&](int64_t from, int64_t to) {
    Compute<T> value = Widen(static_cast<const T*>(args.inputs[0])[from]);
    for (int k = 1; k < args.input_count; ++k) {
      value = Op::Of(value, Widen(static_cast<const T*>(args.inputs[k])[from]));
    }
    const T result = Narrow<T>(value);
    for (int k = 0; k < args.output_count; ++k) static_cast<T*>(args.outputs[k])[to] = result;
  });
}

template <typename Word>
WEFT_DEVICE void Copy(const CombineArguments& args) {
  ForElements(args, [&](int64_t from, int64_t to) {
    static_cast<Word*>(args.outputs[0])[to] = static_cast<const Word*>(args.inputs[0])[from];
  });
}

}  // namespace

#define WEFT_REDUCTIONS(type, T)                                                 \
  WEFT_KERNEL(sum_##type, CombineArguments, kThreads) { Combine<Sum, T>(args); } \
  WEFT_KERNEL(max_##type, CombineArguments, kThreads) { Combine<Max, T>(args); }

WEFT_REDUCTIONS(f32, float)
WEFT_REDUCTIONS(bf16, BF16)
WEFT_REDUCTIONS(f16, F16)
WEFT_REDUCTIONS(f64, double)
WEFT_REDUCTIONS(i32, int32_t)
WEFT_REDUCTIONS(i64, int64_t)

WEFT_KERNEL(copy_1, CombineArguments, kThreads) { Copy<uint8_t>(args); }
WEFT_KERNEL(copy_2, CombineArguments, kThreads) { Copy<uint16_t>(args); }
WEFT_KERNEL(copy_4, CombineArguments, kThreads) { Copy<uint32_t>(args); }
WEFT_KERNEL(copy_8, CombineArguments, kThreads) { Copy<uint64_t>(args); }
