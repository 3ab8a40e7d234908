// square_sum, clip_scale, loss_scale and learning_rate: the numbers that updates share.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/optimizer/check_spec.h"
#include "ops/optimizer/cpu_internal.h"
#include "ops/optimizer/learning_rate.h"

namespace weft::optimizer {
namespace {

// Of several tensors the sum of their sums, each rounded, in their order.
class SquareSumKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_RETURN_IF_ERROR(CheckSquares(spec));
    return std::make_unique<SquareSumKernel>(spec);
  }

  explicit SquareSumKernel(const KernelSpec& spec) : threads_(spec.threads) {
    int64_t blocks = 0;
    for (const TensorSpec& input : spec.inputs) {
      blocks += (input.elements() + kBlock - 1) / kBlock;
      tensors_.push_back({input.dtype, input.elements(), blocks});
    }
    partial_.resize(static_cast<size_t>(blocks));
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    ParallelFor(threads_, static_cast<int64_t>(partial_.size()), 2, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) partial_[b] = SumBlock(inputs, b);
    });
    float all = 0;
    for (size_t t = 0; t < tensors_.size(); ++t) {
      double sum = 0;
      for (int64_t b = FirstOf(t); b < tensors_[t].end; ++b) sum += partial_[b];
      all = t == 0 ? static_cast<float>(sum) : all + static_cast<float>(sum);
    }
    *static_cast<float*>(outputs[0]) = all;
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kBlock = 16384;

  struct Tensor {
    DType type;
    int64_t elements;
    int64_t end;  // of its blocks
  };

  int64_t FirstOf(size_t tensor) const { return tensor == 0 ? 0 : tensors_[tensor - 1].end; }

  double SumBlock(absl::Span<const void* const> inputs, int64_t block) const {
    const auto found = std::upper_bound(tensors_.begin(), tensors_.end(), block,
                                        [](int64_t b, const Tensor& tensor) { return b < tensor.end; });
    const auto t = static_cast<size_t>(found - tensors_.begin());
    const int64_t from = (block - FirstOf(t)) * kBlock, n = std::min(kBlock, found->elements - from);
    switch (found->type) {
      case DType::kBF16:
        return Sum(static_cast<const BFloat16*>(inputs[t]) + from, n);
      case DType::kF16:
        return Sum(static_cast<const Float16*>(inputs[t]) + from, n);
      default:
        return Sum(static_cast<const float*>(inputs[t]) + from, n);
    }
  }

  template <typename T>
  static double Sum(const T* x, int64_t n) {
    constexpr int64_t kLanes = 16;
    constexpr int64_t kAhead = 4096 / sizeof(T);  // a page, at whose end a processor stops to look ahead
    double lanes[kLanes] = {};
    auto add = [&](int64_t l, float v) { lanes[l] += static_cast<double>(v) * static_cast<double>(v); };
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      __builtin_prefetch(x + i + kAhead);
      for (int64_t l = 0; l < kLanes; ++l) add(l, Widen(x[i + l]));
    }
    for (int64_t l = 0; i + l < n; ++l) add(l, Widen(x[i + l]));
    double sum = 0;
    for (double lane : lanes) sum += lane;
    return sum;
  }

  int threads_;
  std::vector<Tensor> tensors_;
  std::vector<double> partial_;
};

class ClipScaleKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    const bool scaled = spec.inputs.size() == 3;
    WEFT_RETURN_IF_ERROR(MatchSpec(spec, scaled ? ",,->," : ",->,").status());
    WEFT_ASSIGN_OR_RETURN(double clip, FloatAttribute(spec, "clip_norm", 0));
    if (!(clip >= 0)) {
      return absl::InvalidArgumentError(absl::StrCat("attribute `clip_norm`: expected 0 or more, got ", clip));
    }
    return std::make_unique<ClipScaleKernel>(clip);
  }

  explicit ClipScaleKernel(double clip) : clip_(clip) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const double square_sum = *static_cast<const float*>(inputs[0]);
    const double count = std::max(1.0, static_cast<double>(*static_cast<const float*>(inputs[1])));
    const double loss_scale = inputs.size() == 3 ? *static_cast<const float*>(inputs[2]) : 1.0;
    const double norm = std::sqrt(square_sum) / (count * loss_scale);
    const double factor = clip_ > 0 ? std::min(1.0, clip_ / (norm + 1e-6)) : 1.0;
    *static_cast<float*>(outputs[0]) = static_cast<float>(factor / (count * loss_scale));
    *static_cast<float*>(outputs[1]) = static_cast<float>(norm);
    return absl::OkStatus();
  }

 private:
  double clip_;
};

class LossScaleKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_RETURN_IF_ERROR(MatchSpec(spec, ",,,->,,,").status());
    auto kernel = std::make_unique<LossScaleKernel>();
    WEFT_RETURN_IF_ERROR(ReadNumbers(spec, {{"growth_factor", &kernel->growth_},
                                            {"backoff_factor", &kernel->backoff_},
                                            {"growth_interval", &kernel->interval_},
                                            {"min", &kernel->min_},
                                            {"max", &kernel->max_}}));
    return kernel;
  }

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const auto in = [&](int i) -> double { return *static_cast<const float*>(inputs[i]); };
    double scale = in(1), good = in(2), skipped = in(3), step = 0;
    if (std::isfinite(in(0))) {
      step = static_cast<double>(context.step) + 1 - skipped;
      good += 1;
      if (good >= interval_) {
        scale = std::min(scale * growth_, max_);
        good = 0;
      }
    } else {
      scale = std::max(scale * backoff_, min_);
      good = 0;
      skipped += 1;
    }
    const double results[] = {step, scale, good, skipped};
    for (int i = 0; i < 4; ++i) *static_cast<float*>(outputs[i]) = static_cast<float>(results[i]);
    return absl::OkStatus();
  }

 private:
  double growth_ = 0, backoff_ = 0, interval_ = 0, min_ = 0, max_ = 0;
};

class LearningRateKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_RETURN_IF_ERROR(MatchSpec(spec, "->").status());
    WEFT_ASSIGN_OR_RETURN(LearningRate rate, LearningRate::Create(spec));
    return std::make_unique<LearningRateKernel>(rate);
  }

  explicit LearningRateKernel(const LearningRate& rate) : rate_(rate) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const>, absl::Span<void* const> outputs) override {
    *static_cast<float*>(outputs[0]) = rate_.At(context.step);
    return absl::OkStatus();
  }

 private:
  LearningRate rate_;
};

}  // namespace

void RegisterScalars(KernelRegistry& registry) {
  registry.Register("square_sum", &SquareSumKernel::Create);
  registry.Register("clip_scale", &ClipScaleKernel::Create);
  registry.Register("loss_scale", &LossScaleKernel::Create);
  registry.Register("learning_rate", &LearningRateKernel::Create);
}

}  // namespace weft::optimizer
