// add_n, cast and broadcast_to.
#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "ops/abi/broadcast.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/elementwise/convert.h"
#include "ops/elementwise/cpu_internal.h"

namespace weft::elementwise {
namespace {

// y = ((x0 + x1) + x2) + ..., block by block: a block is summed aside before
// it is written, so y may have the address of any operand.
template <typename T>
class AddNKernel : public Kernel {
 public:
  AddNKernel(int threads, int64_t elements) : threads_(threads), elements_(elements) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    auto* y = static_cast<T*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; at += kBlock) SumBlock(inputs, y + at, at, std::min(kBlock, end - at));
    });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kBlock = 2048;

  static void SumBlock(absl::Span<const void* const> inputs, T* y, int64_t at, int64_t n) {
    alignas(64) float sum[kBlock];
    const T* first = static_cast<const T*>(inputs[0]) + at;
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) sum[i] = Widen(first[i]);
    for (size_t k = 1; k < inputs.size(); ++k) {
      const T* x = static_cast<const T*>(inputs[k]) + at;
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) sum[i] += Widen(x[i]);
    }
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = Narrow<T>(sum[i]);
  }

  int threads_;
  int64_t elements_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateAddN(const KernelSpec& spec) {
  if (spec.inputs.empty()) return absl::InvalidArgumentError("expected one or more inputs, got none");
  std::string rule = "float:.";
  for (size_t i = 1; i < spec.inputs.size(); ++i) rule += ",float:.";
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, (rule + "->float:.").c_str()));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<AddNKernel<decltype(zero)>>(spec.threads, extents.rows());
  });
}

template <typename To, typename From>
To Convert(From x) {
  if constexpr (std::is_integral_v<From>) {
    if constexpr (std::is_integral_v<To>) {
      return static_cast<To>(x);
    } else {
      return Narrow<To>(static_cast<float>(x));
    }
  } else if constexpr (std::is_integral_v<To>) {
    return ToInteger<To>(Widen(x));
  } else {
    return Narrow<To>(Widen(x));
  }
}

template <typename From, typename To>
class CastKernel : public Kernel {
 public:
  CastKernel(int threads, int64_t elements) : threads_(threads), elements_(elements) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const From*>(inputs[0]);
    auto* y = static_cast<To*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) y[i] = Convert<To>(x[i]);
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
};

// MakeForFloat, of integers too.
template <typename Make>
absl::StatusOr<std::unique_ptr<Kernel>> MakeForNumber(DType type, const Make& make) {
  switch (type) {
    case DType::kI32:
      return make(int32_t{});
    case DType::kI64:
      return make(int64_t{});
    case DType::kU8:
      return make(uint8_t{});
    case DType::kF32:
    case DType::kBF16:
    case DType::kF16:
      return MakeForFloat(type, make);
    default:
      return absl::InvalidArgumentError(absl::StrCat("expected f32, bf16, f16, i32, i64 or u8, got ", NameOf(type)));
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateCast(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "any:.->any:."));
  return MakeForNumber(spec.inputs[0].dtype, [&](auto from) {
    return MakeForNumber(spec.outputs[0].dtype, [&](auto to) {
      return std::make_unique<CastKernel<decltype(from), decltype(to)>>(spec.threads, extents.rows());
    });
  });
}

// Moves elements as words of their size.
template <typename Word>
class BroadcastToKernel : public Kernel {
 public:
  BroadcastToKernel(int threads, BroadcastPlan<1> plan) : threads_(threads), plan_(std::move(plan)) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const Word*>(inputs[0]);
    auto* y = static_cast<Word*>(outputs[0]);
    const bool repeat = plan_.step(0) == 0;
    ParallelFor(threads_, plan_.elements(), kGrain, [&](int64_t begin, int64_t end) {
      plan_.ForRange(begin, end, [&](int64_t at, const BroadcastPlan<1>::Offsets& from, int64_t count) {
        if (repeat) {
          std::fill_n(y + at, count, x[from[0]]);
        } else if (y + at != x + from[0]) {
          std::memcpy(y + at, x + from[0], static_cast<size_t>(count) * sizeof(Word));
        }
      });
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  BroadcastPlan<1> plan_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateBroadcastTo(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "any:*->any:*").status());
  const DType type = spec.inputs[0].dtype;
  if (spec.outputs[0].dtype != type) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected ", NameOf(type), ", got ", spec.outputs[0].ToString()));
  }
  WEFT_ASSIGN_OR_RETURN(auto plan, BroadcastPlan<1>::Create({&spec.inputs[0]}, spec.outputs[0]));
  std::unique_ptr<Kernel> kernel;
  switch (SizeOf(type)) {
    case 1:
      kernel = std::make_unique<BroadcastToKernel<uint8_t>>(spec.threads, std::move(plan));
      break;
    case 2:
      kernel = std::make_unique<BroadcastToKernel<uint16_t>>(spec.threads, std::move(plan));
      break;
    case 4:
      kernel = std::make_unique<BroadcastToKernel<uint32_t>>(spec.threads, std::move(plan));
      break;
    default:
      kernel = std::make_unique<BroadcastToKernel<uint64_t>>(spec.threads, std::move(plan));
  }
  return kernel;
}

}  // namespace

void RegisterConvert(KernelRegistry& registry) {
  registry.Register("add_n", &CreateAddN);
  registry.Register("cast", &CreateCast);
  registry.Register("broadcast_to", &CreateBroadcastTo);
}

}  // namespace weft::elementwise
