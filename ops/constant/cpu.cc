// CPU kernels of fill and constant (f32, bf16, f16, i32, i64 and u8) and iota (i32, i64 and f32). fill is also an
// initialiser of parameters.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "ops/abi/kernel.h"
#include "ops/abi/parallel.h"
#include "ops/constant/known.h"
#include "ops/families.h"

namespace weft {
namespace {

constexpr int64_t kGrain = 16384;

template <typename Word>
class FillKernel : public Kernel {
 public:
  FillKernel(const KernelSpec& spec, uint64_t word)
      : threads_(spec.threads), elements_(spec.outputs[0].elements()), word_(static_cast<Word>(word)) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const>, absl::Span<void* const> outputs) override {
    auto* y = static_cast<Word*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&](int64_t begin, int64_t end) { std::fill(y + begin, y + end, word_); });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
  Word word_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateFill(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(uint64_t word, constant::FilledElement(spec));
  std::unique_ptr<Kernel> kernel;
  switch (SizeOf(spec.outputs[0].dtype)) {
    case 1:
      kernel = std::make_unique<FillKernel<uint8_t>>(spec, word);
      break;
    case 2:
      kernel = std::make_unique<FillKernel<uint16_t>>(spec, word);
      break;
    case 4:
      kernel = std::make_unique<FillKernel<uint32_t>>(spec, word);
      break;
    default:
      kernel = std::make_unique<FillKernel<uint64_t>>(spec, word);
  }
  return kernel;
}

template <typename T>
class IotaKernel : public Kernel {
 public:
  IotaKernel(const KernelSpec& spec, constant::Iota plan)
      : threads_(spec.threads), rows_(spec.outputs[0].elements() / plan.inner), plan_(plan) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const>, absl::Span<void* const> outputs) override {
    auto* y = static_cast<T*>(outputs[0]);
    ParallelFor(threads_, rows_, std::max<int64_t>(1, kGrain / plan_.inner), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        std::fill_n(y + row * plan_.inner, plan_.inner, static_cast<T>(plan_.begin + row % plan_.extent));
      }
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t rows_;
  constant::Iota plan_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateIota(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(constant::Iota plan, constant::PlanIota(spec));
  std::unique_ptr<Kernel> kernel;
  if (spec.outputs[0].dtype == DType::kI32) {
    kernel = std::make_unique<IotaKernel<int32_t>>(spec, plan);
  } else if (spec.outputs[0].dtype == DType::kI64) {
    kernel = std::make_unique<IotaKernel<int64_t>>(spec, plan);
  } else {
    kernel = std::make_unique<IotaKernel<float>>(spec, plan);
  }
  return kernel;
}

class ConstantKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, constant::TileOf(spec));
    return std::make_unique<ConstantKernel>(std::move(bytes));
  }

  explicit ConstantKernel(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const>, absl::Span<void* const> outputs) override {
    std::memcpy(outputs[0], bytes_.data(), bytes_.size());
    return absl::OkStatus();
  }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace

void RegisterConstantKernels(KernelRegistry& registry) {
  registry.Register("fill", &CreateFill);
  registry.Register("iota", &CreateIota);
  registry.Register("constant", &ConstantKernel::Create);
}

}  // namespace weft
