// Attention by our own kernels, cuda.cu.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/attention/cuda_arguments.h"
#include "ops/attention/cuda_attention.h"

namespace weft::attention {
namespace {

constexpr const char* kModule = "attention";
constexpr int64_t kMostRows = int64_t{1} << 29;  // indices of rows and keys are 32 bits

// One launch: a block for every `side` rows of every head.
struct Launch {
  std::string kernel;
  uint32_t threads;
  int64_t rows, side, heads;
  int shared_bytes;
};

class OwnAttention : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const Problem& problem,
                                                        const std::vector<Launch>& launches) {
    auto made = std::make_unique<OwnAttention>();
    made->grad_ = spec.name == "attention_grad";
    made->arguments_ = ArgumentsOf(problem);
    for (const Launch& launch : launches) {
      const int64_t blocks = (launch.rows + launch.side - 1) / launch.side * launch.heads * problem.batch;
      if (blocks >= int64_t{1} << 31 || problem.batch * launch.heads >= int64_t{1} << 31) {
        return absl::InvalidArgumentError(
            absl::StrCat("expected at most 2147483647 tiles of ", launch.side, " rows, got ", blocks));
      }
      if (blocks == 0) continue;
      WEFT_ASSIGN_OR_RETURN(auto kernel,
                            GpuKernel<AttentionArguments>::Find(spec.gpu, kModule, launch.kernel, launch.shared_bytes));
      made->launches_.push_back({kernel,
                                 {.blocks = {static_cast<uint32_t>(blocks), 1, 1},
                                  .threads = {launch.threads, 1, 1},
                                  .shared_bytes = static_cast<uint32_t>(launch.shared_bytes)}});
    }
    if (made->grad_) {
      const auto rows = static_cast<size_t>(problem.batch * problem.query_heads * problem.queries);
      made->workspace_ = spec.gpu_workspace;
      WEFT_RETURN_IF_ERROR(made->workspace_->Reserve(spec.gpu, std::max<size_t>(1, rows) * sizeof(float)));
    }
    return made;
  }

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    const AttentionArguments arguments = grad_ ? BindGradient(inputs, outputs) : BindForward(inputs, outputs);
    for (const auto& [kernel, grid] : launches_) {
      WEFT_RETURN_IF_ERROR(kernel.Launch(grid, arguments, context.stream));
    }
    return absl::OkStatus();
  }

 private:
  static AttentionArguments ArgumentsOf(const Problem& problem) {
    const int64_t limit =
        problem.causal ? std::clamp(problem.first_limit, -problem.queries, problem.keys) : problem.keys;
    return {.batch = static_cast<int32_t>(problem.batch),
            .queries = static_cast<int32_t>(problem.queries),
            .keys = static_cast<int32_t>(problem.keys),
            .query_heads = static_cast<int32_t>(problem.query_heads),
            .key_heads = static_cast<int32_t>(problem.key_heads),
            .depth = static_cast<int32_t>(problem.depth),
            .first_limit = static_cast<int32_t>(limit),
            .scale = problem.scale};
  }

  AttentionArguments BindForward(GpuInputs inputs, GpuOutputs outputs) const {
    AttentionArguments a = arguments_;
    a.q = inputs[0];
    a.k = inputs[1];
    a.v = inputs[2];
    a.out = outputs[0];
    a.lse = outputs.size() > 1 ? static_cast<float*>(outputs[1]) : nullptr;
    return a;
  }

  AttentionArguments BindGradient(GpuInputs inputs, GpuOutputs outputs) const {
    AttentionArguments a = arguments_;
    a.dout = inputs[0];
    a.q = inputs[1];
    a.k = inputs[2];
    a.v = inputs[3];
    a.out = const_cast<void*>(inputs[4]);
    a.lse = static_cast<float*>(const_cast<void*>(inputs[5]));
    a.delta = workspace_->data<float>();
    a.dq = outputs[0];
    a.dk = outputs[1];
    a.dv = outputs[2];
    return a;
  }

  bool grad_ = false;
  AttentionArguments arguments_ = {};
  std::vector<std::pair<GpuKernel<AttentionArguments>, GpuGrid>> launches_;
  std::shared_ptr<GpuWorkspace> workspace_;  // delta, of a gradient
};

absl::Status CheckSizes(const Problem& problem) {
  if (problem.depth < 1 || problem.depth > kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a head size of 1 to ", kMaxDepth, ", got ", problem.depth));
  }
  if (problem.queries > kMostRows || problem.keys > kMostRows) {
    return absl::InvalidArgumentError(absl::StrCat("expected at most ", kMostRows, " queries and keys, got ",
                                                   problem.queries, " and ", problem.keys));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateTensorAttention(const KernelSpec& spec, const Problem& problem) {
  // Rows of whole packs, which are aligned because tensors are; a scale by which the largest score stays the largest.
  if (SizeOf(spec.inputs[0].dtype) != 2 || problem.depth % 8 != 0 || problem.depth > kMaxTensorDepth ||
      !(problem.scale > 0) || spec.gpu->properties().major < 8) {
    return absl::UnimplementedError(
        "attention by matrix instructions: expected bf16 or f16, a head size of 8 to 128, "
        "a multiple of 8, a scale above 0 and compute capability 8.0");
  }
  WEFT_RETURN_IF_ERROR(CheckSizes(problem));
  const int depth = TensorDepth(static_cast<int>(problem.depth));
  const auto launch = [&](const char* name, const TensorTile& tile, bool of_keys, int shared_bytes) {
    return Launch{absl::StrCat("tensor_", name, "_", NameOf(spec.inputs[0].dtype), "_", depth),
                  static_cast<uint32_t>(tile.threads()),
                  of_keys ? problem.keys : problem.queries,
                  tile.side(),
                  of_keys ? problem.key_heads : problem.query_heads,
                  shared_bytes};
  };
  if (spec.name == "attention") {
    return OwnAttention::Create(spec, problem, {launch("forward", ForwardTile(depth), false, ForwardBytes(depth))});
  }
  // The first makes the delta that the second reads.
  return OwnAttention::Create(spec, problem,
                              {launch("query_gradient", QueryGradientTile(depth), false, QueryGradientBytes(depth)),
                               launch("key_gradient", KeyGradientTile(depth), true, KeyGradientBytes(depth))});
}

absl::StatusOr<std::unique_ptr<Kernel>> CreatePlainAttention(const KernelSpec& spec, const Problem& problem) {
  WEFT_RETURN_IF_ERROR(CheckSizes(problem));
  const int depth = PlainDepth(static_cast<int>(problem.depth)), side = PlainSide(depth);
  const std::string suffix = absl::StrCat("_", NameOf(spec.inputs[0].dtype), "_", depth);
  const auto launch = [&](const char* name, bool of_keys, int shared_bytes) {
    return Launch{absl::StrCat("plain_", name, suffix),
                  kPlainThreads,
                  of_keys ? problem.keys : problem.queries,
                  side,
                  of_keys ? problem.key_heads : problem.query_heads,
                  shared_bytes};
  };
  if (spec.name == "attention") {
    return OwnAttention::Create(spec, problem, {launch("forward", false, PlainForwardBytes(depth))});
  }
  // The first makes the delta that the second reads.
  return OwnAttention::Create(spec, problem,
                              {launch("query_gradient", false, PlainQueryGradientBytes(depth)),
                               launch("key_gradient", true, PlainKeyGradientBytes(depth))});
}

}  // namespace weft::attention
