// add, sub, mul, div, maximum, minimum, greater_equal, equal.
#include <memory>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/elementwise/broadcast.h"
#include "ops/elementwise/cpu_internal.h"

namespace weft::elementwise {
namespace {

struct Add {
  static float Apply(float a, float b) { return a + b; }
};
struct Sub {
  static float Apply(float a, float b) { return a - b; }
};
struct Mul {
  static float Apply(float a, float b) { return a * b; }
};
struct Div {
  static float Apply(float a, float b) { return a / b; }
};
// If either is NaN, so is the result: a comparison with NaN is false.
struct Maximum {
  static float Apply(float a, float b) { return a > b || a != a ? a : b; }
};
struct Minimum {
  static float Apply(float a, float b) { return a < b || a != a ? a : b; }
};
struct GreaterEqual {
  static float Apply(float a, float b) { return a >= b ? 1.0f : 0.0f; }
};
struct Equal {
  static float Apply(float a, float b) { return a == b ? 1.0f : 0.0f; }
};

// One row. Steps are constants of the loop so that it vectorises.
template <typename Op, typename T, int kStepA, int kStepB>
void Row(const T* a, const T* b, T* y, int64_t n) {
  if constexpr (kStepA == 0 || kStepB == 0) {
    const float scalar = Widen(kStepA == 0 ? a[0] : b[0]);
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      y[i] = Narrow<T>(kStepA == 0 ? Op::Apply(scalar, Widen(b[i])) : Op::Apply(Widen(a[i]), scalar));
    }
  } else {
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = Narrow<T>(Op::Apply(Widen(a[i]), Widen(b[i])));
  }
}

template <typename Op, typename T>
class BinaryKernel : public Kernel {
 public:
  BinaryKernel(int threads, BroadcastPlan<2> plan) : threads_(threads), plan_(std::move(plan)) {
    row_ = plan_.step(0) == 0 ? &Row<Op, T, 0, 1> : plan_.step(1) == 0 ? &Row<Op, T, 1, 0> : &Row<Op, T, 1, 1>;
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* a = static_cast<const T*>(inputs[0]);
    const auto* b = static_cast<const T*>(inputs[1]);
    auto* y = static_cast<T*>(outputs[0]);
    ParallelFor(threads_, plan_.elements(), kGrain, [&](int64_t begin, int64_t end) {
      plan_.ForRange(begin, end, [&](int64_t at, const BroadcastPlan<2>::Offsets& from, int64_t count) {
        row_(a + from[0], b + from[1], y + at, count);
      });
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  BroadcastPlan<2> plan_;
  void (*row_)(const T*, const T*, T*, int64_t);
};

template <typename Op>
absl::StatusOr<std::unique_ptr<Kernel>> CreateBinary(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:*,float:*->float:*"));
  WEFT_ASSIGN_OR_RETURN(auto plan, BroadcastPlan<2>::Create({&spec.inputs[0], &spec.inputs[1]}, spec.outputs[0]));
  if (plan.repeats_all()) {
    return absl::InvalidArgumentError(absl::StrCat("output 0: expected the extents of the inputs, got ",
                                                   spec.outputs[0].ToString(), " of ", spec.inputs[0].ToString(),
                                                   " and ", spec.inputs[1].ToString()));
  }
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<BinaryKernel<Op, decltype(zero)>>(spec.threads, plan);
  });
}

}  // namespace

void RegisterBinary(KernelRegistry& registry) {
  registry.Register("add", &CreateBinary<Add>);
  registry.Register("sub", &CreateBinary<Sub>);
  registry.Register("mul", &CreateBinary<Mul>);
  registry.Register("div", &CreateBinary<Div>);
  registry.Register("maximum", &CreateBinary<Maximum>);
  registry.Register("minimum", &CreateBinary<Minimum>);
  registry.Register("greater_equal", &CreateBinary<GreaterEqual>);
  registry.Register("equal", &CreateBinary<Equal>);
}

}  // namespace weft::elementwise
