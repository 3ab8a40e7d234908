// CPU kernels of sort and top_k: f32, bf16, f16 and i32. Of each element the value and then its place make up one word
// of 64 bits, so that words are in the order of the result: all differ, and any way to sort them is stable.
#include <algorithm>
#include <cstring>
#include <memory>

#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/abi/scratch.h"
#include "ops/families.h"
#include "ops/sort/problem.h"

namespace weft {
namespace {

using sort::SortProblem;

// Unsigned words in the order of numbers: -0 equals 0, NaN is above all.
uint32_t OrderOf(float x) {
  if (x != x) return 0xffffffffu;
  const float number = x + 0.0f;  // -0 becomes 0
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
uint32_t OrderOf(int32_t x) { return static_cast<uint32_t>(x) ^ 0x80000000u; }
template <typename T>
uint32_t OrderOf(T x) {
  return OrderOf(Widen(x));
}

template <typename T>
class SortKernel : public Kernel {
 public:
  SortKernel(int threads, const SortProblem& problem)
      : threads_(threads), problem_(problem), words_(static_cast<size_t>(threads * problem.lines.extent)) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const T*>(inputs[0]);
    auto* values = static_cast<T*>(outputs[0]);
    auto* ids = static_cast<int32_t*>(outputs[1]);
    const auto [outer, extent, inner] = problem_.lines;
    const int64_t lines = outer * inner, kept = problem_.kept;
    const int64_t shares = std::min<int64_t>(threads_, 1 + lines * extent / kGrain);
    ParallelFor(threads_, shares, 1, [&, extent = extent, inner = inner](int64_t begin, int64_t end) {
      for (int64_t share = begin; share < end; ++share) {
        uint64_t* words = words_.data() + share * extent;
        for (int64_t line = lines * share / shares; line < lines * (share + 1) / shares; ++line) {
          const int64_t block = line / inner, column = line % inner;
          SortLine(x + block * extent * inner + column, words);
          for (int64_t i = 0; i < kept; ++i) {
            const auto from = static_cast<int32_t>(words[i] & 0xffffffffu);
            const int64_t at = (block * kept + i) * inner + column;
            values[at] = x[(block * extent + from) * inner + column];
            ids[at] = from;
          }
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kGrain = 16384;

  void SortLine(const T* x, uint64_t* words) const {
    const int64_t extent = problem_.lines.extent, kept = problem_.kept;
    for (int64_t i = 0; i < extent; ++i) {
      const uint32_t order = OrderOf(x[i * problem_.lines.inner]);
      words[i] = static_cast<uint64_t>(problem_.descending ? ~order : order) << 32 | static_cast<uint64_t>(i);
    }
    if (kept < extent) {
      std::partial_sort(words, words + kept, words + extent);
    } else {
      std::sort(words, words + extent);
    }
  }

  int threads_;
  SortProblem problem_;
  Scratch<uint64_t> words_;  // a line a thread
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateSort(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(SortProblem problem, sort::MakeProblem(spec));
  if (problem.type == DType::kI32) return std::make_unique<SortKernel<int32_t>>(spec.threads, problem);
  return MakeForFloat(problem.type,
                      [&](auto zero) { return std::make_unique<SortKernel<decltype(zero)>>(spec.threads, problem); });
}

}  // namespace

void RegisterSortKernels(KernelRegistry& registry) {
  registry.Register("sort", &CreateSort);
  registry.Register("top_k", &CreateSort);
}

}  // namespace weft
