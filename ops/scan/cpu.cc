// CPU kernel of cumsum: f32, bf16 and f16, summed in double and rounded once an element, so that for n summands
//   |error| <= 2^-24 |result| + n 2^-53 sum |x|
// (about 2^-8 and 2^-11 for bf16 and f16); i32 and i64, which wrap around. The output may have the address of the
// input.
#include <algorithm>
#include <memory>
#include <type_traits>

#include "ops/abi/float_types.h"
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
    const int64_t blocks = (plan_.inner + kColumns - 1) / kColumns;
    const int64_t work = plan_.extent * std::min(plan_.inner, kColumns);
    ParallelFor(threads_, plan_.outer * blocks, (kGrain + work - 1) / work, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t column = task % blocks * kColumns;
        const int64_t at = task / blocks * plan_.extent * plan_.inner + column;
        SumLines(x + at, y + at, std::min(kColumns, plan_.inner - column));
      }
    });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kGrain = 16384, kColumns = 64;
  // Integers wrap around, which only unsigned ones may.
  static auto SumType() {
    if constexpr (std::is_integral_v<T>) {
      return std::make_unsigned_t<T>{};
    } else {
      return double{};
    }
  }
  using Sum = decltype(SumType());

  static Sum Wide(T x) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<Sum>(x);
    } else {
      return static_cast<Sum>(Widen(x));
    }
  }
  static T Back(Sum sum) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(sum);
    } else {
      return Narrow<T>(static_cast<float>(sum));
    }
  }

  // `count` lines that are neighbours.
  void SumLines(const T* x, T* y, int64_t count) const {
    alignas(64) Sum sums[kColumns] = {};
    for (int64_t k = 0; k < plan_.extent; ++k) {
      const int64_t row = (plan_.reverse ? plan_.extent - 1 - k : k) * plan_.inner;
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) {
        const Sum before = sums[i], after = before + Wide(x[row + i]);
        sums[i] = after;
        y[row + i] = Back(plan_.exclusive ? before : after);
      }
    }
  }

  int threads_;
  ScanPlan plan_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateCumsum(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(ScanPlan plan, scan::MakeScanPlan(spec));
  std::unique_ptr<Kernel> kernel;
  switch (spec.inputs[0].dtype) {
    case DType::kI32:
      kernel = std::make_unique<CumsumKernel<int32_t>>(spec.threads, plan);
      return kernel;
    case DType::kI64:
      kernel = std::make_unique<CumsumKernel<int64_t>>(spec.threads, plan);
      return kernel;
    default:
      return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) {
        return std::make_unique<CumsumKernel<decltype(zero)>>(spec.threads, plan);
      });
  }
}

}  // namespace

void RegisterScanKernels(KernelRegistry& registry) { registry.Register("cumsum", &CreateCumsum); }

}  // namespace weft
