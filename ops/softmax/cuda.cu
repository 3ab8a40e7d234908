// A block does a row at a time, each thread the same packs of it in every pass,
// so that an output may have an input's address.
#include "ops/cuda/kernel.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/types.h"
#include "ops/softmax/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::softmax;

// Calls body(element, value) for this thread's elements of a row.
template <typename T, typename Body>
WEFT_DEVICE void ForRow(const T* row, int64_t n, const Body& body) {
  constexpr int kPack = Pack<T>::kSize;
  for (int64_t at = int64_t{threadIdx.x} * kPack; at < n; at += int64_t{blockDim.x} * kPack) {
    const Pack<T> pack = LoadPack<kPack>(row + at, n - at);
    for (int i = 0; i < kPack && at + i < n; ++i) body(at + i, Widen(pack[i]));
  }
}

// y = exp(x - max x) / sum exp(x - max x).
template <typename T>
WEFT_DEVICE void Softmax(const SoftmaxArguments& args) {
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const T* x = static_cast<const T*>(args.x) + row * args.n;
    T* y = static_cast<T*>(args.y) + row * args.n;
    float largest = -INFINITY;
    ForRow(x, args.n, [&](int64_t, float value) { largest = Max::Of(largest, value); });
    largest = BlockReduce<Max>(largest);
    float sum = 0;
    ForRow(x, args.n, [&](int64_t, float value) { sum += expf(value - largest); });
    const float factor = 1.0f / BlockReduce<Sum>(sum);
    ForRow(x, args.n, [&](int64_t i, float value) { y[i] = Narrow<T>(expf(value - largest) * factor); });
  }
}

// dx = y (dy - sum of dy y).
template <typename T>
WEFT_DEVICE void SoftmaxGrad(const SoftmaxArguments& args) {
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const T* dy = static_cast<const T*>(args.x) + row * args.n;
    const T* y = static_cast<const T*>(args.y_in) + row * args.n;
    T* dx = static_cast<T*>(args.y) + row * args.n;
    float sum = 0;
    ForRow(dy, args.n, [&](int64_t i, float value) { sum += value * Widen(y[i]); });
    sum = BlockReduce<Sum>(sum);
    ForRow(dy, args.n, [&](int64_t i, float value) { dx[i] = Narrow<T>(Widen(y[i]) * (value - sum)); });
  }
}

}  // namespace

WEFT_KERNEL(softmax_f32, SoftmaxArguments, kThreads) { Softmax<float>(args); }
WEFT_KERNEL(softmax_bf16, SoftmaxArguments, kThreads) { Softmax<BF16>(args); }
WEFT_KERNEL(softmax_f16, SoftmaxArguments, kThreads) { Softmax<F16>(args); }
WEFT_KERNEL(softmax_grad_f32, SoftmaxArguments, kThreads) { SoftmaxGrad<float>(args); }
WEFT_KERNEL(softmax_grad_bf16, SoftmaxArguments, kThreads) { SoftmaxGrad<BF16>(args); }
WEFT_KERNEL(softmax_grad_f16, SoftmaxArguments, kThreads) { SoftmaxGrad<F16>(args); }
