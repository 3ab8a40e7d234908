// CPU kernel of cumsum: f32, bf16 and f16, summed in double and rounded once an element, so that for n summands
//   |error| <= 2^-24 |result| + n 2^-53 sum |x|
// (about 2^-8 and 2^-11 for bf16 and f16); i32 and i64, which wrap around. The output may have the address of the
// input.
#include <algorithm>
#include <memory>

#include "ops/abi/number_types.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"
#include "ops/scan/plan.h"

namespace weft {
namespace {

using scan::ScanPlan;

template <typename T>
class CumsumKernel : public Kernel {
 public:
  CumsumKernel(int threads, ScanPlan plan) : threads_(threads), plan_(plan) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const T*>(inputs[0]);
    auto* y = static_cast<T*>(outputs[0]);
    const int64_t inner = plan_.lines.inner;
    const int64_t blocks = (inner + kColumns - 1) / kColumns;
    const int64_t work = plan_.lines.extent * std::min(inner, kColumns);
    ParallelFor(threads_, plan_.lines.outer * blocks, (kGrain + work - 1) / work, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t column = task % blocks * kColumns;
        const int64_t at = task / blocks * plan_.lines.extent * plan_.lines.inner + column;
        SumLines(x + at, y + at, std::min(kColumns, plan_.lines.inner - column));
      }
    });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kGrain = 16384, kColumns = 64;

  // `count` lines that are neighbours.
  void SumLines(const T* x, T* y, int64_t count) const {
    alignas(64) SumOf<T> sums[kColumns] = {};
    const int64_t extent = plan_.lines.extent;
    for (int64_t k = 0; k < extent; ++k) {
      const int64_t row = (plan_.reverse ? extent - 1 - k : k) * plan_.lines.inner;
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) {
        const SumOf<T> before = sums[i], after = before + ToSum(x[row + i]);
        sums[i] = after;
        y[row + i] = FromSum<T>(plan_.exclusive ? before : after);
      }
    }
  }

  int threads_;
  ScanPlan plan_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateCumsum(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(ScanPlan plan, scan::MakeScanPlan(spec));
  return MakeForNumber(spec.inputs[0].dtype,
                       [&](auto zero) { return std::make_unique<CumsumKernel<decltype(zero)>>(spec.threads, plan); });
}

}  // namespace

void RegisterScanKernels(KernelRegistry& registry) { registry.Register("cumsum", &CreateCumsum); }

}  // namespace weft
