#include "ops/einsum/cpu_added.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/einsum/epilogue.h"

namespace weft::einsum {
namespace {

constexpr int64_t kGrain = 8192;  // elements that a thread copies at least

// The first micro-batch's product is the sum, those of the others are added to it.
class AccumulatedProduct : public Kernel {
 public:
  AccumulatedProduct(std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> others)
      : first_(std::move(first)), others_(std::move(others)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    return (context.micro_batch == 0 ? first_ : others_)->Run(context, inputs.first(2), outputs);
  }

 private:
  const std::unique_ptr<Kernel> first_, others_;
};

class AddedProduct : public Kernel {
 public:
  AddedProduct(std::unique_ptr<Kernel> adding, int64_t elements, int threads)
      : adding_(std::move(adding)), elements_(elements), threads_(threads) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    if (inputs[2] != outputs[0]) {
      const auto* const before = static_cast<const float*>(inputs[2]);
      auto* const result = static_cast<float*>(outputs[0]);
      ParallelFor(threads_, elements_, kGrain,
                  [=](int64_t begin, int64_t end) { std::copy(before + begin, before + end, result + begin); });
    }
    return adding_->Run(context, inputs.first(2), outputs);
  }

 private:
  const std::unique_ptr<Kernel> adding_;
  const int64_t elements_;
  const int threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateAccumulated(const KernelSpec& spec, EinsumFactory einsum) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 3, 1));
  const TensorSpec &sum = spec.inputs[2], &result = spec.outputs[0];
  if (sum.dtype != DType::kF32 || result.dtype != DType::kF32 || sum.dims != result.dims) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one f32 sum, got ", sum.ToString(), " and ", result.ToString()));
  }
  const KernelSpec product = ProductOf(spec);
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> first, einsum(product, Into::kResult));
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> others, einsum(product, Into::kSum));
  return std::make_unique<AccumulatedProduct>(std::move(first), std::move(others));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateAdded(const KernelSpec& spec, EinsumFactory einsum) {
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> adding, einsum(ProductOf(spec), Into::kSum));
  return std::make_unique<AddedProduct>(std::move(adding), spec.outputs[0].elements(), spec.threads);
}

}  // namespace weft::einsum
