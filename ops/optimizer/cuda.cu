// One pass over the parameters each; the formulas are those of cpu_updates.cc and
// cpu_scalars.cc. New values may be in place of the old.
#include "ops/cuda/kernel.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/types.h"
#include "ops/optimizer/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::optimizer;

// The tensor that a block has.
WEFT_DEVICE int TensorOf(const SquareSumArguments& args) {
  int at = 0;
  for (int step = SquareSumArguments::kMost / 2; step > 0; step /= 2) {
    if (at + step < args.tensors && args.each[at + step].first <= static_cast<int>(blockIdx.x)) at += step;
  }
  return at;
}

// The block behind a tensor's last one.
WEFT_DEVICE int EndOf(const SquareSumArguments& args, int tensor) {
  return tensor + 1 < args.tensors ? args.each[tensor + 1].first : args.blocks;
}

// What a thread of a block has of its tensor's sum: in double, elements in order.
template <typename T>
WEFT_DEVICE double SumOfSquares(const SquareSumArguments::Tensor& tensor, int blocks) {
  double sum = 0;
  const int64_t step = static_cast<int64_t>(blocks) * blockDim.x;
  for (int64_t i = int64_t{static_cast<int>(blockIdx.x) - tensor.first} * blockDim.x + threadIdx.x; i < tensor.n;
       i += step) {
    const double x = static_cast<double>(Widen(static_cast<const T*>(tensor.x)[i]));
    sum += x * x;
  }
  return sum;
}

// One pass over the parameters, in packs of four: `next(p, g, state)` is the next value of an element, and overwrites
// its state; `g` is not yet scaled. A step that is skipped leaves all as it is, whatever the rule.
constexpr int kPack = 4;
template <typename G, int kState, typename Next>
WEFT_DEVICE void Update(const UpdateTensors& args, const Next& next) {
  const bool skipped = args.step != nullptr && *args.step == 0;
  for (int64_t pack : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = pack * kPack, count = args.n - at;
    const Pack<G, kPack> g = LoadPack<kPack>(static_cast<const G*>(args.g) + at, count);
    Pack<float, kPack> p = LoadPack<kPack>(args.p + at, count), state[kState + 1];  // one more: none would be no array
    for (int k = 0; k < kState; ++k) state[k] = LoadPack<kPack>(args.state[k] + at, count);
    for (int i = 0; i < kPack && !skipped; ++i) {
      float kept[kState + 1];
      for (int k = 0; k < kState; ++k) kept[k] = state[k][i];
      p[i] = next(p[i], Widen(g[i]), kept);
      for (int k = 0; k < kState; ++k) state[k][i] = kept[k];
    }
    StorePack<kPack>(args.p2 + at, p, count);
    for (int k = 0; k < kState; ++k) StorePack<kPack>(args.next[k] + at, state[k], count);
  }
}

template <typename G>
WEFT_DEVICE void Sgd(const SgdArguments& args) {
  const float lr = *args.tensors.lr, scale = *args.tensors.scale, decay = args.decay;
  Update<G, 0>(args.tensors, [&](float p, float g, float*) { return p - lr * (g * scale + decay * p); });
}

template <typename G>
WEFT_DEVICE void SgdMomentum(const SgdMomentumArguments& args) {
  const float lr = *args.tensors.lr, scale = *args.tensors.scale, momentum = args.momentum, decay = args.decay;
  Update<G, 1>(args.tensors, [&](float p, float g, float* v) {
    v[0] = momentum * v[0] + (g * scale + decay * p);
    return p - lr * v[0];
  });
}

// What Adam's averages, which begin with 0, are short of at this step: worked out once a block. Called by all of it.
struct Corrections {
  double bias1;
  float correction;
};
WEFT_DEVICE Corrections CorrectionsOf(const AdamArguments& args) {
  if (args.tensors.step == nullptr) return {*args.bias1, static_cast<float>(*args.correction)};
  __shared__ Corrections made;
  if (threadIdx.x == 0) {
    const double t = *args.tensors.step;
    made = {1 - pow(args.betas[0], t), static_cast<float>(1 / (1 - pow(args.betas[1], t)))};
  }
  __syncthreads();
  return made;
}

template <typename G>
WEFT_DEVICE void Adam(const AdamArguments& args) {
  const double lr = *args.tensors.lr;
  const Corrections short_of = CorrectionsOf(args);
  const float scale = *args.tensors.scale, rate = static_cast<float>(lr / short_of.bias1);
  const float shrink = static_cast<float>(lr * args.decoupled);
  Update<G, 2>(args.tensors, [&](float p, float g, float* moments) {
    const float gradient = g * scale + args.coupled * p;
    moments[0] = args.beta1 * moments[0] + args.rest1 * gradient;
    moments[1] = args.beta2 * moments[1] + args.rest2 * (gradient * gradient);
    return (p - shrink * p) - rate * moments[0] / (sqrtf(moments[1] * short_of.correction) + args.eps);
  });
}

}  // namespace

WEFT_KERNEL(square_parts, SquareSumArguments, kThreads) {
  const int at = TensorOf(args);
  const SquareSumArguments::Tensor& tensor = args.each[at];
  const int blocks = EndOf(args, at) - tensor.first;
  double sum = 0;
  switch (tensor.type) {
    case Stored::kF32:
      sum = SumOfSquares<float>(tensor, blocks);
      break;
    case Stored::kBF16:
      sum = SumOfSquares<BF16>(tensor, blocks);
      break;
    case Stored::kF16:
      sum = SumOfSquares<F16>(tensor, blocks);
      break;
  }
  sum = BlockReduce<Sum>(sum);
  if (threadIdx.x == 0) args.parts[blockIdx.x] = sum;
}

// A tensor's parts in order of their blocks.
WEFT_KERNEL(square_totals, SquareSumArguments, kThreads) {
  const int at = static_cast<int>(blockIdx.x), end = EndOf(args, at);
  double sum = 0;
  for (int i = args.each[at].first + static_cast<int>(threadIdx.x); i < end; i += static_cast<int>(blockDim.x)) {
    sum += args.parts[i];
  }
  sum = BlockReduce<Sum>(sum);
  if (threadIdx.x == 0) args.sums[at] = static_cast<float>(sum);
}

WEFT_KERNEL(sum_in_order, SumInOrderArguments, 1) {
  float sum = args.x[0];
  for (int i = 1; i < args.n; ++i) sum += args.x[i];
  *args.y = sum;
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

WEFT_KERNEL(sgd_f32, SgdArguments, kThreads) { Sgd<float>(args); }
WEFT_KERNEL(sgd_bf16, SgdArguments, kThreads) { Sgd<BF16>(args); }
WEFT_KERNEL(sgd_f16, SgdArguments, kThreads) { Sgd<F16>(args); }
WEFT_KERNEL(sgd_momentum_f32, SgdMomentumArguments, kThreads) { SgdMomentum<float>(args); }
WEFT_KERNEL(sgd_momentum_bf16, SgdMomentumArguments, kThreads) { SgdMomentum<BF16>(args); }
WEFT_KERNEL(sgd_momentum_f16, SgdMomentumArguments, kThreads) { SgdMomentum<F16>(args); }
WEFT_KERNEL(adam_f32, AdamArguments, kThreads) { Adam<float>(args); }
WEFT_KERNEL(adam_bf16, AdamArguments, kThreads) { Adam<BF16>(args); }
WEFT_KERNEL(adam_f16, AdamArguments, kThreads) { Adam<F16>(args); }

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
