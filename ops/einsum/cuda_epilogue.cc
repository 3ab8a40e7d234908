#include "ops/einsum/cuda_epilogue.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/einsum/cuda_product.h"

namespace weft::einsum {
namespace {

// Up to three launches on one stream.
class FollowedProduct : public Kernel {
 public:
  FollowedProduct(std::unique_ptr<Kernel> product, const Epilogue& epilogue)
      : product_(std::move(product)), epilogue_(epilogue) {}

  absl::Status SetFinish(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(finish_, GpuKernel<FinishArguments>::Find(
                                       spec.gpu, "einsum", absl::StrCat("finish_", NameOf(spec.outputs[0].dtype))));
    finish_arguments_ = {.n = spec.outputs[0].elements(), .epilogue = EpilogueOf(spec, epilogue_)};
    finish_grid_ = LoopGrid(*spec.gpu, finish_arguments_.n, 256);
    return absl::OkStatus();
  }

  absl::Status SetSums(const KernelSpec& spec) {
    const TensorSpec& matrix = SummedTensor(spec, epilogue_);
    WEFT_ASSIGN_OR_RETURN(sums_, GpuKernel<ColumnSumArguments>::Find(spec.gpu, "einsum",
                                                                     absl::StrCat("column_sums_", NameOf(matrix.dtype),
                                                                                  "_", NameOf(spec.outputs[1].dtype))));
    const int64_t columns = spec.outputs[1].elements();
    sums_arguments_ = {.rows = columns > 0 ? matrix.elements() / columns : 0, .columns = columns};
    sums_grid_ = LoopGrid(*spec.gpu, columns, 32);
    sums_grid_.threads[1] = kSumRows;
    return absl::OkStatus();
  }

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    absl::Status status = product_->Run(context, inputs, outputs);
    if (status.ok() && finish_.has_value()) {
      FinishArguments arguments = finish_arguments_;
      arguments.result = outputs[0];
      BindEpilogue(epilogue_, inputs, outputs, arguments.epilogue);
      status = finish_->Launch(finish_grid_, arguments, context.stream);
    }
    if (status.ok() && sums_.has_value()) {
      ColumnSumArguments arguments = sums_arguments_;
      arguments.matrix = inputs[epilogue_.summed];
      arguments.sums = outputs[1];
      status = sums_->Launch(sums_grid_, arguments, context.stream);
    }
    return status;
  }

 private:
  const std::unique_ptr<Kernel> product_;
  const Epilogue epilogue_;
  std::optional<GpuKernel<FinishArguments>> finish_;
  std::optional<GpuKernel<ColumnSumArguments>> sums_;
  FinishArguments finish_arguments_ = {};
  ColumnSumArguments sums_arguments_ = {};
  GpuGrid finish_grid_, sums_grid_;
};

}  // namespace

EpilogueArguments EpilogueOf(const KernelSpec& spec, const Epilogue& epilogue) {
  return {.bias_size = epilogue.bias ? spec.inputs[2].elements() : 1, .gelu = epilogue.gelu};
}

void BindEpilogue(const Epilogue& epilogue, GpuInputs inputs, GpuOutputs outputs, EpilogueArguments& arguments) {
  if (epilogue.add) arguments.added = inputs[2];
  if (epilogue.bias) arguments.bias = inputs[2];
  if (epilogue.keep) arguments.kept = outputs[1];
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateFollowed(const KernelSpec& spec, const Epilogue& epilogue,
                                                       std::unique_ptr<Kernel> product, bool finish) {
  auto kernel = std::make_unique<FollowedProduct>(std::move(product), epilogue);
  absl::Status status;
  if (finish && (epilogue.add || epilogue.bias || epilogue.gelu)) status = kernel->SetFinish(spec);
  if (status.ok() && epilogue.sums) status = kernel->SetSums(spec);
  if (!status.ok()) return status;
  return kernel;
}

}  // namespace weft::einsum
