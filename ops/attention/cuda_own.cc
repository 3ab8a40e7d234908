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

struct Launch {
  std::string kernel;
  uint32_t threads;
  int64_t blocks;
  int shared_bytes;
};

// Those that take a block for every `side` rows of every head.
int64_t BlocksOf(const Problem& problem, int64_t rows, int64_t side, int64_t heads) {
  return (rows + side - 1) / side * heads * problem.batch;
}

enum class Pass { kForward, kGradient, kBiasGradient };
Pass PassOf(const KernelSpec& spec) {
  return spec.name == "attention"        ? Pass::kForward
         : spec.name == "attention_grad" ? Pass::kGradient
                                         : Pass::kBiasGradient;
}

class OwnAttention : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const Problem& problem,
                                                        const std::vector<Launch>& launches) {
    auto made = std::make_unique<OwnAttention>();
    made->pass_ = PassOf(spec);
    made->problem_ = problem;
    made->arguments_ = ArgumentsOf(problem);
    for (const Launch& launch : launches) {
      if (launch.blocks >= int64_t{1} << 31) {
        return absl::InvalidArgumentError(
            absl::StrCat("expected at most 2147483647 tiles in ", launch.kernel, ", got ", launch.blocks));
      }
      if (launch.blocks == 0) continue;
      WEFT_ASSIGN_OR_RETURN(auto kernel,
                            GpuKernel<AttentionArguments>::Find(spec.gpu, kModule, launch.kernel, launch.shared_bytes));
      made->launches_.push_back({kernel,
                                 {.blocks = {static_cast<uint32_t>(launch.blocks), 1, 1},
                                  .threads = {launch.threads, 1, 1},
                                  .shared_bytes = static_cast<uint32_t>(launch.shared_bytes)}});
    }
    if (made->pass_ == Pass::kGradient) {
      const auto rows = static_cast<size_t>(problem.batch * problem.query_heads * problem.queries);
      made->workspace_ = spec.gpu_workspace;
      WEFT_RETURN_IF_ERROR(made->workspace_->Reserve(spec.gpu, std::max<size_t>(1, rows) * sizeof(float)));
    }
    return made;
  }

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    AttentionArguments arguments =
        pass_ == Pass::kForward ? BindForward(inputs, outputs) : BindGradient(inputs, outputs);
    if (problem_.bias.present())
      arguments.bias.data =
          static_cast<const float*>(inputs[static_cast<size_t>(problem_.bias.input)]) + problem_.bias.Offset(0, 0);
    if (problem_.mask.present())
      arguments.mask.data =
          static_cast<const uint8_t*>(inputs[static_cast<size_t>(problem_.mask.input)]) + problem_.mask.Offset(0, 0);
    for (const auto& [kernel, grid] : launches_) {
      WEFT_RETURN_IF_ERROR(kernel.Launch(grid, arguments, context.stream));
    }
    return absl::OkStatus();
  }

 private:
  static AttentionArguments ArgumentsOf(const Problem& problem) {
    const int64_t limit = problem.causal ? std::max(problem.first_limit, -problem.queries) : problem.keys;
    return {.batch = static_cast<int32_t>(problem.batch),
            .queries = static_cast<int32_t>(problem.queries),
            .keys = static_cast<int32_t>(problem.keys),
            .query_heads = static_cast<int32_t>(problem.query_heads),
            .key_heads = static_cast<int32_t>(problem.key_heads),
            .depth = static_cast<int32_t>(problem.depth),
            .query_row = static_cast<int32_t>(problem.query_row()),
            .key_row = static_cast<int32_t>(problem.key_row()),
            .first_limit = static_cast<int32_t>(limit),
            // No row has as many keys before its last one.
            .window = static_cast<int32_t>(problem.windowed() ? problem.window : 2 * kMostRows),
            .first_row = static_cast<int32_t>(problem.first_row),
            .seen = static_cast<int32_t>(problem.seen),
            .scale = problem.scale,
            .bias = ScoresOf<const float>(problem.bias),
            .mask = ScoresOf<const uint8_t>(problem.mask)};
  }
  template <typename T>
  static OfScores<T> ScoresOf(const attention::OfScoresInput& all) {
    OfScores<T> result = {};
    for (size_t i = 0; i < 4; ++i) {
      result.dims[i] = static_cast<int32_t>(all.dims[i]);
      result.steps[i] = all.steps[i];
    }
    return result;
  }

  template <typename Address>
  static void Bind(const OfHeads<Address>& parts, Address& q, Address& k, Address& v) {
    q = parts.q;
    k = parts.k;
    v = parts.v;
  }
  AttentionArguments BindForward(GpuInputs inputs, GpuOutputs outputs) const {
    AttentionArguments a = arguments_;
    Bind(problem_.PartsOf(inputs, 0), a.q, a.k, a.v);
    a.out = outputs[0];
    a.lse = outputs.size() > 1 ? static_cast<float*>(outputs[1]) : nullptr;
    return a;
  }

  AttentionArguments BindGradient(GpuInputs inputs, GpuOutputs outputs) const {
    AttentionArguments a = arguments_;
    a.dout = inputs[0];
    Bind(problem_.PartsOf(inputs, 1), a.q, a.k, a.v);
    a.out = const_cast<void*>(inputs[problem_.out_input()]);
    a.lse = static_cast<float*>(const_cast<void*>(inputs[problem_.saved_input()]));
    if (pass_ == Pass::kBiasGradient) {
      a.dbias = static_cast<float*>(outputs[0]);
      return a;
    }
    a.delta = workspace_->data<float>();
    Bind(problem_.PartsOf(outputs, 0), a.dq, a.dk, a.dv);
    return a;
  }

  Pass pass_ = Pass::kForward;
  Problem problem_ = {};
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
      !(problem.scale > 0) || PassOf(spec) == Pass::kBiasGradient || spec.gpu->properties().major < 8) {
    return absl::UnimplementedError(
        "attention by matrix instructions: expected bf16 or f16, a head size of 8 to 128, "
        "a multiple of 8, a scale above 0, no gradient of a bias, and compute capability 8.0");
  }
  WEFT_RETURN_IF_ERROR(CheckSizes(problem));
  const int depth = TensorDepth(static_cast<int>(problem.depth));
  const auto launch = [&](const char* name, const TensorTile& tile, bool of_keys, int shared_bytes) {
    return Launch{absl::StrCat(problem.plain() ? "tensor_" : "tensor_adjusted_", name, "_",
                               NameOf(spec.inputs[0].dtype), "_", depth),
                  static_cast<uint32_t>(tile.threads()),
                  of_keys ? BlocksOf(problem, problem.keys, tile.side(), problem.key_heads)
                          : BlocksOf(problem, problem.queries, tile.side(), problem.query_heads),
                  shared_bytes};
  };
  if (PassOf(spec) == Pass::kForward) {
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
    return Launch{absl::StrCat(problem.plain() ? "plain_" : "plain_adjusted_", name, suffix), kPlainThreads,
                  of_keys ? BlocksOf(problem, problem.keys, side, problem.key_heads)
                          : BlocksOf(problem, problem.queries, side, problem.query_heads),
                  shared_bytes};
  };
  if (PassOf(spec) == Pass::kBiasGradient) {
    const auto& [batch, heads, rows, keys] = problem.bias.dims;
    const int64_t step = PlainStep(depth);
    const int64_t blocks = batch * heads * ((rows + side - 1) / side) * ((keys + step - 1) / step);
    return OwnAttention::Create(
        spec, problem,
        {{absl::StrCat("plain_bias_gradient", suffix), kPlainThreads, blocks, PlainBiasGradientBytes(depth)}});
  }
  if (PassOf(spec) == Pass::kForward) {
    return OwnAttention::Create(spec, problem, {launch("forward", false, PlainForwardBytes(depth))});
  }
  // The first makes the delta that the second reads.
  return OwnAttention::Create(spec, problem,
                              {launch("query_gradient", false, PlainQueryGradientBytes(depth)),
                               launch("key_gradient", true, PlainKeyGradientBytes(depth))});
}

}  // namespace weft::attention
