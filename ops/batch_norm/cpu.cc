// CPU kernels of batch_norm's pieces. Adds `batch_variance`, `batch_norm_apply`, `batch_norm_sums` and
// `batch_norm_grad`.
//
// Sums are kept in double and rounded to f32 once. Their order depends on the shape alone: results are the same on any
// number of threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/batch_norm/problem.h"
#include "ops/families.h"

namespace weft {
namespace {

using batch_norm::MakeProblem;
using batch_norm::Problem;
using reduce::ReducePlan;

using Inputs = absl::Span<const void* const>;
using Outputs = absl::Span<void* const>;

constexpr int64_t kGrain = 16384;  // elements that are worth a thread

// How many tasks, of `tasks` that share the elements, are worth a thread.
int64_t GrainOf(const ReducePlan& plan, int64_t tasks) {
  const int64_t work = std::max<int64_t>(1, plan.inputs / std::max<int64_t>(1, tasks));
  return (kGrain + work - 1) / work;
}

// outputs[s][k] = the sum over the elements of kept index k of terms(element, k)[s].
template <size_t kSums, typename Terms>
void SumKept(const ReducePlan& plan, int threads, const std::array<float*, kSums>& outputs, double factor,
             const Terms& terms) {
  constexpr int64_t kColumns = ReducePlan::kColumns;
  ParallelFor(threads, plan.tasks(), GrainOf(plan, plan.tasks()), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task % plan.columns * kColumns, from = plan.kept.Offset(task / plan.columns) + column;
      const int64_t first = plan.rows_reduced ? task : task / plan.columns * plan.row + column;
      const int64_t count = plan.rows_reduced ? 1 : std::min(kColumns, plan.row - column);
      double sums[kSums][kColumns];
      for (size_t s = 0; s < kSums; ++s) std::fill_n(sums[s], count, 0.0);
      for (int64_t row = 0; row < plan.reduced.count(); ++row) {
        const int64_t at = from + plan.reduced.Offset(row);
        if (plan.rows_reduced) {
          for (int64_t i = 0; i < plan.row; ++i) {
            const std::array<double, kSums> added = terms(at + i, first);
            for (size_t s = 0; s < kSums; ++s) sums[s][0] += added[s];
          }
        } else {
          WEFT_INDEPENDENT
          for (int64_t i = 0; i < count; ++i) {
            const std::array<double, kSums> added = terms(at + i, first + i);
            for (size_t s = 0; s < kSums; ++s) sums[s][i] += added[s];
          }
        }
      }
      for (size_t s = 0; s < kSums; ++s) {
        for (int64_t i = 0; i < count; ++i) outputs[s][first + i] = static_cast<float>(sums[s][i] * factor);
      }
    }
  });
}

// Calls body(element, k) for every element, k its kept index.
template <typename Body>
void ForEachElement(const ReducePlan& plan, int threads, const Body& body) {
  const int64_t rows = plan.reduced.count(), lines = plan.kept.count() * rows;
  ParallelFor(threads, lines, GrainOf(plan, lines), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t at = plan.kept.Offset(line / rows) + plan.reduced.Offset(line % rows);
      const int64_t first = plan.rows_reduced ? line / rows : line / rows * plan.row;
      if (plan.rows_reduced) {
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < plan.row; ++i) body(at + i, first);
      } else {
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < plan.row; ++i) body(at + i, first + i);
      }
    }
  });
}

const float* FloatsOf(const void* address) { return static_cast<const float*>(address); }

class BatchNormKernel : public Kernel {
 public:
  BatchNormKernel(Problem problem, int threads)
      : problem_(std::move(problem)), threads_(threads), rstd_(static_cast<size_t>(plan().outputs)) {}

 protected:
  const ReducePlan& plan() const { return problem_.plan; }
  // 1 / sqrt(variance + eps) of each kept index.
  const float* RstdOf(const void* variance) {
    for (int64_t k = 0; k < plan().outputs; ++k) rstd_[k] = 1.0f / std::sqrt(FloatsOf(variance)[k] + problem_.eps);
    return rstd_.data();
  }

  const Problem problem_;
  const int threads_;

 private:
  std::vector<float> rstd_;
};

template <typename T>
class VarianceKernel : public BatchNormKernel {
 public:
  using BatchNormKernel::BatchNormKernel;
  absl::Status Run(const RunContext&, Inputs inputs, Outputs outputs) override {
    const T* x = static_cast<const T*>(inputs[0]);
    const float* mean = FloatsOf(inputs[1]);
    SumKept<1>(plan(), threads_, {static_cast<float*>(outputs[0])}, 1 / problem_.count, [=](int64_t i, int64_t k) {
      const double distance = Widen(x[i]) - mean[k];
      return std::array<double, 1>{distance * distance};
    });
    return absl::OkStatus();
  }
};

template <typename T>
class ApplyKernel : public BatchNormKernel {
 public:
  ApplyKernel(Problem problem, int threads)
      : BatchNormKernel(std::move(problem), threads),
        scale_(static_cast<size_t>(plan().outputs)),
        shift_(static_cast<size_t>(plan().outputs)) {}

  absl::Status Run(const RunContext&, Inputs inputs, Outputs outputs) override {
    const T* x = static_cast<const T*>(inputs[0]);
    const float *mean = FloatsOf(inputs[1]), *rstd = RstdOf(inputs[2]);
    for (int64_t k = 0; k < plan().outputs; ++k) {
      scale_[k] = rstd[k] * FloatsOf(inputs[3])[k % problem_.channels];
      shift_[k] = FloatsOf(inputs[4])[k % problem_.channels];
    }
    const float *scale = scale_.data(), *shift = shift_.data();
    T* y = static_cast<T*>(outputs[0]);
    ForEachElement(plan(), threads_,
                   [=](int64_t i, int64_t k) { y[i] = Narrow<T>((Widen(x[i]) - mean[k]) * scale[k] + shift[k]); });
    return absl::OkStatus();
  }

 private:
  std::vector<float> scale_, shift_;
};

template <typename T>
class SumsKernel : public BatchNormKernel {
 public:
  using BatchNormKernel::BatchNormKernel;
  absl::Status Run(const RunContext&, Inputs inputs, Outputs outputs) override {
    const T *dy = static_cast<const T*>(inputs[0]), *x = static_cast<const T*>(inputs[1]);
    const float *mean = FloatsOf(inputs[2]), *rstd = RstdOf(inputs[3]);
    SumKept<2>(plan(), threads_, {static_cast<float*>(outputs[0]), static_cast<float*>(outputs[1])}, 1,
               [=](int64_t i, int64_t k) {
                 const double gradient = Widen(dy[i]), n = (Widen(x[i]) - mean[k]) * rstd[k];
                 return std::array<double, 2>{gradient, gradient * n};
               });
    return absl::OkStatus();
  }
};

// dx = scale (dy - before - (x - mean) slope), with what is the same for a kept index worked out once.
template <typename T>
class GradKernel : public BatchNormKernel {
 public:
  GradKernel(Problem problem, int threads)
      : BatchNormKernel(std::move(problem), threads),
        scale_(static_cast<size_t>(plan().outputs)),
        before_(static_cast<size_t>(plan().outputs)),
        slope_(static_cast<size_t>(plan().outputs)) {}

  absl::Status Run(const RunContext&, Inputs inputs, Outputs outputs) override {
    const T *dy = static_cast<const T*>(inputs[0]), *x = static_cast<const T*>(inputs[1]);
    const float *mean = FloatsOf(inputs[2]), *rstd = RstdOf(inputs[3]);
    const float share = static_cast<float>(1 / problem_.count);
    for (int64_t k = 0; k < plan().outputs; ++k) {
      scale_[k] = rstd[k] * FloatsOf(inputs[4])[k % problem_.channels];
      before_[k] = FloatsOf(inputs[5])[k] * share;
      slope_[k] = FloatsOf(inputs[6])[k] * share * rstd[k];
    }
    const float *scale = scale_.data(), *before = before_.data(), *slope = slope_.data();
    T* dx = static_cast<T*>(outputs[0]);
    ForEachElement(plan(), threads_, [=](int64_t i, int64_t k) {
      dx[i] = Narrow<T>(scale[k] * (Widen(dy[i]) - before[k] - (Widen(x[i]) - mean[k]) * slope[k]));
    });
    return absl::OkStatus();
  }

 private:
  std::vector<float> scale_, before_, slope_;
};

template <template <typename T> typename AnyKernel>
absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const char* inputs, const char* outputs) {
  WEFT_ASSIGN_OR_RETURN(Problem problem, MakeProblem(spec, inputs, outputs));
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    return std::make_unique<AnyKernel<decltype(zero)>>(problem, spec.threads);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateVariance(const KernelSpec& spec) {
  return Create<VarianceKernel>(spec, "xk", "k");
}
absl::StatusOr<std::unique_ptr<Kernel>> CreateApply(const KernelSpec& spec) {
  return Create<ApplyKernel>(spec, "xkkcc", "x");
}
absl::StatusOr<std::unique_ptr<Kernel>> CreateSums(const KernelSpec& spec) {
  return Create<SumsKernel>(spec, "xxkk", "kk");
}
absl::StatusOr<std::unique_ptr<Kernel>> CreateGrad(const KernelSpec& spec) {
  return Create<GradKernel>(spec, "xxkkckk", "x");
}

}  // namespace

void RegisterBatchNormKernels(KernelRegistry& registry) {
  registry.Register("batch_variance", &CreateVariance);
  registry.Register("batch_norm_apply", &CreateApply);
  registry.Register("batch_norm_sums", &CreateSums);
  registry.Register("batch_norm_grad", &CreateGrad);
}

}  // namespace weft
