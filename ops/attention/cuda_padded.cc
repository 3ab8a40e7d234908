// Attention of head sizes that are no multiple of 8, by the ways that take multiples of 8.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/attention/cuda_arguments.h"
#include "ops/attention/cuda_attention.h"

namespace weft::attention {
namespace {

constexpr int64_t kElement = 2;  // bytes, of bf16 and f16

// Zeros behind a head change no score, give results of zero there, and gradients of zero. So what has heads gets a
// copy with longer ones, in memory that the kernels of a stream share.
class PaddedAttention : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const Problem& problem, int64_t depth,
                                                        std::unique_ptr<Kernel> inner) {
    auto made = std::make_unique<PaddedAttention>();
    made->inner_ = std::move(inner);
    made->inputs_.resize(spec.inputs.size());
    made->outputs_.resize(spec.outputs.size());
    // What is only rows has no heads: what the forward saved. A packed tensor stays packed.
    const bool gradient = spec.name == "attention_grad";
    size_t bytes = 0;
    const auto add = [&](const TensorSpec& tensor, size_t at, std::vector<Moved>& list) {
      const int64_t rows = tensor.elements() / problem.depth;
      list.push_back({at, rows, bytes});
      bytes += static_cast<size_t>((rows * depth * kElement + 255) / 256 * 256);
    };
    const size_t with_heads = gradient ? problem.saved_input() : problem.tensors();
    for (size_t i = 0; i < with_heads; ++i) add(spec.inputs[i], i, made->moved_in_);
    for (size_t i = 0; i < (gradient ? problem.tensors() : 1); ++i) add(spec.outputs[i], i, made->moved_out_);
    WEFT_ASSIGN_OR_RETURN(made->resize_, GpuKernel<ResizeArguments>::Find(spec.gpu, "attention", "resize"));
    made->depth_ = static_cast<int32_t>(problem.depth);
    made->padded_depth_ = static_cast<int32_t>(depth);
    made->most_blocks_ = static_cast<uint32_t>(spec.gpu->properties().multiprocessors) * 16;
    made->workspace_ = spec.gpu_workspace->Beside();
    WEFT_RETURN_IF_ERROR(made->workspace_->Reserve(spec.gpu, bytes));
    return made;
  }

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    char* const workspace = workspace_->data<char>();
    std::copy(inputs.begin(), inputs.end(), inputs_.begin());
    std::copy(outputs.begin(), outputs.end(), outputs_.begin());
    ResizeArguments in = {.from_depth = depth_, .to_depth = padded_depth_};
    for (size_t i = 0; i < moved_in_.size(); ++i) {
      const Moved& it = moved_in_[i];
      in.tensors[i] = {inputs[it.at], workspace + it.offset, it.rows};
      inputs_[it.at] = workspace + it.offset;
    }
    ResizeArguments out = {.from_depth = padded_depth_, .to_depth = depth_};
    for (size_t i = 0; i < moved_out_.size(); ++i) {
      const Moved& it = moved_out_[i];
      out.tensors[i] = {workspace + it.offset, outputs[it.at], it.rows};
      outputs_[it.at] = workspace + it.offset;
    }
    WEFT_RETURN_IF_ERROR(resize_->Launch(GridOf(moved_in_), in, context.stream));
    WEFT_RETURN_IF_ERROR(inner_->Run(context, inputs_, outputs_));
    return resize_->Launch(GridOf(moved_out_), out, context.stream);
  }

 private:
  struct Moved {
    size_t at;  // among the inputs, or the outputs
    int64_t rows;
    size_t offset;  // in the workspace
  };

  GpuGrid GridOf(const std::vector<Moved>& moved) const {
    int64_t rows = 0;
    for (const Moved& it : moved) rows = std::max(rows, it.rows);
    GpuGrid grid = GridFor(rows * 32, kResizeThreads);
    grid.blocks[0] = std::min(grid.blocks[0], most_blocks_);
    grid.blocks[1] = static_cast<uint32_t>(moved.size());
    return grid;
  }

  std::unique_ptr<Kernel> inner_;
  std::optional<GpuKernel<ResizeArguments>> resize_;
  std::vector<Moved> moved_in_, moved_out_;
  std::vector<const void*> inputs_;  // what the inner kernel gets
  std::vector<void*> outputs_;
  int32_t depth_ = 0, padded_depth_ = 0;
  uint32_t most_blocks_ = 1;
  std::shared_ptr<GpuWorkspace> workspace_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreatePaddedAttention(const KernelSpec& spec, const Problem& problem) {
  if (SizeOf(problem.type) != kElement || problem.depth % 8 == 0 || spec.name == "attention_bias_grad") {
    return absl::UnimplementedError("expected halves with a head size that is no multiple of 8");
  }
  Problem padded = problem;
  padded.depth = (problem.depth + 7) / 8 * 8;
  absl::StatusOr<std::unique_ptr<Kernel>> inner = CreateLibraryAttention(spec, padded);
  if (absl::IsUnimplemented(inner.status())) inner = CreateTensorAttention(spec, padded);
  if (!inner.ok()) return inner.status();
  return PaddedAttention::Create(spec, problem, padded.depth, *std::move(inner));
}

}  // namespace weft::attention
