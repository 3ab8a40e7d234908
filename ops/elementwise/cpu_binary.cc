// add, sub, mul, div, maximum and minimum.
#include <memory>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "ops/abi/broadcast.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/elementwise/cpu_internal.h"

namespace weft::elementwise {
namespace {

// Integers wrap around, which only unsigned ones may.
template <typename T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

struct Add {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Sub {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct Mul {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct Div {
  static float Apply(float a, float b) { return a / b; }
};
// If either is NaN, so is the result: a comparison with NaN is false.
struct Maximum {
  template <typename T>
  static T Apply(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct Minimum {
  template <typename T>
  static T Apply(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

// Integers are computed with as they are.
template <typename T>
auto Wide(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return Widen(x);
  }
}
template <typename T, typename Computed>
T Back(Computed x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return Narrow<T>(x);
  }
}

// One row. Steps are constants of the loop so that it vectorises.
template <typename Op, typename T, int kStepA, int kStepB>
void Row(const T* a, const T* b, T* y, int64_t n) {
  if constexpr (kStepA == 0 || kStepB == 0) {
    const auto scalar = Wide(kStepA == 0 ? a[0] : b[0]);
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      y[i] = Back<T>(kStepA == 0 ? Op::Apply(scalar, Wide(b[i])) : Op::Apply(Wide(a[i]), scalar));
    }
  } else {
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = Back<T>(Op::Apply(Wide(a[i]), Wide(b[i])));
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

absl::StatusOr<BroadcastPlan<2>> PlanBinary(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(auto plan, BroadcastPlan<2>::Create({&spec.inputs[0], &spec.inputs[1]}, spec.outputs[0]));
  if (plan.repeats_all()) {
    return absl::InvalidArgumentError(absl::StrCat("output 0: expected the extents of the inputs, got ",
                                                   spec.outputs[0].ToString(), " of ", spec.inputs[0].ToString(),
                                                   " and ", spec.inputs[1].ToString()));
  }
  return plan;
}

template <typename Op>
absl::StatusOr<std::unique_ptr<Kernel>> CreateFloatBinary(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:*,float:*->float:*"));
  WEFT_ASSIGN_OR_RETURN(auto plan, PlanBinary(spec));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<BinaryKernel<Op, decltype(zero)>>(spec.threads, plan);
  });
}

template <typename Op, typename T>
absl::StatusOr<std::unique_ptr<Kernel>> CreateIntegerBinary(const KernelSpec& spec, const char* rule) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, rule).status());
  WEFT_ASSIGN_OR_RETURN(auto plan, PlanBinary(spec));
  return std::make_unique<BinaryKernel<Op, T>>(spec.threads, plan);
}

// Of floating-point numbers or integers, as input 0 is.
template <typename Op>
absl::StatusOr<std::unique_ptr<Kernel>> CreateBinary(const KernelSpec& spec) {
  const DType type = spec.inputs.empty() ? DType::kF32 : spec.inputs[0].dtype;
  if (type == DType::kI32) return CreateIntegerBinary<Op, int32_t>(spec, "i32:*,i32:*->i32:*");
  if (type == DType::kI64) return CreateIntegerBinary<Op, int64_t>(spec, "i64:*,i64:*->i64:*");
  return CreateFloatBinary<Op>(spec);
}

}  // namespace

void RegisterBinary(KernelRegistry& registry) {
  registry.Register("add", &CreateBinary<Add>);
  registry.Register("sub", &CreateBinary<Sub>);
  registry.Register("mul", &CreateBinary<Mul>);
  registry.Register("div", &CreateFloatBinary<Div>);
  registry.Register("maximum", &CreateBinary<Maximum>);
  registry.Register("minimum", &CreateBinary<Minimum>);
}

}  // namespace weft::elementwise
