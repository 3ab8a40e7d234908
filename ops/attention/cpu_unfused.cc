// CPU kernels of attention that stores its weights: `attention_unfused`, `attention_unfused_grad` and
// `attention_unfused_bias_grad`.
// They are what the cost model has models of 2021 run; the fused ones are faster. Threads share out heads.
#include "ops/attention/cpu_unfused.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/attention/problem.h"

namespace weft::attention {
namespace {

// Offsets of rows, in elements; the weights are [batch, query_heads, queries, keys].
struct Places : Problem {
  int64_t Query(int64_t b, int64_t row, int64_t head) const {
    return ((b * queries + row) * query_heads + head) * depth;
  }
  int64_t Key(int64_t b, int64_t row, int64_t head) const { return ((b * keys + row) * key_heads + head) * depth; }
  int64_t Weights(int64_t b, int64_t head, int64_t row) const {
    return ((b * query_heads + head) * queries + row) * keys;
  }
  // What a row sees, but for what the mask hides.
  int64_t Begin(int64_t row) const { return causal ? std::clamp<int64_t>(first_limit + row - window, 0, keys) : 0; }
  int64_t Limit(int64_t row) const { return causal ? std::clamp<int64_t>(first_limit + row, 0, keys) : keys; }
};

// The bias or mask of one row of scores; null if there is none.
template <typename T>
struct RowOfScores {
  RowOfScores(const OfScoresInput& all, absl::Span<const void* const> inputs, int64_t b, int64_t head, int64_t row)
      : data(all.present() ? static_cast<const T*>(inputs[static_cast<size_t>(all.input)]) + all.Offset(b, head) +
                                 row * all.steps[2]
                           : nullptr),
        step(all.steps[3]) {}
  T operator[](int64_t key) const { return data[key * step]; }

  const T* data;
  int64_t step;
};

template <typename T>
float Dot(const T* a, const T* b, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += Widen(a[i]) * Widen(b[i]);
  return sum;
}

template <typename T>
class UnfusedKernel : public Kernel {
 public:
  UnfusedKernel(const Problem& problem, const KernelSpec& spec) : at_{problem}, threads_(std::max(spec.threads, 1)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const T* q = static_cast<const T*>(inputs[0]);
    const T* k = static_cast<const T*>(inputs[1]);
    const T* v = static_cast<const T*>(inputs[2]);
    T* out = static_cast<T*>(outputs[0]);
    T* weights = outputs.size() > 1 ? static_cast<T*>(outputs[1]) : nullptr;
    ParallelFor(threads_, at_.batch * at_.query_heads, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> p(static_cast<size_t>(at_.keys)), sum(static_cast<size_t>(at_.depth));
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t b = unit / at_.query_heads, head = unit % at_.query_heads, key_head = head / at_.group();
        for (int64_t i = 0; i < at_.queries; ++i) {
          const int64_t seen = at_.Begin(i), limit = at_.Limit(i);
          const RowOfScores<float> bias(at_.bias, inputs, b, head, i);
          const RowOfScores<uint8_t> mask(at_.mask, inputs, b, head, i);
          float largest = -HUGE_VALF, total = 0;
          for (int64_t j = seen; j < limit; ++j) {
            p[j] = at_.scale * Dot(q + at_.Query(b, i, head), k + at_.Key(b, j, key_head), at_.depth);
            if (bias.data != nullptr) p[j] += bias[j];
            if (mask.data != nullptr && mask[j] == 0) p[j] = -HUGE_VALF;
            largest = std::max(largest, p[j]);
          }
          const float shift = largest == -HUGE_VALF ? 0.0f : largest;  // where no key is seen
          for (int64_t j = seen; j < limit; ++j) total += p[j] = std::exp(p[j] - shift);
          if (total == 0) total = 1;
          std::fill(sum.begin(), sum.end(), 0.0f);
          for (int64_t j = seen; j < limit; ++j) {
            p[j] /= total;
            const T* row = v + at_.Key(b, j, key_head);
            for (int64_t c = 0; c < at_.depth; ++c) sum[c] += p[j] * Widen(row[c]);
          }
          for (int64_t c = 0; c < at_.depth; ++c) out[at_.Query(b, i, head) + c] = Narrow<T>(sum[c]);
          if (weights == nullptr) continue;
          T* row = weights + at_.Weights(b, head, i);
          for (int64_t j = 0; j < at_.keys; ++j) row[j] = Narrow<T>(j >= seen && j < limit ? p[j] : 0.0f);
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  const Places at_;
  const int threads_;
};

// With p the weights: dv = p' dout, ds = p * (dout v' - rows of dout . out), dq = scale ds k, dk = scale ds' q.
template <typename T>
class UnfusedGradKernel : public Kernel {
 public:
  UnfusedGradKernel(const Problem& problem, const KernelSpec& spec)
      : at_{problem}, threads_(std::max(spec.threads, 1)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const T* tensors[6];
    for (int i = 0; i < 6; ++i) tensors[i] = static_cast<const T*>(inputs[i]);
    const auto [dout, q, k, v, out, weights] = tensors;
    T* results[] = {static_cast<T*>(outputs[0]), static_cast<T*>(outputs[1]), static_cast<T*>(outputs[2])};
    const auto [dq, dk, dv] = results;
    ParallelFor(threads_, at_.batch * at_.key_heads, 1, [&](int64_t begin, int64_t end) {
      const int64_t d = at_.depth;
      std::vector<float> row(static_cast<size_t>(d)), k_sums(static_cast<size_t>(at_.keys * d)), v_sums(k_sums);
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t b = unit / at_.key_heads, key_head = unit % at_.key_heads;
        std::fill(k_sums.begin(), k_sums.end(), 0.0f);
        std::fill(v_sums.begin(), v_sums.end(), 0.0f);
        for (int64_t head = key_head * at_.group(); head < (key_head + 1) * at_.group(); ++head) {
          for (int64_t i = 0; i < at_.queries; ++i) {
            const int64_t at = at_.Query(b, i, head);
            const float mean = Dot(dout + at, out + at, d);
            const T* p = weights + at_.Weights(b, head, i);
            std::fill(row.begin(), row.end(), 0.0f);
            for (int64_t j = at_.Begin(i); j < at_.Limit(i); ++j) {
              const int64_t key = at_.Key(b, j, key_head);
              const float weight = Widen(p[j]), ds = at_.scale * weight * (Dot(dout + at, v + key, d) - mean);
              for (int64_t c = 0; c < d; ++c) {
                row[c] += ds * Widen(k[key + c]);
                k_sums[j * d + c] += ds * Widen(q[at + c]);
                v_sums[j * d + c] += weight * Widen(dout[at + c]);
              }
            }
            for (int64_t c = 0; c < d; ++c) dq[at + c] = Narrow<T>(row[c]);
          }
        }
        for (int64_t j = 0; j < at_.keys; ++j) {
          for (int64_t c = 0; c < d; ++c) {
            dk[at_.Key(b, j, key_head) + c] = Narrow<T>(k_sums[j * d + c]);
            dv[at_.Key(b, j, key_head) + c] = Narrow<T>(v_sums[j * d + c]);
          }
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  const Places at_;
  const int threads_;
};

// The sum of ds into the elements of the bias. A thread adds up what goes into the same ones, the batch and the heads
// in order.
template <typename T>
class UnfusedBiasGradKernel : public Kernel {
 public:
  UnfusedBiasGradKernel(const Problem& problem, const KernelSpec& spec)
      : at_{problem}, threads_(std::max(spec.threads, 1)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const auto tensor = [&](size_t input) { return static_cast<const T*>(inputs[input]); };
    const auto& [batch, heads, queries, keys] = at_.bias.dims;
    ParallelFor(threads_, batch * heads, 1,
                [&, heads = heads, batch = batch, elements = queries * keys](int64_t begin, int64_t end) {
                  for (int64_t unit = begin; unit < end; ++unit) {
                    float* to = static_cast<float*>(outputs[0]) + unit * elements;
                    std::fill(to, to + elements, 0.0f);
                    for (int64_t b = unit / heads; b < at_.batch; b += batch) {
                      for (int64_t head = unit % heads; head < at_.query_heads; head += heads) {
                        Add(tensor(0), tensor(3), tensor(4), tensor(5), b, head, to);
                      }
                    }
                  }
                });
    return absl::OkStatus();
  }

 private:
  void Add(const T* dout, const T* v, const T* out, const T* weights, int64_t b, int64_t head, float* to) const {
    for (int64_t i = 0; i < at_.queries; ++i) {
      const int64_t at = at_.Query(b, i, head);
      const float mean = Dot(dout + at, out + at, at_.depth);
      const T* p = weights + at_.Weights(b, head, i);
      for (int64_t j = at_.Begin(i); j < at_.Limit(i); ++j) {
        const float dp = Dot(dout + at, v + at_.Key(b, j, head / at_.group()), at_.depth);
        to[i * at_.bias.steps[2] + j * at_.bias.steps[3]] += Widen(p[j]) * (dp - mean);
      }
    }
  }

  const Places at_;
  const int threads_;
};

template <template <typename T> typename AnyKernel>
absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Problem problem, ParseProblem(spec));
  return MakeForFloat(problem.type,
                      [&](auto zero) { return std::make_unique<AnyKernel<decltype(zero)>>(problem, spec); });
}

}  // namespace

void RegisterUnfusedKernels(KernelRegistry& registry) {
  registry.Register("attention_unfused", &Create<UnfusedKernel>);
  registry.Register("attention_unfused_grad", &Create<UnfusedGradKernel>);
  registry.Register("attention_unfused_bias_grad", &Create<UnfusedBiasGradKernel>);
}

}  // namespace weft::attention
