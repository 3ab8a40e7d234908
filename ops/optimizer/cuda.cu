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

// A step that is skipped leaves all as it is.
WEFT_DEVICE bool IsSkipped(const UpdateArguments& args) { return args.step != nullptr && *args.step == 0; }

template <typename G>
WEFT_DEVICE void Sgd(const UpdateArguments& args) {
  const float lr = *args.lr, scale = *args.scale;
  const bool skipped = IsSkipped(args);
  ForPacks<G>(args, [&](int64_t at, const Pack<float, kPack>& g, int64_t count) {
    Pack<float, kPack> p = LoadPack<kPack>(args.p + at, count);
    for (int i = 0; i < kPack && !skipped; ++i) p[i] = p[i] - lr * (g[i] * scale + args.decay * p[i]);
    StorePack<kPack>(args.p2 + at, p, count);
  });
}

template <typename G>
WEFT_DEVICE void SgdMomentum(const UpdateArguments& args) {
  const float lr = *args.lr, scale = *args.scale;
  const bool skipped = IsSkipped(args);
  ForPacks<G>(args, [&](int64_t at, const Pack<float, kPack>& g, int64_t count) {
    Pack<float, kPack> p = LoadPack<kPack>(args.p + at, count), v = LoadPack<kPack>(args.v + at, count);
    for (int i = 0; i < kPack && !skipped; ++i) {
      v[i] = args.momentum * v[i] + (g[i] * scale + args.decay * p[i]);
      p[i] = p[i] - lr * v[i];
    }
    StorePack<kPack>(args.p2 + at, p, count);
    StorePack<kPack>(args.v2 + at, v, count);
  });
}

// What Adam's averages, which begin with 0, are short of at this step: worked out once a block. Called by all of it.
struct Corrections {
  double bias1;
  float correction;
};
WEFT_DEVICE Corrections CorrectionsOf(const UpdateArguments& args) {
  if (args.step == nullptr) return {*args.bias1, static_cast<float>(*args.correction)};
  __shared__ Corrections made;
  if (threadIdx.x == 0) {
    const double t = *args.step;
    made = {1 - pow(args.betas[0], t), static_cast<float>(1 / (1 - pow(args.betas[1], t)))};
  }
  __syncthreads();
  return made;
}

template <typename G>
WEFT_DEVICE void Adam(const UpdateArguments& args) {
  const double lr = *args.lr;
  const Corrections short_of = CorrectionsOf(args);
  const float scale = *args.scale, rate = static_cast<float>(lr / short_of.bias1);
  const bool skipped = IsSkipped(args);
  const float shrink = static_cast<float>(lr * args.decoupled);
  ForPacks<G>(args, [&](int64_t at, const Pack<float, kPack>& g, int64_t count) {
    Pack<float, kPack> p = LoadPack<kPack>(args.p + at, count);
    Pack<float, kPack> m = LoadPack<kPack>(args.m + at, count), v = LoadPack<kPack>(args.v + at, count);
    for (int i = 0; i < kPack && !skipped; ++i) {
      const float gradient = g[i] * scale + args.coupled * p[i];
      m[i] = args.beta1 * m[i] + args.rest1 * gradient;
      v[i] = args.beta2 * v[i] + args.rest2 * (gradient * gradient);
      p[i] = (p[i] - shrink * p[i]) - rate * m[i] / (sqrtf(v[i] * short_of.correction) + args.eps);
    }
    StorePack<kPack>(args.p2 + at, p, count);
    StorePack<kPack>(args.m2 + at, m, count);
    StorePack<kPack>(args.v2 + at, v, count);
  });
}

}  // namespace

WEFT_KERNEL(sum_parts_f32, SquareSumArguments, kThreads) { SumParts<float>(args); }
WEFT_KERNEL(sum_parts_bf16, SquareSumArguments, kThreads) { SumParts<BF16>(args); }
WEFT_KERNEL(sum_parts_f16, SquareSumArguments, kThreads) { SumParts<F16>(args); }

// One block; the parts in order of their blocks.
WEFT_KERNEL(sum_all, SquareSumArguments, kThreads) {
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < args.count; i += static_cast<int>(blockDim.x)) sum += args.parts[i];
  sum = BlockReduce<Sum>(sum);
  if (threadIdx.x == 0) *args.y = static_cast<float>(sum);
}

WEFT_KERNEL(clip_scale, ClipArguments, 1) {
  const double count = fmax(1.0, static_cast<double>(*args.count));
  const double times = args.loss_scale != nullptr ? count * static_cast<double>(*args.loss_scale) : count;
  const double norm = sqrt(static_cast<double>(*args.square_sum)) / times;
  const double factor = args.clip > 0 ? fmin(1.0, args.clip / (norm + 1e-6)) : 1.0;
  *args.scale = static_cast<float>(factor / times);
  *args.norm = static_cast<float>(norm);
}

WEFT_KERNEL(loss_scale, LossScaleArguments, 1) {
  const float square_sum = *args.in[0];
  double scale = *args.in[1], good = *args.in[2], skipped = *args.in[3], step = 0;
  if (square_sum - square_sum == 0) {  // finite
    step = *args.run_step - skipped;
    good += 1;
    if (good >= args.interval) {
      scale = fmin(scale * args.growth, args.max);
      good = 0;
    }
  } else {
    scale = fmax(scale * args.backoff, args.min);
    good = 0;
    skipped += 1;
  }
  const double results[] = {step, scale, good, skipped};
  for (int i = 0; i < 4; ++i) *args.out[i] = static_cast<float>(results[i]);
}

WEFT_KERNEL(sgd_f32, UpdateArguments, kThreads) { Sgd<float>(args); }
WEFT_KERNEL(sgd_bf16, UpdateArguments, kThreads) { Sgd<BF16>(args); }
WEFT_KERNEL(sgd_f16, UpdateArguments, kThreads) { Sgd<F16>(args); }
WEFT_KERNEL(sgd_momentum_f32, UpdateArguments, kThreads) { SgdMomentum<float>(args); }
WEFT_KERNEL(sgd_momentum_bf16, UpdateArguments, kThreads) { SgdMomentum<BF16>(args); }
WEFT_KERNEL(sgd_momentum_f16, UpdateArguments, kThreads) { SgdMomentum<F16>(args); }
WEFT_KERNEL(adam_f32, UpdateArguments, kThreads) { Adam<float>(args); }
WEFT_KERNEL(adam_bf16, UpdateArguments, kThreads) { Adam<BF16>(args); }
WEFT_KERNEL(adam_f16, UpdateArguments, kThreads) { Adam<F16>(args); }

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

WEFT_KERNEL(learning_rate, LearningRateArguments, 1) { *args.y = static_cast<float>(*args.rate); }
