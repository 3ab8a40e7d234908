// Attention by a vendor's library.
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "ops/abi/gpu_attention.h"
#include "ops/abi/gpu_launch.h"
#include "ops/attention/cuda_arguments.h"
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
    return attention_->Run(AddressesOf(problem_, gradient_, inputs, outputs), workspace, context.stream);
  }

  static GpuAttentionAddresses AddressesOf(const Problem& problem, bool gradient, GpuInputs inputs,
                                           GpuOutputs outputs) {
    const auto [q, k, v] = problem.PartsOf(inputs, gradient ? 1 : 0);
    if (!gradient) {
      return {.q = q, .k = k, .v = v, .out = outputs[0], .lse = outputs.size() > 1 ? outputs[1] : nullptr};
    }
    const auto [dq, dk, dv] = problem.PartsOf(outputs, 0);
    return {.q = q,
            .k = k,
            .v = v,
            .out = const_cast<void*>(inputs[problem.out_input()]),
            .lse = const_cast<void*>(inputs[problem.saved_input()]),
            .dout = inputs[0],
            .dq = dq,
            .dk = dk,
            .dv = dv};
  }

 private:
  const std::unique_ptr<GpuAttention> attention_;
  const Problem problem_;
  const bool gradient_;
  const std::shared_ptr<GpuWorkspace> workspace_;
};

size_t RoundUp(size_t bytes) { return (bytes + 255) / 256 * 256; }

// Some of the rows, or some of the keys: what the others would have is written beside. The library wants log sums
// without gaps, which are copied.
class PartialAttention : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const Problem& problem, bool gradient,
                                                        std::unique_ptr<GpuAttention> attention,
                                                        std::shared_ptr<GpuWorkspace> workspace) {
    auto made = std::make_unique<PartialAttention>();
    made->gpu_ = spec.gpu;
    made->problem_ = problem;
    made->gradient_ = gradient;
    made->attention_ = std::move(attention);
    made->workspace_ = std::move(workspace);
    made->log_sums_at_ = RoundUp(made->attention_->workspace_bytes());
    size_t bytes = made->log_sums_at_;
    if (problem.first_row > 0) {
      const int64_t lists = problem.batch * problem.query_heads;
      made->log_sums_ = {.lists = lists, .rows = problem.queries, .first_row = problem.first_row};
      const int64_t count = lists * (problem.queries - (gradient ? problem.first_row : 0));
      made->grid_ = LoopGrid(*spec.gpu, count, kLogSumThreads);
      WEFT_ASSIGN_OR_RETURN(made->copy_, GpuKernel<LogSumArguments>::Find(spec.gpu, "attention",
                                                                          gradient ? "log_sums_in" : "log_sums_out"));
      bytes += static_cast<size_t>(lists * (problem.queries - problem.first_row)) * sizeof(float);
    }
    WEFT_RETURN_IF_ERROR(made->workspace_->Reserve(spec.gpu, bytes));
    return made;
  }

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    GpuAttentionAddresses it = LibraryAttention::AddressesOf(problem_, gradient_, inputs, outputs);
    WEFT_RETURN_IF_ERROR(ClearOthers(it, context.stream));
    LogSumArguments log_sums = log_sums_;
    if (copy_.has_value()) {
      log_sums.all = static_cast<float*>(it.lse);
      log_sums.part = reinterpret_cast<float*>(workspace_->data<char>() + log_sums_at_);
      const auto begin = static_cast<size_t>(problem_.first_row);
      const size_t query = begin * static_cast<size_t>(problem_.query_row()) * SizeOf(problem_.type);
      const size_t out = begin * static_cast<size_t>(problem_.out_row()) * SizeOf(problem_.type);
      it = {.q = Behind(it.q, query),
            .k = it.k,
            .v = it.v,
            .out = Behind(it.out, out),
            .lse = it.lse != nullptr ? log_sums.part : nullptr,
            .dout = Behind(it.dout, out),
            .dq = Behind(it.dq, query),
            .dk = it.dk,
            .dv = it.dv};
    }
    const bool copies = copy_.has_value() && it.lse != nullptr;
    if (copies && gradient_) WEFT_RETURN_IF_ERROR(copy_->Launch(grid_, log_sums, context.stream));
    void* const workspace = attention_->workspace_bytes() > 0 ? workspace_->data<void>() : nullptr;
    WEFT_RETURN_IF_ERROR(attention_->Run(it, workspace, context.stream));
    if (copies && !gradient_) WEFT_RETURN_IF_ERROR(copy_->Launch(grid_, log_sums, context.stream));
    return absl::OkStatus();
  }

 private:
  template <typename Byte>
  static Byte* Behind(Byte* address, size_t bytes) {
    using Of = std::conditional_t<std::is_const_v<Byte>, const char, char>;
    return address != nullptr ? static_cast<Of*>(address) + bytes : nullptr;
  }

  // Results of rows that see no key, and of keys that no row sees.
  absl::Status ClearOthers(const GpuAttentionAddresses& it, void* stream) const {
    if (!gradient_) return Clear(it.out, problem_.out_row(), problem_.queries, 0, problem_.first_row, stream);
    WEFT_RETURN_IF_ERROR(Clear(it.dq, problem_.query_row(), problem_.queries, 0, problem_.first_row, stream));
    WEFT_RETURN_IF_ERROR(Clear(it.dk, problem_.key_row(), problem_.keys, problem_.seen, problem_.keys, stream));
    return Clear(it.dv, problem_.key_row(), problem_.keys, problem_.seen, problem_.keys, stream);
  }

  // Rows [begin, end) of `all` in each element of the batch, of `row` elements each.
  absl::Status Clear(void* data, int64_t row, int64_t all, int64_t begin, int64_t end, void* stream) const {
    const auto row_bytes = static_cast<size_t>(row) * SizeOf(problem_.type);
    for (int64_t b = 0; b < problem_.batch && begin < end; ++b) {
      char* const at = static_cast<char*>(data) + static_cast<size_t>(b * all + begin) * row_bytes;
      WEFT_RETURN_IF_ERROR(gpu_->Fill(at, 0, static_cast<size_t>(end - begin) * row_bytes, stream));
    }
    return absl::OkStatus();
  }

  Gpu* gpu_ = nullptr;
  Problem problem_ = {};
  bool gradient_ = false;
  std::unique_ptr<GpuAttention> attention_;
  std::shared_ptr<GpuWorkspace> workspace_;
  size_t log_sums_at_ = 0;  // of the workspace
  std::optional<GpuKernel<LogSumArguments>> copy_;
  LogSumArguments log_sums_ = {};
  GpuGrid grid_;
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
                                            .queries = problem.queries - problem.first_row,
                                            .keys = problem.seen,
                                            .query_heads = problem.query_heads,
                                            .key_heads = problem.key_heads,
                                            .depth = problem.depth,
                                            .query_rows = problem.queries,
                                            .key_rows = problem.keys,
                                            .packed = problem.packed,
                                            .scale = problem.scale,
                                            .causal = problem.causal,
                                            .first_limit = problem.first_limit,
                                            .gradient = gradient,
                                            .lse = gradient || spec.outputs.size() > 1}));
  const std::shared_ptr<GpuWorkspace> workspace =
      spec.gpu_workspace != nullptr ? spec.gpu_workspace : std::make_shared<GpuWorkspace>();
  if (problem.partial()) {
    return PartialAttention::Create(spec, problem, gradient, std::move(attention), workspace);
  }
  WEFT_RETURN_IF_ERROR(workspace->Reserve(spec.gpu, attention->workspace_bytes()));
  return std::make_unique<LibraryAttention>(std::move(attention), problem, gradient, workspace);
}

}  // namespace weft::attention
