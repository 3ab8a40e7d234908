// Rotates the pairs of heads. A thread has one pair of one place, in all heads: its angle is computed once, in double,
// where a float would lose the position (a place of 100,000 has 1 / 128 of a radian left).
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/rope/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::rope;

template <typename T>
WEFT_DEVICE void Turn(const RopeArguments& args) {
  constexpr double kTurn = 6.283185307179586;
  const int64_t head = 2 * args.pairs;
  for (int64_t unit : EachOf(args.rows * args.pairs)) {
    const int64_t row = unit / args.pairs, pair = unit % args.pairs;
    const int64_t position = args.positions != nullptr ? args.positions[row] : args.first + row % args.sequence;
    const double angle = static_cast<double>(position) * args.frequencies[pair];
    const float rest = static_cast<float>(angle - kTurn * rint(angle / kTurn));
    const float c = cosf(rest), s = sinf(rest);
    const int64_t at = row * args.heads * head + pair * args.pair_stride;
    const T* x = static_cast<const T*>(args.x) + at;
    T* y = static_cast<T*>(args.y) + at;
    for (int64_t n = 0; n < args.heads; ++n, x += head, y += head) {
      const float a = Widen(x[0]), b = Widen(x[args.element_stride]);
      y[0] = Narrow<T>(a * c - b * s);
      y[args.element_stride] = Narrow<T>(b * c + a * s);
    }
  }
}

}  // namespace

WEFT_KERNEL(rope_f32, RopeArguments, kThreads) { Turn<float>(args); }
WEFT_KERNEL(rope_bf16, RopeArguments, kThreads) { Turn<BF16>(args); }
WEFT_KERNEL(rope_f16, RopeArguments, kThreads) { Turn<F16>(args); }
