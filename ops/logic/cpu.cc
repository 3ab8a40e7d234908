// CPU kernels of comparisons (f32, bf16, f16, i32, i64 and u8, to u8 or to the operands' type), of logical_and,
// logical_or and logical_not (u8: 0 is false, anything else true; results are 0 and 1), and of select (elements of any
// type). An output may have the address of any input of its shape and type. A comparison with NaN is false, but for
// not_equal.
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/broadcast.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"

namespace weft {
namespace {

// Elements that are worth a thread of their own.
constexpr int64_t kGrain = 16384;

struct Greater {
  template <typename T>
  static bool Of(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  static bool Of(T a, T b) {
    return a >= b;
  }
};
struct Equal {
  template <typename T>
  static bool Of(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool Of(T a, T b) {
    return a != b;
  }
};
struct And {
  static bool Of(uint8_t a, uint8_t b) { return a != 0 && b != 0; }
};
struct Or {
  static bool Of(uint8_t a, uint8_t b) { return a != 0 || b != 0; }
};

template <typename T>
auto Wide(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return Widen(x);
  }
}
template <typename To>
To Number(bool truth) {
  if constexpr (std::is_integral_v<To>) {
    return truth ? To{1} : To{0};
  } else {
    return Narrow<To>(truth ? 1.0f : 0.0f);
  }
}

// Within a row an operand is walked by the step of the template, 0 or 1, so that the loop vectorises.
template <typename Op, typename From, typename To, int kStepA, int kStepB>
void TestRow(const From* a, const From* b, To* y, int64_t n) {
  WEFT_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) y[i] = Number<To>(Op::Of(Wide(a[i * kStepA]), Wide(b[i * kStepB])));
}

template <typename Op, typename From, typename To>
class TestKernel : public Kernel {
 public:
  // `swapped`: of b and a.
  TestKernel(int threads, BroadcastPlan<2> plan, bool swapped)
      : threads_(threads), plan_(std::move(plan)), swapped_(swapped) {
    row_ = plan_.step(0) == 0   ? &TestRow<Op, From, To, 0, 1>
           : plan_.step(1) == 0 ? &TestRow<Op, From, To, 1, 0>
                                : &TestRow<Op, From, To, 1, 1>;
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* a = static_cast<const From*>(inputs[swapped_ ? 1 : 0]);
    const auto* b = static_cast<const From*>(inputs[swapped_ ? 0 : 1]);
    auto* y = static_cast<To*>(outputs[0]);
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
  bool swapped_;
  void (*row_)(const From*, const From*, To*, int64_t);
};

template <int N>
absl::StatusOr<BroadcastPlan<N>> PlanOf(const KernelSpec& spec, const std::array<const TensorSpec*, N>& operands) {
  WEFT_ASSIGN_OR_RETURN(auto plan, BroadcastPlan<N>::Create(operands, spec.outputs[0]));
  if (plan.repeats_all()) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected the extents of the inputs, got ", spec.outputs[0].ToString()));
  }
  return plan;
}

template <typename Op, typename From>
absl::StatusOr<std::unique_ptr<Kernel>> MakeTest(const KernelSpec& spec, bool swapped) {
  const TensorSpec &a = spec.inputs[swapped ? 1 : 0], &b = spec.inputs[swapped ? 0 : 1];
  WEFT_ASSIGN_OR_RETURN(auto plan, PlanOf<2>(spec, {&a, &b}));
  std::unique_ptr<Kernel> kernel;
  if (spec.outputs[0].dtype == DType::kU8) {
    kernel = std::make_unique<TestKernel<Op, From, uint8_t>>(spec.threads, std::move(plan), swapped);
  } else {
    kernel = std::make_unique<TestKernel<Op, From, From>>(spec.threads, std::move(plan), swapped);
  }
  return kernel;
}

template <typename Op>
absl::StatusOr<std::unique_ptr<Kernel>> MakeComparison(const KernelSpec& spec, bool swapped) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "any:*,any:*->any:*").status());
  const DType type = spec.inputs[0].dtype;
  if (spec.inputs[1].dtype != type) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 1: expected ", NameOf(type), ", got ", spec.inputs[1].ToString()));
  }
  if (spec.outputs[0].dtype != type && spec.outputs[0].dtype != DType::kU8) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected u8 or ", NameOf(type), ", got ", spec.outputs[0].ToString()));
  }
  switch (type) {
    case DType::kF32:
      return MakeTest<Op, float>(spec, swapped);
    case DType::kBF16:
      return MakeTest<Op, BFloat16>(spec, swapped);
    case DType::kF16:
      return MakeTest<Op, Float16>(spec, swapped);
    case DType::kI32:
      return MakeTest<Op, int32_t>(spec, swapped);
    case DType::kI64:
      return MakeTest<Op, int64_t>(spec, swapped);
    case DType::kU8:
      return MakeTest<Op, uint8_t>(spec, swapped);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("input 0: expected f32, bf16, f16, i32, i64 or u8, got ", spec.inputs[0].ToString()));
  }
}

template <typename Op>
absl::StatusOr<std::unique_ptr<Kernel>> CreateComparison(const KernelSpec& spec) {
  return MakeComparison<Op>(spec, /*swapped=*/false);
}

// a < b is b > a.
template <typename Op>
absl::StatusOr<std::unique_ptr<Kernel>> CreateSwapped(const KernelSpec& spec) {
  return MakeComparison<Op>(spec, /*swapped=*/true);
}

template <typename Op>
absl::StatusOr<std::unique_ptr<Kernel>> CreateLogical(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "u8:*,u8:*->u8:*").status());
  return MakeTest<Op, uint8_t>(spec, /*swapped=*/false);
}

class NotKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "u8:.->u8:."));
    return std::make_unique<NotKernel>(spec.threads, extents.rows());
  }

  NotKernel(int threads, int64_t elements) : threads_(threads), elements_(elements) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const uint8_t*>(inputs[0]);
    auto* y = static_cast<uint8_t*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) y[i] = Number<uint8_t>(x[i] == 0);
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
};

// Moves elements as words of their size.
template <typename Word, int kStepC, int kStepA, int kStepB>
void SelectRow(const uint8_t* c, const Word* a, const Word* b, Word* y, int64_t n) {
  WEFT_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const Word chosen = a[i * kStepA], other = b[i * kStepB];
    y[i] = c[i * kStepC] != 0 ? chosen : other;
  }
}

template <typename Word>
class SelectKernel : public Kernel {
 public:
  SelectKernel(int threads, BroadcastPlan<3> plan) : threads_(threads), plan_(std::move(plan)) {
    using Row = void (*)(const uint8_t*, const Word*, const Word*, Word*, int64_t);
    static constexpr Row kRows[] = {&SelectRow<Word, 1, 1, 1>, &SelectRow<Word, 0, 0, 1>, &SelectRow<Word, 0, 1, 0>,
                                    &SelectRow<Word, 0, 1, 1>, &SelectRow<Word, 1, 0, 0>, &SelectRow<Word, 1, 0, 1>,
                                    &SelectRow<Word, 1, 1, 0>, &SelectRow<Word, 1, 1, 1>};
    row_ = kRows[4 * plan_.step(0) + 2 * plan_.step(1) + plan_.step(2)];  // no steps: a row of one element
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* c = static_cast<const uint8_t*>(inputs[0]);
    const auto* a = static_cast<const Word*>(inputs[1]);
    const auto* b = static_cast<const Word*>(inputs[2]);
    auto* y = static_cast<Word*>(outputs[0]);
    ParallelFor(threads_, plan_.elements(), kGrain, [&](int64_t begin, int64_t end) {
      plan_.ForRange(begin, end, [&](int64_t at, const BroadcastPlan<3>::Offsets& from, int64_t count) {
        row_(c + from[0], a + from[1], b + from[2], y + at, count);
      });
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  BroadcastPlan<3> plan_;
  void (*row_)(const uint8_t*, const Word*, const Word*, Word*, int64_t);
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateSelect(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "u8:*,any:*,any:*->any:*").status());
  const DType type = spec.outputs[0].dtype;
  for (int i : {1, 2}) {
    if (spec.inputs[i].dtype != type) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, ": expected ", NameOf(type), ", got ", spec.inputs[i].ToString()));
    }
  }
  WEFT_ASSIGN_OR_RETURN(auto plan, PlanOf<3>(spec, {&spec.inputs[0], &spec.inputs[1], &spec.inputs[2]}));
  std::unique_ptr<Kernel> kernel;
  switch (SizeOf(type)) {
    case 1:
      kernel = std::make_unique<SelectKernel<uint8_t>>(spec.threads, std::move(plan));
      break;
    case 2:
      kernel = std::make_unique<SelectKernel<uint16_t>>(spec.threads, std::move(plan));
      break;
    case 4:
      kernel = std::make_unique<SelectKernel<uint32_t>>(spec.threads, std::move(plan));
      break;
    default:
      kernel = std::make_unique<SelectKernel<uint64_t>>(spec.threads, std::move(plan));
  }
  return kernel;
}

}  // namespace

void RegisterLogicKernels(KernelRegistry& registry) {
  registry.Register("greater", &CreateComparison<Greater>);
  registry.Register("greater_equal", &CreateComparison<GreaterEqual>);
  registry.Register("less", &CreateSwapped<Greater>);
  registry.Register("less_equal", &CreateSwapped<GreaterEqual>);
  registry.Register("equal", &CreateComparison<Equal>);
  registry.Register("not_equal", &CreateComparison<NotEqual>);
  registry.Register("logical_and", &CreateLogical<And>);
  registry.Register("logical_or", &CreateLogical<Or>);
  registry.Register("logical_not", &NotKernel::Create);
  registry.Register("select", &CreateSelect);
}

}  // namespace weft
