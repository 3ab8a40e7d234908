// CPU kernel of rope, for f32, bf16 and f16. Angles are computed in double, cosines and sines rounded to float: with
// positions p below 2^31 the error of an element is at most 2^-23 (|a| + |b|) of its pair, and the rounding to its
// type.
#include <cmath>
#include <memory>

#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"
#include "ops/rope/problem.h"

namespace weft {
namespace {

using rope::kMaxPairs;
using rope::Problem;

// Cosines and sines of one position.
struct Angles {
  alignas(64) float cos[kMaxPairs], sin[kMaxPairs];

  void Set(const Problem& problem, int64_t position) {
    for (int64_t i = 0; i < problem.pairs; ++i) {
      const double angle = static_cast<double>(position) * problem.frequencies[static_cast<size_t>(i)];
      cos[i] = static_cast<float>(std::cos(angle));
      sin[i] = static_cast<float>(std::sin(angle));
    }
  }
};

template <typename T>
class RopeKernel : public Kernel {
 public:
  RopeKernel(const Problem& problem, int threads) : problem_(problem), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const T* x = static_cast<const T*>(inputs[0]);
    const auto* positions = problem_.positions ? static_cast<const int32_t*>(inputs[1]) : nullptr;
    T* y = static_cast<T*>(outputs[0]);
    const int64_t row = problem_.heads * 2 * problem_.pairs;
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, row * problem_.batch));
    // A place of the sequence at a time, whose angles serve the whole batch.
    ParallelFor(threads_, problem_.sequence, grain, [&](int64_t begin, int64_t end) {
      Angles angles;
      for (int64_t s = begin; s < end; ++s) {
        if (positions == nullptr) angles.Set(problem_, problem_.first + s);
        for (int64_t b = 0; b < problem_.batch; ++b) {
          const int64_t at = b * problem_.sequence + s;
          if (positions != nullptr) angles.Set(problem_, positions[at]);
          TurnRow(angles, x + at * row, y + at * row);
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kGrain = 16 * 1024;  // elements that are worth a thread

  void TurnRow(const Angles& angles, const T* x, T* y) const {
    const int64_t pairs = problem_.pairs;
    for (int64_t head = 0; head < problem_.heads; ++head, x += 2 * pairs, y += 2 * pairs) {
      if (problem_.interleaved) {
        for (int64_t i = 0; i < pairs; ++i) Turn(angles, i, x + 2 * i, x + 2 * i + 1, y + 2 * i, y + 2 * i + 1);
      } else {
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < pairs; ++i) Turn(angles, i, x + i, x + pairs + i, y + i, y + pairs + i);
      }
    }
  }

  static void Turn(const Angles& angles, int64_t i, const T* a, const T* b, T* y_a, T* y_b) {
    const float first = Widen(*a), second = Widen(*b);
    *y_a = Narrow<T>(first * angles.cos[i] - second * angles.sin[i]);
    *y_b = Narrow<T>(second * angles.cos[i] + first * angles.sin[i]);
  }

  const Problem problem_;
  const int threads_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateRope(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Problem problem, rope::ProblemOf(spec));
  return MakeForFloat(problem.type,
                      [&](auto zero) { return std::make_unique<RopeKernel<decltype(zero)>>(problem, spec.threads); });
}

}  // namespace

void RegisterRopeKernels(KernelRegistry& registry) { registry.Register("rope", &CreateRope); }

}  // namespace weft
