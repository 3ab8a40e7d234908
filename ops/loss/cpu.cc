// CPU kernels of the cross entropy's parts: sum_exp, pick, cross_entropy_loss,
// cross_entropy_grad. Logits may be a tile of the vocabulary. A label that is
// neither `ignore_index` nor within the whole vocabulary is an error of Run().
//
// sum_exp adds in double what Exp() gives (1.5 ulp each), so its relative
// error is at most 4 2^-24 beside that of rounding logit - max, whatever the
// vocabulary. cross_entropy_loss works in double and rounds once. Both add in
// an order that depends on the shape alone.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"
#include "ops/math/vector_math.h"

namespace weft {
namespace {

constexpr int64_t kGrain = 4096;  // logits
constexpr int64_t kIgnoreByDefault = -100;

int64_t RowGrain(int64_t row) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(row, 1)); }

absl::StatusOr<int64_t> IgnoreIndex(const KernelSpec& spec) {
  if (!spec.attributes.Has("ignore_index")) return kIgnoreByDefault;
  return spec.attributes.Int("ignore_index");
}

// Whether rows have weights, behind the operands that there are without.
bool HasWeights(const KernelSpec& spec, size_t without) { return spec.inputs.size() > without; }

// What the label and every class are to be, of probabilities.
struct Targets {
  float label = 1, all = 0;

  static absl::StatusOr<Targets> Of(const KernelSpec& spec, int64_t classes) {
    WEFT_ASSIGN_OR_RETURN(double smoothing, FloatAttribute(spec, "label_smoothing", 0));
    const double all = smoothing / static_cast<double>(classes);
    return Targets{static_cast<float>(1 - smoothing + all), static_cast<float>(all)};
  }
};

// Labels of the whole vocabulary, seen from a tile [begin, begin + count) of it.
class Labels {
 public:
  Labels() = default;
  Labels(const TensorSpec& logits, int64_t ignore)
      : size_(logits.global_dims.back()), begin_(logits.origin.back()), count_(logits.dims.back()), ignore_(ignore) {}

  bool Ignored(int32_t label) const { return label == ignore_; }
  // The label's column in the tile, -1 if it is ignored or in another tile.
  int64_t Column(int32_t label) const {
    const int64_t column = label - begin_;
    return !Ignored(label) && column >= 0 && column < count_ ? column : -1;
  }
  absl::Status Check(const int32_t* labels, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      if ((labels[i] < 0 || labels[i] >= size_) && !Ignored(labels[i])) {
        return absl::OutOfRangeError(absl::StrCat("label of position ", i, ": expected 0 to ", size_ - 1, " or ",
                                                  ignore_, " to ignore it, got ", labels[i]));
      }
    }
    return absl::OkStatus();
  }

 private:
  int64_t size_ = 0, begin_ = 0, count_ = 0, ignore_ = kIgnoreByDefault;
};

// sum[row] = sum over v of exp(logit - max[row]).
template <typename T>
class SumExpKernel : public Kernel {
 public:
  SumExpKernel(int threads, int64_t rows, int64_t row) : threads_(threads), rows_(rows), row_(row) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* logits = static_cast<const T*>(inputs[0]);
    const auto* max = static_cast<const float*>(inputs[1]);
    auto* sum = static_cast<float*>(outputs[0]);
    ParallelFor(threads_, rows_, RowGrain(row_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum[i] = SumRow(logits + i * row_, max[i]);
    });
    return absl::OkStatus();
  }

 private:
  // A block's exponentials first, then their sum: each loop vectorises.
  float SumRow(const T* x, float max) const {
    constexpr int64_t kBlock = 256, kLanes = 16;
    alignas(64) float values[kBlock];
    double lanes[kLanes] = {};
    for (int64_t at = 0; at < row_; at += kBlock) {
      const int64_t n = std::min(kBlock, row_ - at);
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) values[i] = Exp(Widen(x[at + i]) - max);
      int64_t i = 0;
      for (; i + kLanes <= n; i += kLanes) {
        for (int64_t l = 0; l < kLanes; ++l) lanes[l] += static_cast<double>(values[i + l]);
      }
      for (int64_t l = 0; i + l < n; ++l) lanes[l] += static_cast<double>(values[i + l]);
    }
    double sum = 0;
    for (double lane : lanes) sum += lane;
    return static_cast<float>(sum);
  }

  int threads_;
  int64_t rows_, row_;
};

// y[row] = logits[row, labels[row]].
template <typename T>
class PickKernel : public Kernel {
 public:
  PickKernel(int64_t rows, int64_t row, Labels labels) : rows_(rows), row_(row), labels_(labels) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* logits = static_cast<const T*>(inputs[0]);
    const auto* labels = static_cast<const int32_t*>(inputs[1]);
    auto* y = static_cast<float*>(outputs[0]);
    WEFT_RETURN_IF_ERROR(labels_.Check(labels, rows_));
    for (int64_t i = 0; i < rows_; ++i) {
      const int64_t column = labels_.Column(labels[i]);
      y[i] = column >= 0 ? Widen(logits[i * row_ + column]) : 0.0f;
    }
    return absl::OkStatus();
  }

 private:
  int64_t rows_, row_;
  Labels labels_;
};

// loss = sum over the rows that count of log(sum) + max - picked, each as often as its weight says.
class CrossEntropyLossKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(Extents extents,
                          MatchSpec(spec, HasWeights(spec, 4) ? ".,.,.,i32:.,.->," : ".,.,.,i32:.->,"));
    WEFT_ASSIGN_OR_RETURN(int64_t ignore, IgnoreIndex(spec));
    return std::make_unique<CrossEntropyLossKernel>(spec.threads, extents.rows(), ignore);
  }

  CrossEntropyLossKernel(int threads, int64_t rows, int64_t ignore)
      : threads_(threads), rows_(rows), ignore_(ignore), partial_(static_cast<size_t>((rows + kBlock - 1) / kBlock)) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto blocks = static_cast<int64_t>(partial_.size());
    ParallelFor(threads_, blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        partial_[b] = SumBlock(inputs, b * kBlock, std::min((b + 1) * kBlock, rows_));
      }
    });
    Sum sum;
    for (const Sum& part : partial_) sum = {sum.loss + part.loss, sum.count + part.count};
    *static_cast<float*>(outputs[0]) = static_cast<float>(sum.loss);
    *static_cast<float*>(outputs[1]) = static_cast<float>(sum.count);
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kBlock = 1024;
  struct Sum {
    double loss = 0, count = 0;
  };

  Sum SumBlock(absl::Span<const void* const> inputs, int64_t begin, int64_t end) const {
    const auto* max = static_cast<const float*>(inputs[0]);
    const auto* sum = static_cast<const float*>(inputs[1]);
    const auto* picked = static_cast<const float*>(inputs[2]);
    const auto* labels = static_cast<const int32_t*>(inputs[3]);
    const auto* weights = inputs.size() == 5 ? static_cast<const float*>(inputs[4]) : nullptr;
    Sum result;
    for (int64_t i = begin; i < end; ++i) {
      if (labels[i] == ignore_) continue;
      const double weight = weights != nullptr ? weights[i] : 1;
      if (weight == 0) continue;  // even if the row's loss is infinite
      result.loss += weight * (std::log(static_cast<double>(sum[i])) + (static_cast<double>(max[i]) - picked[i]));
      result.count += weight;
    }
    return result;
  }

  int threads_;
  int64_t rows_, ignore_;
  std::vector<Sum> partial_;
};

// dlogits = dloss weight (exp(logit - max) / sum - target), where a row's target
// is that of the label or of every class; 0 in ignored rows. May be in place of the logits.
template <typename T>
class CrossEntropyGradKernel : public Kernel {
 public:
  CrossEntropyGradKernel(int threads, int64_t rows, int64_t row, Labels labels, Targets targets)
      : threads_(threads), rows_(rows), row_(row), labels_(labels), targets_(targets) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const float scale = *static_cast<const float*>(inputs[0]);
    const auto* logits = static_cast<const T*>(inputs[1]);
    const auto* max = static_cast<const float*>(inputs[2]);
    const auto* sum = static_cast<const float*>(inputs[3]);
    const auto* labels = static_cast<const int32_t*>(inputs[4]);
    const auto* weights = inputs.size() == 6 ? static_cast<const float*>(inputs[5]) : nullptr;
    auto* y = static_cast<T*>(outputs[0]);
    WEFT_RETURN_IF_ERROR(labels_.Check(labels, rows_));
    ParallelFor(threads_, rows_, RowGrain(row_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float weight = weights != nullptr ? weights[i] : 1.0f;
        if (labels_.Ignored(labels[i]) || weight == 0) {
          std::fill_n(y + i * row_, row_, T{});
        } else {
          GradRow(logits + i * row_, max[i], 1.0f / sum[i], scale * weight, labels_.Column(labels[i]), y + i * row_);
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  void GradRow(const T* x, float max, float inverse, float scale, int64_t column, T* y) const {
    // Aside, for two reasons: y may be in place of x, and p - 1 is exact near 1.
    const float at_label = column >= 0 ? scale * (Exp(Widen(x[column]) - max) * inverse - targets_.label) : 0.0f;
    const float factor = scale * inverse, taken_off = scale * targets_.all;
    WEFT_INDEPENDENT
    for (int64_t v = 0; v < row_; ++v) y[v] = Narrow<T>(Exp(Widen(x[v]) - max) * factor - taken_off);
    if (column >= 0) y[column] = Narrow<T>(at_label);
  }

  int threads_;
  int64_t rows_, row_;
  Labels labels_;
  Targets targets_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateSumExp(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.v,.->."));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<SumExpKernel<decltype(zero)>>(spec.threads, extents.rows(), extents['v']);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreatePick(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.v,i32:.->."));
  WEFT_ASSIGN_OR_RETURN(int64_t ignore, IgnoreIndex(spec));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<PickKernel<decltype(zero)>>(extents.rows(), extents['v'], Labels(spec.inputs[0], ignore));
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateGrad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, HasWeights(spec, 5) ? ",float:.v,.,.,i32:.,.->float:.v"
                                                                             : ",float:.v,.,.,i32:.->float:.v"));
  WEFT_ASSIGN_OR_RETURN(int64_t ignore, IgnoreIndex(spec));
  WEFT_ASSIGN_OR_RETURN(Targets targets, Targets::Of(spec, spec.inputs[1].global_dims.back()));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<CrossEntropyGradKernel<decltype(zero)>>(spec.threads, extents.rows(), extents['v'],
                                                                    Labels(spec.inputs[1], ignore), targets);
  });
}

}  // namespace

void RegisterLossKernels(KernelRegistry& registry) {
  registry.Register("sum_exp", &CreateSumExp);
  registry.Register("pick", &CreatePick);
  registry.Register("cross_entropy_loss", &CrossEntropyLossKernel::Create);
  registry.Register("cross_entropy_grad", &CreateGrad);
}

}  // namespace weft
