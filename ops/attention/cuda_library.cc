// Attention by a vendor's library.
#include <memory>
#include <utility>

#include "ops/abi/gpu_attention.h"
#include "ops/abi/gpu_launch.h"
#include "ops/attention/cuda_attention.h"

namespace weft::attention {
namespace {

class LibraryAttention : public Kernel {
 public:
  LibraryAttention(std::unique_ptr<GpuAttention> attention, const Problem& problem, bool gradient,
                   std::shared_ptr<GpuWorkspace> workspace)
      : attention_(std::move(attention)), problem_(problem), gradient_(gradient), workspace_(std::move(workspace)) {}

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    void* const workspace = attention_->workspace_bytes() > 0 ? workspace_->data<void>() : nullptr;
    return attention_->Run(gradient_ ? BindGradient(inputs, outputs) : BindForward(inputs, outputs), workspace,
                           context.stream);
  }

 private:
  GpuAttentionAddresses BindForward(GpuInputs inputs, GpuOutputs outputs) const {
    const auto [q, k, v] = problem_.PartsOf(inputs, 0);
    return {.q = q, .k = k, .v = v, .out = outputs[0], .lse = outputs.size() > 1 ? outputs[1] : nullptr};
  }
  GpuAttentionAddresses BindGradient(GpuInputs inputs, GpuOutputs outputs) const {
    const auto [q, k, v] = problem_.PartsOf(inputs, 1);
    const auto [dq, dk, dv] = problem_.PartsOf(outputs, 0);
    return {.q = q,
            .k = k,
            .v = v,
            .out = const_cast<void*>(inputs[problem_.out_input()]),
            .lse = const_cast<void*>(inputs[problem_.saved_input()]),
            .dout = inputs[0],
            .dq = dq,
            .dk = dk,
            .dv = dv};
  }

  const std::unique_ptr<GpuAttention> attention_;
  const Problem problem_;
  const bool gradient_;
  const std::shared_ptr<GpuWorkspace> workspace_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateLibraryAttention(const KernelSpec& spec, const Problem& problem) {
  GpuAttentions* const attentions = spec.gpu->attentions();
  if (attentions == nullptr) return absl::UnimplementedError("expected a library of fused attention");
  if (!problem.plain() || spec.name == "attention_bias_grad") {
    return absl::UnimplementedError("expected no window, bias or mask");
  }
  const bool gradient = spec.name == "attention_grad";
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<GpuAttention> attention,
                        attentions->Create({.type = spec.inputs[0].dtype,
                                            .batch = problem.batch,
                                            .queries = problem.queries,
                                            .keys = problem.keys,
                                            .query_heads = problem.query_heads,
                                            .key_heads = problem.key_heads,
                                            .depth = problem.depth,
                                            .packed = problem.packed,
                                            .scale = problem.scale,
                                            .causal = problem.causal,
                                            .first_limit = problem.first_limit,
                                            .gradient = gradient,
                                            .lse = gradient || spec.outputs.size() > 1}));
  const std::shared_ptr<GpuWorkspace> workspace =
      spec.gpu_workspace != nullptr ? spec.gpu_workspace : std::make_shared<GpuWorkspace>();
  WEFT_RETURN_IF_ERROR(workspace->Reserve(spec.gpu, attention->workspace_bytes()));
  return std::make_unique<LibraryAttention>(std::move(attention), problem, gradient, workspace);
}

}  // namespace weft::attention
