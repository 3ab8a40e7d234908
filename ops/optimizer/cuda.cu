// One pass over the parameters each; the formulas are those of cpu_updates.cc and
// cpu_scalars.cc. New values may be in place of the old.
#include "ops/cuda/kernel.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/types.h"
#include "ops/optimizer/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::optimizer;

// A block's part: in double, each thread its elements in order.
template <typename T>
WEFT_DEVICE void SumParts(const SquareSumArguments& args) {
  double sum = 0;
  for (int64_t i : EachOf(args.n)) {
    const double x = static_cast<double>(Widen(static_cast<const T*>(args.x)[i]));
    sum += x * x;
  }
  sum = BlockReduce<Sum>(sum);
  if (threadIdx.x == 0) args.parts[blockIdx.x] = sum;
}

// Calls body(i, pack of the gradients, how many) for packs of four elements.
constexpr int kPack = 4;
template <typename G, typename Body>
WEFT_DEVICE void ForPacks(const UpdateArguments& args, const Body& body) {
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    const Pack<G, kPack> narrow = LoadPack<kPack>(static_cast<const G*>(args.g) + at, count);
    Pack<float, kPack> g;
    for (int i = 0; i < kPack; ++i) g[i] = Widen(narrow[i]);
    body(at, g, count);
  }
}

template <typename G>
WEFT_DEVICE void Sgd(const UpdateArguments& args) {
  const float lr = *args.lr, scale = *args.scale;
  ForPacks<G>(args, [&](int64_t at, const Pack<float, kPack>& g, int64_t count) {
    Pack<float, kPack> p = LoadPack<kPack>(args.p + at, count);
    for (int i = 0; i < kPack; ++i) p[i] = p[i] - lr * (g[i] * scale + args.decay * p[i]);
    StorePack<kPack>(args.p2 + at, p, count);
  });
}

template <typename G>
WEFT_DEVICE void SgdMomentum(const UpdateArguments& args) {
  const float lr = *args.lr, scale = *args.scale;
  ForPacks<G>(args, [&](int64_t at, const Pack<float, kPack>& g, int64_t count) {
    Pack<float, kPack> p = LoadPack<kPack>(args.p + at, count), v = LoadPack<kPack>(args.v + at, count);
    for (int i = 0; i < kPack; ++i) {
      v[i] = args.momentum * v[i] + (g[i] * scale + args.decay * p[i]);
      p[i] = p[i] - lr * v[i];
    }
    StorePack<kPack>(args.p2 + at, p, count);
    StorePack<kPack>(args.v2 + at, v, count);
  });
}

template <typename G>
WEFT_DEVICE void Adam(const UpdateArguments& args) {
  const double lr = *args.lr;
  const float scale = *args.scale, rate = static_cast<float>(lr / args.bias1);
  const float shrink = static_cast<float>(lr * args.decoupled);
  ForPacks<G>(args, [&](int64_t at, const Pack<float, kPack>& g, int64_t count) {
    Pack<float, kPack> p = LoadPack<kPack>(args.p + at, count);
    Pack<float, kPack> m = LoadPack<kPack>(args.m + at, count), v = LoadPack<kPack>(args.v + at, count);
    for (int i = 0; i < kPack; ++i) {
      const float gradient = g[i] * scale + args.coupled * p[i];
      m[i] = args.beta1 * m[i] + args.rest1 * gradient;
      v[i] = args.beta2 * v[i] + args.rest2 * (gradient * gradient);
      p[i] = (p[i] - shrink * p[i]) - rate * m[i] / (sqrtf(v[i] * args.correction) + args.eps);
    }
    StorePack<kPack>(args.p2 + at, p, count);
    StorePack<kPack>(args.m2 + at, m, count);
    StorePack<kPack>(args.v2 + at, v, count);
  });
}

}  // namespace

WEFT_KERNEL(sum_parts_f32, SquareSumArguments, kThreads) { SumParts<float>(args); }
WEFT_KERNEL(sum_parts_bf16, SquareSumArguments, kThreads) { SumParts<BF16>(args); }

// One block; the parts in order of their blocks.
WEFT_KERNEL(sum_all, SquareSumArguments, kThreads) {
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < args.count; i += static_cast<int>(blockDim.x)) sum += args.parts[i];
  sum = BlockReduce<Sum>(sum);
  if (threadIdx.x == 0) *args.y = static_cast<float>(sum);
}

WEFT_KERNEL(clip_scale, ClipArguments, 1) {
  const double count = fmax(1.0, static_cast<double>(*args.count));
  const double norm = sqrt(static_cast<double>(*args.square_sum)) / count;
  const double factor = args.clip > 0 ? fmin(1.0, args.clip / (norm + 1e-6)) : 1.0;
  *args.scale = static_cast<float>(factor / count);
  *args.norm = static_cast<float>(norm);
}

WEFT_KERNEL(sgd_f32, UpdateArguments, kThreads) { Sgd<float>(args); }
WEFT_KERNEL(sgd_bf16, UpdateArguments, kThreads) { Sgd<BF16>(args); }
WEFT_KERNEL(sgd_momentum_f32, UpdateArguments, kThreads) { SgdMomentum<float>(args); }
WEFT_KERNEL(sgd_momentum_bf16, UpdateArguments, kThreads) { SgdMomentum<BF16>(args); }
WEFT_KERNEL(adam_f32, UpdateArguments, kThreads) { Adam<float>(args); }
WEFT_KERNEL(adam_bf16, UpdateArguments, kThreads) { Adam<BF16>(args); }

WEFT_KERNEL(accumulate, AccumulateArguments, kThreads) {
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    Pack<float, kPack> x = LoadPack<kPack>(args.x + at, count);
    if (!args.first) {  // what acc holds at first is of the last step
      const Pack<float, kPack> acc = LoadPack<kPack>(args.acc + at, count);
      for (int i = 0; i < kPack; ++i) x[i] = acc[i] + x[i];
    }
    StorePack<kPack>(args.y + at, x, count);
  }
}

WEFT_KERNEL(learning_rate, AccumulateArguments, 1) { *args.y = args.value; }
