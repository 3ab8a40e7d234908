// The formulas are those of cpu_scalars.cc and cpu_accumulate.cc. New values may be in place of the old.
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

constexpr int kPack = 4;

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
