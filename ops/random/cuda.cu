// Counter-based random numbers: an element's value depends on its place in the
// whole batch alone (ops/abi/philox.h, the generator of the CPU kernels).
#include "ops/abi/philox.h"
#include "ops/cuda/kernel.h"
#include "ops/random/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using weft::random::kThreads;
using weft::random::RandomArguments;

}  // namespace

// Box and Muller: elements 2 i and 2 i + 1 are cosine and sine of one radius.
WEFT_KERNEL(random_normal, RandomArguments, kThreads) {
  const auto event = static_cast<uint64_t>(*args.step);
  for (int64_t i : EachOf(args.n)) {
    const auto global = args.first + static_cast<uint64_t>(args.tile.GlobalOf(i));
    const weft::PhiloxBlock words = weft::Philox(args.key, global / 4, event);
    const bool second = global % 4 >= 2;
    const float u = static_cast<float>(second ? words[2] : words[0]) * 0x1.0p-32f + 0x1.0p-33f;
    const float v = 2.0f * weft::UniformFloat(second ? words[3] : words[1]);
    const float radius = sqrtf(-2.0f * logf(u)) * args.b;
    args.y[i] = args.a + radius * (global % 2 == 0 ? cospif(v) : sinpif(v));
  }
}

WEFT_KERNEL(random_uniform, RandomArguments, kThreads) {
  const auto event = static_cast<uint64_t>(*args.step);
  for (int64_t i : EachOf(args.n)) {
    const auto global = args.first + static_cast<uint64_t>(args.tile.GlobalOf(i));
    const float value = args.a + args.b * weft::UniformFloat(weft::PhiloxElement(args.key, event, global));
    args.y[i] = value < args.last ? value : args.last;
  }
}
