// A thread counts which elements of its line come before one: that is the element's place. Lines of experts or of
// classes are short; a line of n takes n^2 comparisons.
#include <type_traits>

#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/sort/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::sort;

// The order of ops/sort/cpu.cc.
template <typename T>
WEFT_DEVICE uint32_t OrderOf(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<uint32_t>(x) ^ 0x80000000u;
  } else {
    const float wide = Widen(x), number = wide + 0.0f;
    if (wide != wide) return 0xffffffffu;
    uint32_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  }
}

template <typename T>
WEFT_DEVICE void Sort(const SortArguments& args) {
  const T* x = static_cast<const T*>(args.x);
  for (int64_t i : EachOf(args.outer * args.extent * args.inner)) {
    const int64_t column = i % args.inner, own = i / args.inner % args.extent;
    const int64_t block = i / args.inner / args.extent;
    const T* line = x + block * args.extent * args.inner + column;
    const uint32_t order = OrderOf(line[own * args.inner]);
    int64_t place = 0;
    for (int64_t k = 0; k < args.extent; ++k) {
      const uint32_t other = OrderOf(line[k * args.inner]);
      const bool before = args.descending ? other > order : other < order;
      if (before || (other == order && k < own)) ++place;
    }
    if (place >= args.kept) continue;
    const int64_t at = (block * args.kept + place) * args.inner + column;
    static_cast<T*>(args.values)[at] = line[own * args.inner];
    args.ids[at] = static_cast<int32_t>(own);
  }
}

}  // namespace

WEFT_KERNEL(sort_f32, SortArguments, kThreads) { Sort<float>(args); }
WEFT_KERNEL(sort_bf16, SortArguments, kThreads) { Sort<BF16>(args); }
WEFT_KERNEL(sort_f16, SortArguments, kThreads) { Sort<F16>(args); }
WEFT_KERNEL(sort_i32, SortArguments, kThreads) { Sort<int32_t>(args); }
