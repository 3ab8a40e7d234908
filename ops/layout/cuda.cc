// GPU kernels of copy, copy_tile, concat, mask_rank, pad, reshape, slice and
// transpose, for every element type. copy, reshape and mask_rank may be in place.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/families.h"
#include "ops/layout/cuda_arguments.h"
#include "ops/layout/plan.h"

namespace weft {
namespace {

using namespace layout;  // the plans and the arguments

constexpr const char* kModule = "layout";

// The bytes as they are, or zeros.
class BytesKernel : public Kernel {
 public:
  BytesKernel(const KernelSpec& spec, bool keeps) : gpu_(spec.gpu), bytes_(spec.outputs[0].bytes()), keeps_(keeps) {}

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    if (bytes_ == 0) return absl::OkStatus();
    if (!keeps_) return gpu_->Fill(outputs[0], 0, bytes_, context.stream);
    if (inputs[0] == outputs[0]) return absl::OkStatus();
    return gpu_->Copy(outputs[0], inputs[0], bytes_, context.stream);
  }

 private:
  Gpu* const gpu_;
  const size_t bytes_;
  const bool keeps_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateCopy(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckCopy(spec));
  return std::make_unique<BytesKernel>(spec, true);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateReshape(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckReshape(spec));
  return std::make_unique<BytesKernel>(spec, true);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateMaskRank(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(bool keeps, KeepsValue(spec));
  return std::make_unique<BytesKernel>(spec, keeps);
}

// What one launch moves: a box of bytes, whose innermost dim is of neighbours.
struct Box {
  int64_t from = 0, to = 0;  // of index (0, ..., 0)
  std::vector<BoxDim> dims;  // innermost first

  // All of `extent`, of which steps are `from` and `to` apart.
  static BoxDim Whole(int64_t extent, int64_t from, int64_t to) { return {extent, 0, extent, from, to}; }

  // In the longest words that divide everything.
  absl::StatusOr<BoxArguments> InWords(int64_t* word) const {
    if (dims.size() > kMaxDims) {
      return absl::UnimplementedError(absl::StrCat("expected at most ", kMaxDims, " dims, got ", dims.size()));
    }
    int64_t all = 16;
    const auto divides = [&all](std::initializer_list<int64_t> bytes) {
      for (int64_t it : bytes) all = std::gcd(all, it);
    };
    divides({from, to, dims[0].extent, dims[0].begin, dims[0].end});
    for (size_t d = 1; d < dims.size(); ++d) divides({dims[d].from, dims[d].to});
    *word = all;
    BoxArguments arguments{.words = 1, .from = from / all, .to = to / all, .dims = static_cast<int32_t>(dims.size())};
    for (size_t d = 0; d < dims.size(); ++d) {
      const BoxDim& it = dims[d];
      arguments.dim[d] = d == 0 ? BoxDim{it.extent / all, it.begin / all, it.end / all, 1, 1}
                                : BoxDim{it.extent, it.begin, it.end, it.from / all, it.to / all};
      arguments.words *= arguments.dim[d].extent;
    }
    return arguments;
  }
};

// One launch an input.
class BoxKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const std::vector<Box>& boxes) {
    auto kernel = std::make_unique<BoxKernel>();
    for (size_t i = 0; i < boxes.size(); ++i) {
      int64_t word = 1;
      WEFT_ASSIGN_OR_RETURN(BoxArguments arguments, boxes[i].InWords(&word));
      if (arguments.words == 0) continue;
      const bool is_long = arguments.words > std::numeric_limits<int32_t>::max();
      WEFT_ASSIGN_OR_RETURN(auto found, GpuKernel<BoxArguments>::Find(
                                            spec.gpu, kModule, absl::StrCat("box_", word, is_long ? "_long" : "")));
      kernel->launches_.push_back({found, LoopGrid(*spec.gpu, arguments.words, kThreads), arguments, i});
    }
    return kernel;
  }

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    for (const Launch& it : launches_) {
      BoxArguments arguments = it.arguments;
      arguments.x = inputs[it.input];
      arguments.y = outputs[0];
      WEFT_RETURN_IF_ERROR(it.kernel.Launch(it.grid, arguments, context.stream));
    }
    return absl::OkStatus();
  }

 private:
  struct Launch {
    GpuKernel<BoxArguments> kernel;
    GpuGrid grid;
    BoxArguments arguments;
    size_t input;
  };
  std::vector<Launch> launches_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateSlice(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(SlicePlan plan, PlanSlice(spec));
  return BoxKernel::Create(
      spec,
      {{.from = plan.offset, .dims = {Box::Whole(plan.bytes, 1, 1), Box::Whole(plan.count, plan.stride, plan.bytes)}}});
}

absl::StatusOr<std::unique_ptr<Kernel>> CreatePad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(PadPlan plan, PlanPad(spec));
  const int64_t stride = plan.before + plan.bytes + plan.after;
  const BoxDim row{stride, plan.before, plan.before + plan.bytes, 1, 1};
  return BoxKernel::Create(spec, {{.from = -plan.before, .dims = {row, Box::Whole(plan.count, plan.bytes, stride)}}});
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateConcat(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(ConcatPlan plan, PlanConcat(spec));
  std::vector<Box> boxes;
  int64_t to = 0;
  for (int64_t bytes : plan.bytes) {
    boxes.push_back({.to = to, .dims = {Box::Whole(bytes, 1, 1), Box::Whole(plan.count, bytes, plan.stride)}});
    to += bytes;
  }
  return BoxKernel::Create(spec, boxes);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateCopyTile(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(CopyTilePlan plan, PlanCopyTile(spec));
  const TileDim& row = plan.row;
  const int64_t unit = plan.unit;
  Box box{.from = row.shift * unit, .dims = {{row.extent * unit, row.begin * unit, row.end * unit, 1, 1}}};
  int64_t to = row.extent * unit;
  for (const TileDim& dim : plan.outer) {
    box.from += dim.shift * dim.from_stride;
    box.dims.push_back({dim.extent, dim.begin, dim.end, dim.from_stride, to});
    to *= dim.extent;
  }
  return BoxKernel::Create(spec, {box});
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateTranspose(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(std::vector<PermutedDim> plan, PlanTranspose(spec));
  std::vector<PermutedDim> dims = std::move(plan);
  const auto size = static_cast<int64_t>(SizeOf(spec.inputs[0].dtype));
  if (dims.empty()) dims.push_back({1, 1, 1});
  const PermutedDim column = dims.back();
  if (column.from == 1) {  // rows stay rows
    Box box{.dims = {Box::Whole(column.extent * size, 1, 1)}};
    for (auto dim = dims.rbegin() + 1; dim != dims.rend(); ++dim) {
      box.dims.push_back(Box::Whole(dim->extent, dim->from * size, dim->to * size));
    }
    return BoxKernel::Create(spec, {box});
  }
  dims.pop_back();
  const auto row = std::find_if(dims.begin(), dims.end(), [](const PermutedDim& dim) { return dim.from == 1; });
  TransposeArguments arguments{
      .rows = row->extent, .columns = column.extent, .row_to = row->to, .column_from = column.from, .planes = 1};
  dims.erase(row);
  if (dims.size() > kMaxDims) {
    return absl::UnimplementedError(absl::StrCat("expected at most ", kMaxDims + 2, " dims, got ", dims.size() + 2));
  }
  arguments.dims = static_cast<int32_t>(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    arguments.planes *= dims[d].extent;
    arguments.extent[d] = dims[d].extent;
    arguments.from[d] = dims[d].from;
    arguments.to[d] = dims[d].to;
  }
  const int64_t tiles =
      arguments.planes * ((arguments.rows + kTile - 1) / kTile) * ((arguments.columns + kTile - 1) / kTile);
  GpuGrid grid = LoopGrid(*spec.gpu, tiles * kThreads, kThreads);
  grid.threads[0] = kTile;
  grid.threads[1] = kThreads / kTile;
  return MakeGpuLaunch(spec, kModule, absl::StrCat("transpose_", size), grid, arguments,
                       [](TransposeArguments& a, const RunContext&, GpuInputs in, GpuOutputs out) {
                         a.x = in[0];
                         a.y = out[0];
                       });
}

}  // namespace

void RegisterLayoutCudaKernels(KernelRegistry& registry) {
  registry.Register("concat", &CreateConcat);
  registry.Register("copy", &CreateCopy);
  registry.Register("copy_tile", &CreateCopyTile);
  registry.Register("mask_rank", &CreateMaskRank);
  registry.Register("pad", &CreatePad);
  registry.Register("reshape", &CreateReshape);
  registry.Register("slice", &CreateSlice);
  registry.Register("transpose", &CreateTranspose);
}

}  // namespace weft
