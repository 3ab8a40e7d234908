// CPU kernels of the softmax family.
// Adds `softmax` and `softmax_grad`, over the last dim. Results do not depend on the number of threads.
#include <memory>

#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"
#include "ops/math/reduce_lanes.h"
#include "ops/math/vector_math.h"

namespace weft {
namespace {

constexpr int64_t kGrain = 8 * 1024;  // elements that are worth a thread

void SoftmaxRow(const float* x, float* y, int64_t n) {
  const float largest = LargestOf(x, n);
  WEFT_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) y[i] = Exp(x[i] - largest);
  const float factor = 1.0f / SumLanes(n, [&](int64_t i) { return y[i]; });
  for (int64_t i = 0; i < n; ++i) y[i] *= factor;
}

// dx = y * (dy - sum(dy * y)).
void SoftmaxGradRow(const float* dy, const float* y, float* dx, int64_t n) {
  const float mean = SumLanes(n, [&](int64_t i) { return dy[i] * y[i]; });
  WEFT_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - mean);
}

class RowKernel : public Kernel {
 public:
  RowKernel(const Extents& extents, int threads) : rows_(extents.rows()), n_(extents['v']), threads_(threads) {}

 protected:
  // Calls body(offset of the row) for every row.
  template <typename Body>
  void ForRows(const Body& body) const {
    ParallelFor(threads_, rows_, kGrain / (n_ + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) body(row * n_);
    });
  }

  const int64_t rows_, n_;
  const int threads_;
};

class SoftmaxKernel : public RowKernel {
 public:
  using RowKernel::RowKernel;
  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const float* x = static_cast<const float*>(inputs[0]);
    float* y = static_cast<float*>(outputs[0]);
    ForRows([&](int64_t at) { SoftmaxRow(x + at, y + at, n_); });
    return absl::OkStatus();
  }
};

class SoftmaxGradKernel : public RowKernel {
 public:
  using RowKernel::RowKernel;
  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const float* dy = static_cast<const float*>(inputs[0]);
    const float* y = static_cast<const float*>(inputs[1]);
    float* dx = static_cast<float*>(outputs[0]);
    ForRows([&](int64_t at) { SoftmaxGradRow(dy + at, y + at, dx + at, n_); });
    return absl::OkStatus();
  }
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateSoftmax(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, ".v->.v"));
  return std::make_unique<SoftmaxKernel>(extents, spec.threads);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateSoftmaxGrad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, ".v,.v->.v"));
  return std::make_unique<SoftmaxGradKernel>(extents, spec.threads);
}

}  // namespace

void RegisterSoftmaxKernels(KernelRegistry& registry) {
  registry.Register("softmax", CreateSoftmax);
  registry.Register("softmax_grad", CreateSoftmaxGrad);
}

}  // namespace weft
