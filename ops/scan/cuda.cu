// Scans: a thread sums a line, one element after another, so that sums have one order.
#include <type_traits>

#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/scan/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::scan;

// Floating-point numbers are summed in double; integers wrap around, hence unsigned words.
template <typename T>
WEFT_DEVICE auto Wide(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return static_cast<double>(Widen(x));
  }
}
template <typename T, typename Sum>
WEFT_DEVICE T Back(Sum sum) {
  if constexpr (std::is_integral_v<T>) {
    return sum;
  } else {
    return Narrow<T>(static_cast<float>(sum));
  }
}

template <typename T>
WEFT_DEVICE void Cumsum(const ScanArguments& args) {
  for (int64_t line : EachOf(args.lines)) {
    const int64_t first = line / args.inner * args.extent * args.inner + line % args.inner;
    decltype(Wide(T{})) sum = 0;
    for (int64_t k = 0; k < args.extent; ++k) {
      const int64_t at = first + (args.reverse ? args.extent - 1 - k : k) * args.inner;
      const auto after = sum + Wide(static_cast<const T*>(args.x)[at]);
      static_cast<T*>(args.y)[at] = Back<T>(args.exclusive ? sum : after);
      sum = after;
    }
  }
}

}  // namespace

WEFT_KERNEL(cumsum_f32, ScanArguments, kThreads) { Cumsum<float>(args); }
WEFT_KERNEL(cumsum_bf16, ScanArguments, kThreads) { Cumsum<BF16>(args); }
WEFT_KERNEL(cumsum_f16, ScanArguments, kThreads) { Cumsum<F16>(args); }
WEFT_KERNEL(cumsum_i32, ScanArguments, kThreads) { Cumsum<uint32_t>(args); }
WEFT_KERNEL(cumsum_i64, ScanArguments, kThreads) { Cumsum<uint64_t>(args); }
