#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/einsum/cuda_arguments.h"
#include "ops/einsum/cuda_epilogue.h"
#include "ops/einsum/cuda_product.h"

namespace weft::einsum {
namespace {

absl::Status SetAxes(const std::vector<Axis>& axes, AxisList& list) {
  if (axes.size() > kMaxAxes) {
    return absl::UnimplementedError(
        absl::StrCat("expected at most ", kMaxAxes, " axes of a kind that do not merge, got ", axes.size()));
  }
  list = {.count = static_cast<int32_t>(axes.size()), .size = 1};
  for (size_t a = 0; a < axes.size(); ++a) {
    const Axis& axis = axes[axes.size() - 1 - a];
    list.extent[a] = axis.extent;
    std::copy_n(axis.stride, 3, list.stride[a]);
    list.size *= axis.extent;
  }
  return absl::OkStatus();
}

uint32_t TilesOf(int64_t size) { return static_cast<uint32_t>((size + kTile - 1) / kTile); }

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateTiledProduct(const KernelSpec& spec, const Contraction& contraction,
                                                           const Epilogue& epilogue, bool accumulates) {
  ProductArguments arguments = {};
  WEFT_RETURN_IF_ERROR(SetAxes(contraction.batch, arguments.batch));
  WEFT_RETURN_IF_ERROR(SetAxes(contraction.rows, arguments.rows));
  WEFT_RETURN_IF_ERROR(SetAxes(contraction.columns, arguments.columns));
  WEFT_RETURN_IF_ERROR(SetAxes(contraction.inner, arguments.inner));
  arguments.epilogue = EpilogueOf(spec, epilogue);
  GpuGrid grid{.threads = {kSide, kSide, 1}};
  grid.blocks[0] = std::max(1u, TilesOf(arguments.rows.size));
  grid.blocks[1] = std::max(1u, TilesOf(arguments.columns.size));
  grid.blocks[2] = static_cast<uint32_t>(std::clamp<int64_t>(arguments.batch.size, 1, 65535));
  if (grid.blocks[1] > 65535) {
    return absl::UnimplementedError(absl::StrCat("expected fewer columns, got ", arguments.columns.size));
  }
  const std::string name = absl::StrCat("product_", NameOf(spec.inputs[0].dtype), "_", NameOf(spec.outputs[0].dtype));
  return MakeGpuLaunch(
      spec, "einsum", name, grid, arguments,
      [swapped = contraction.swapped, epilogue, accumulates](ProductArguments& arguments, const RunContext& context,
                                                             GpuInputs inputs, GpuOutputs outputs) {
        arguments.adds = accumulates && context.micro_batch > 0;
        BindEpilogue(epilogue, inputs, outputs, arguments.epilogue);
        arguments.left = inputs[swapped ? 1 : 0];
        arguments.right = inputs[swapped ? 0 : 1];
        arguments.result = outputs[0];
      });
}

}  // namespace weft::einsum
