// CPU kernel of reduce: sum, mean and max of f32 over any dims.
//
// Sums are kept in double and rounded to f32 once, so for n summands
//   |error| <= 2^-24 |result| + n 2^-53 sum |x|
// whatever their order. The order depends on the shape alone: results are the
// same on any number of threads. A NaN summand gives NaN, in a maximum too.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/abi/reduction.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"

namespace weft {
namespace {

using reduce::ReducePlan;

struct SumOp {
  using Accumulator = double;
  static constexpr double kIdentity = 0;
  static double Combine(double a, double x) { return a + x; }
};

struct MaxOp {
  using Accumulator = float;
  static constexpr float kIdentity = -std::numeric_limits<float>::infinity();
  static float Combine(float a, float x) { return x > a || x != x ? x : a; }
};

// The elements of a row, over sixteen accumulators that the compiler keeps in
// vector registers.
template <typename Op, typename T>
typename Op::Accumulator CombineRow(typename Op::Accumulator initial, const T* x, int64_t n) {
  constexpr int64_t kLanes = 16;
  if (n < kLanes) {
    for (int64_t i = 0; i < n; ++i) initial = Op::Combine(initial, Widen(x[i]));
    return initial;
  }
  typename Op::Accumulator lanes[kLanes];
  std::fill_n(lanes, kLanes, Op::kIdentity);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] = Op::Combine(lanes[l], Widen(x[i + l]));
  }
  for (int64_t l = 0; i + l < n; ++l) lanes[l] = Op::Combine(lanes[l], Widen(x[i + l]));
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) lanes[l] = Op::Combine(lanes[l], lanes[l + half]);
  }
  return Op::Combine(initial, lanes[0]);
}

template <typename Op, typename From, typename To>
class ReduceKernel : public Kernel {
 public:
  using Accumulator = typename Op::Accumulator;

  // `factor` multiplies every result.
  ReduceKernel(int threads, ReducePlan plan, double factor)
      : threads_(threads), plan_(std::move(plan)), factor_(factor) {
    if (plan_.parts > 1) partial_.resize(static_cast<size_t>(plan_.parts * plan_.outputs));
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const From*>(inputs[0]);
    auto* y = static_cast<To*>(outputs[0]);
    const int64_t tasks = plan_.tasks() * plan_.parts;
    if (tasks == 0) return absl::OkStatus();
    const int64_t work = std::max<int64_t>(1, plan_.inputs / tasks);
    ParallelFor(threads_, tasks, (kGrain + work - 1) / work, [&](int64_t begin, int64_t end) {
      if (plan_.plain_rows()) {
        for (int64_t row = begin; row < end; ++row) {
          y[row] = Result(CombineRow<Op>(Op::kIdentity, x + row * plan_.row, plan_.row));
        }
        return;
      }
      for (int64_t task = begin; task < end; ++task) RunTask(x, y, task / plan_.parts, task % plan_.parts);
    });
    if (plan_.parts > 1) CombineParts(y);
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kGrain = 16384;

  void RunTask(const From* x, To* y, int64_t task, int64_t part) {
    const int64_t begin = plan_.segments * part / plan_.parts, end = plan_.segments * (part + 1) / plan_.parts;
    const From* from = x + plan_.kept.Offset(task / plan_.columns);
    Accumulator sums[ReducePlan::kColumns];
    int64_t output = task, count = 1;
    if (plan_.rows_reduced) {
      sums[0] = CombineSegments(from, begin, end);
    } else {
      const int64_t column = task % plan_.columns * ReducePlan::kColumns;
      count = std::min(ReducePlan::kColumns, plan_.row - column);
      output = task / plan_.columns * plan_.row + column;
      CombineColumns(from + column, begin, end, sums, count);
    }
    if (plan_.parts > 1) {
      std::copy_n(sums, count, &partial_[static_cast<size_t>(part * plan_.outputs + output)]);
    } else {
      for (int64_t i = 0; i < count; ++i) y[output + i] = Result(sums[i]);
    }
  }

  Accumulator CombineSegments(const From* x, int64_t begin, int64_t end) const {
    Accumulator sum = Op::kIdentity;
    for (int64_t segment = begin; segment < end; ++segment) {
      const int64_t piece = segment % plan_.pieces * ReducePlan::kPiece;
      const int64_t count = std::min(ReducePlan::kPiece, plan_.row - piece);
      sum = CombineRow<Op>(sum, x + plan_.reduced.Offset(segment / plan_.pieces) + piece, count);
    }
    return sum;
  }

  void CombineColumns(const From* x, int64_t begin, int64_t end, Accumulator* sums, int64_t count) const {
    std::fill_n(sums, count, Op::kIdentity);
    int64_t row = begin;
    // Four rows at a time: a quarter of the loads and stores of `sums`.
    for (; row + 4 <= end; row += 4) {
      const From* x0 = x + plan_.reduced.Offset(row);
      const From* x1 = x + plan_.reduced.Offset(row + 1);
      const From* x2 = x + plan_.reduced.Offset(row + 2);
      const From* x3 = x + plan_.reduced.Offset(row + 3);
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) {
        const Accumulator two = Op::Combine(Op::Combine(sums[i], Widen(x0[i])), Widen(x1[i]));
        sums[i] = Op::Combine(Op::Combine(two, Widen(x2[i])), Widen(x3[i]));
      }
    }
    for (; row < end; ++row) {
      const From* x0 = x + plan_.reduced.Offset(row);
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) sums[i] = Op::Combine(sums[i], Widen(x0[i]));
    }
  }

  void CombineParts(To* y) const {
    for (int64_t i = 0; i < plan_.outputs; ++i) {
      Accumulator sum = partial_[static_cast<size_t>(i)];
      for (int64_t part = 1; part < plan_.parts; ++part) {
        sum = Op::Combine(sum, partial_[static_cast<size_t>(part * plan_.outputs + i)]);
      }
      y[i] = Result(sum);
    }
  }

  To Result(Accumulator sum) const { return Narrow<To>(static_cast<float>(sum * factor_)); }

  int threads_;
  ReducePlan plan_;
  double factor_;
  std::vector<Accumulator> partial_;  // [parts, outputs]
};

template <typename Op>
absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelSpec& spec, const ReducePlan& plan, double factor) {
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if (spec.outputs[0].dtype == DType::kF32) {
      return std::make_unique<ReduceKernel<Op, T, float>>(spec.threads, plan, factor);
    }
    return std::make_unique<ReduceKernel<Op, T, T>>(spec.threads, plan, factor);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateReduce(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(ReducePlan plan, reduce::MakeReducePlan(spec));
  WEFT_ASSIGN_OR_RETURN(std::string kind, spec.attributes.String("kind"));
  double factor = 1;
  if (kind == "mean") {
    // Of the whole dims: a rank that holds a part of them gives a part of the mean.
    const std::vector<int64_t> dims = *spec.attributes.Ints("dims");
    double count = 1;
    for (int64_t dim : dims) count *= static_cast<double>(spec.inputs[0].global_dims[dim]);
    factor = 1 / count;
  }
  if (kind == "max") return Make<MaxOp>(spec, plan, factor);
  if (kind == "sum" || kind == "mean") return Make<SumOp>(spec, plan, factor);
  return absl::InvalidArgumentError(absl::StrCat("attribute `kind`: expected sum, mean or max, got ", kind));
}

}  // namespace

void RegisterReduceKernels(KernelRegistry& registry) { registry.Register("reduce", &CreateReduce); }

}  // namespace weft
