// Parts of the cross entropy over a vocabulary that may be split. The formulas
// are those of cpu.cc; sums in double, in an order that the shape alone decides.
#include "ops/cuda/kernel.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/types.h"
#include "ops/loss/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using weft::loss::kThreads;
using weft::loss::LossArguments;

// The label's column in the tile, -1 if it is ignored, in another tile, or wrong:
// then the alarm is raised.
WEFT_DEVICE int64_t ColumnOf(const LossArguments& args, int64_t row) {
  const int32_t label = args.labels[row];
  if (label == args.ignore) return -1;
  if (label < 0 || label >= args.size) {
    Raise(args.alarm, row, label);
    return -1;
  }
  const int64_t column = label - args.begin;
  return column >= 0 && column < args.n ? column : -1;
}

// y[row] = sum over v of exp(logit - max[row]); a block a row.
template <typename T>
WEFT_DEVICE void SumExp(const LossArguments& args) {
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const T* x = static_cast<const T*>(args.logits) + row * args.n;
    const float max = args.max[row];
    double sum = 0;
    EachPack(x, args.n, [&](int64_t, const Pack<T>& pack, int count) {
      for (int i = 0; i < Pack<T>::kSize; ++i) {
        if (i < count) sum += static_cast<double>(expf(Widen(pack[i]) - max));
      }
    });
    sum = BlockReduce<Sum>(sum);
    if (threadIdx.x == 0) static_cast<float*>(args.y)[row] = static_cast<float>(sum);
  }
}

// y[row] = logits[row, labels[row]], or 0.
template <typename T>
WEFT_DEVICE void Pick(const LossArguments& args) {
  const T* logits = static_cast<const T*>(args.logits);
  for (int64_t row : EachOf(args.rows)) {
    const int64_t column = ColumnOf(args, row);
    static_cast<float*>(args.y)[row] = column >= 0 ? Widen(logits[row * args.n + column]) : 0.0f;
  }
}

// The weight of a row, 0 if it is ignored.
WEFT_DEVICE float WeightOf(const LossArguments& args, int64_t row) {
  if (args.labels[row] == args.ignore) return 0.0f;
  return args.weights != nullptr ? args.weights[row] : 1.0f;
}

// y = dloss weight (exp(logit - max) / sum - target), 0 in ignored rows; a block a row. Each element is read by the
// thread that writes it, and before it does, so y may be in place of the logits.
template <typename T>
WEFT_DEVICE void Gradient(const LossArguments& args) {
  const float scale = *args.scale;
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const T* x = static_cast<const T*>(args.logits) + row * args.n;
    T* y = static_cast<T*>(args.y) + row * args.n;
    const float weight = WeightOf(args, row), factor = scale * weight;
    const int64_t column = ColumnOf(args, row);
    const float max = args.max[row], inverse = 1.0f / args.sum[row];
    EachPack(x, args.n, [&](int64_t first, const Pack<T>& pack, int count) {
      const int label = column >= first && column < first + count ? static_cast<int>(column - first) : -1;
      Pack<T> result;
      for (int i = 0; i < Pack<T>::kSize; ++i) {
        const float p = expf(Widen(pack[i]) - max) * inverse;
        const float target = i == label ? args.target_of_label : args.target_of_all;
        result[i] = Narrow<T>(weight == 0 ? 0.0f : factor * (p - target));
      }
      StorePack(y + first, result, count);
    });
  }
}

}  // namespace

#define WEFT_LOSS_OF(T, type)                                               \
  WEFT_KERNEL(sum_exp_##type, LossArguments, kThreads) { SumExp<T>(args); } \
  WEFT_KERNEL(pick_##type, LossArguments, kThreads) { Pick<T>(args); }      \
  WEFT_KERNEL(cross_entropy_grad_##type, LossArguments, kThreads) { Gradient<T>(args); }

WEFT_LOSS_OF(float, f32)
WEFT_LOSS_OF(BF16, bf16)
WEFT_LOSS_OF(F16, f16)

// The weighted sum over the rows of log(sum) + max - picked, and that of the weights; one block.
WEFT_KERNEL(cross_entropy_loss, LossArguments, kThreads) {
  double loss = 0, count = 0;
  for (int64_t row = threadIdx.x; row < args.rows; row += blockDim.x) {
    const double weight = WeightOf(args, row);
    if (weight == 0) continue;
    loss +=
        weight * (log(static_cast<double>(args.sum[row])) + (static_cast<double>(args.max[row]) - args.picked[row]));
    count += weight;
  }
  loss = BlockReduce<Sum>(loss);
  count = BlockReduce<Sum>(count);
  if (threadIdx.x == 0) {
    *static_cast<float*>(args.y) = static_cast<float>(loss);
    *args.count_out = static_cast<float>(count);
  }
}
