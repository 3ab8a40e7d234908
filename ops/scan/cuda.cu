// Scans: a thread sums a line, one element after another, so that sums have one order.
#include "ops/cuda/kernel.h"
#include "ops/cuda/sums.h"
#include "ops/scan/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::scan;

template <typename T>
WEFT_DEVICE void Cumsum(const ScanArguments& args) {
  for (int64_t line : EachOf(args.lines)) {
    const int64_t first = line / args.inner * args.extent * args.inner + line % args.inner;
    SumOf<T> sum = 0;
    for (int64_t k = 0; k < args.extent; ++k) {
      const int64_t at = first + (args.reverse ? args.extent - 1 - k : k) * args.inner;
      const auto after = sum + ToSum(static_cast<const T*>(args.x)[at]);
      static_cast<T*>(args.y)[at] = FromSum<T>(args.exclusive ? sum : after);
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
