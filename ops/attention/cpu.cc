#include "ops/attention/cpu.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "ops/abi/cpu_level.h"
#include "ops/abi/kernel.h"
#include "ops/abi/parallel.h"
#include "ops/abi/workspace.h"
#include "ops/attention/head.h"
#include "ops/attention/problem.h"

namespace weft {
namespace {

using attention::ConstRows;
using attention::HeadFunctions;
using attention::HeadShape;
using attention::Rows;

const HeadFunctions& FunctionsForThisCpu() {
  return CpuHasLevel4() ? attention::v4::Functions() : attention::v3::Functions();
}

// The problem, with what the inner part wants of it.
struct Problem : attention::Problem {
  explicit Problem(const attention::Problem& problem)
      : attention::Problem(problem), shape{queries, keys, depth, scale, causal, first_limit} {}

  HeadShape shape;

  int64_t query_stride() const { return query_heads * depth; }
  int64_t key_stride() const { return key_heads * depth; }
  // Of element (b, 0, head, 0).
  int64_t QueryOffset(int64_t b, int64_t head) const { return (b * queries * query_heads + head) * depth; }
  int64_t KeyOffset(int64_t b, int64_t head) const { return (b * keys * key_heads + head) * depth; }
};

// Calls body(unit, scratch) for every unit, dealt out to `threads` threads in fixed shares, each
// with its own `scratch_floats` floats of `scratch`.
template <typename Body>
void ShareOut(int threads, int64_t units, float* scratch, int64_t scratch_floats, const Body& body) {
  const int64_t workers = std::min<int64_t>(std::max(threads, 1), units);
  ParallelFor(threads, workers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker) {
      const int64_t last = units * (worker + 1) / workers;
      for (int64_t unit = units * worker / workers; unit < last; ++unit) body(unit, scratch + worker * scratch_floats);
    }
  });
}

int64_t AlignedFloats(int64_t floats) { return (floats + 15) / 16 * 16; }

class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const Problem& problem, const KernelSpec& spec)
      : problem_(problem),
        threads_(std::max(spec.threads, 1)),
        functions_(FunctionsForThisCpu()),
        scratch_floats_(AlignedFloats(functions_.forward_scratch(problem.shape))),
        workspace_(Reserved(spec.workspace, static_cast<size_t>(scratch_floats_ * threads_) * sizeof(float))) {
    const int64_t heads = std::max<int64_t>(1, problem.batch * problem.query_heads);
    chunks_ = heads >= threads_ ? 1 : (threads_ + heads - 1) / heads;
  }

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const float* q = static_cast<const float*>(inputs[0]);
    const float* k = static_cast<const float*>(inputs[1]);
    const float* v = static_cast<const float*>(inputs[2]);
    float* out = static_cast<float*>(outputs[0]);
    float* lse = outputs.size() > 1 ? static_cast<float*>(outputs[1]) : nullptr;
    const HeadShape& shape = problem_.shape;
    const int64_t heads = problem_.query_heads;
    ShareOut(threads_, problem_.batch * heads * chunks_, workspace_->data<float>(), scratch_floats_,
             [&](int64_t unit, float* scratch) {
               const int64_t b = unit / chunks_ / heads, head = unit / chunks_ % heads, chunk = unit % chunks_;
               const int64_t at = problem_.QueryOffset(b, head);
               const int64_t key_at = problem_.KeyOffset(b, head / problem_.group());
               functions_.forward(shape,
                                  {{q + at, problem_.query_stride()},
                                   {k + key_at, problem_.key_stride()},
                                   {v + key_at, problem_.key_stride()},
                                   {out + at, problem_.query_stride()},
                                   lse ? lse + (b * heads + head) * shape.queries : nullptr},
                                  shape.queries * chunk / chunks_, shape.queries * (chunk + 1) / chunks_, scratch);
             });
    return absl::OkStatus();
  }

 private:
  const Problem problem_;
  const int threads_;
  const HeadFunctions& functions_;
  const int64_t scratch_floats_;
  const std::shared_ptr<Workspace> workspace_;
  int64_t chunks_;  // of a head's query rows
};

class AttentionGradKernel : public Kernel {
 public:
  AttentionGradKernel(const Problem& problem, const KernelSpec& spec)
      : problem_(problem),
        threads_(std::max(spec.threads, 1)),
        functions_(FunctionsForThisCpu()),
        scratch_floats_(AlignedFloats(functions_.backward_scratch(problem.shape))),
        workspace_(Reserved(spec.workspace, static_cast<size_t>(scratch_floats_ * threads_) * sizeof(float))),
        query_heads_(static_cast<size_t>(problem.batch * problem.query_heads)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const float* dout = static_cast<const float*>(inputs[0]);
    const float* q = static_cast<const float*>(inputs[1]);
    const float* k = static_cast<const float*>(inputs[2]);
    const float* v = static_cast<const float*>(inputs[3]);
    const float* out = static_cast<const float*>(inputs[4]);
    const float* lse = static_cast<const float*>(inputs[5]);
    float* dq = static_cast<float*>(outputs[0]);
    float* dk = static_cast<float*>(outputs[1]);
    float* dv = static_cast<float*>(outputs[2]);
    const int64_t stride = problem_.query_stride(), key_stride = problem_.key_stride();
    ShareOut(threads_, problem_.batch * problem_.key_heads, workspace_->data<float>(), scratch_floats_,
             [&](int64_t unit, float* scratch) {
               const int64_t b = unit / problem_.key_heads, key_head = unit % problem_.key_heads;
               const int64_t first = b * problem_.query_heads + key_head * problem_.group();
               for (int64_t g = 0; g < problem_.group(); ++g) {
                 const int64_t at = problem_.QueryOffset(b, key_head * problem_.group() + g);
                 query_heads_[first + g] = {{q + at, stride},
                                            {out + at, stride},
                                            {dout + at, stride},
                                            lse + (first + g) * problem_.shape.queries,
                                            {dq + at, stride}};
               }
               const int64_t at = problem_.KeyOffset(b, key_head);
               functions_.backward(problem_.shape,
                                   {{k + at, key_stride},
                                    {v + at, key_stride},
                                    {dk + at, key_stride},
                                    {dv + at, key_stride},
                                    &query_heads_[first],
                                    problem_.group()},
                                   scratch);
             });
    return absl::OkStatus();
  }

 private:
  const Problem problem_;
  const int threads_;
  const HeadFunctions& functions_;
  const int64_t scratch_floats_;
  const std::shared_ptr<Workspace> workspace_;
  std::vector<attention::QueryGradient> query_heads_;  // filled in Run(), one a query head
};

template <typename AnyKernel>
absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  absl::StatusOr<attention::Problem> problem = attention::ParseProblem(spec, /*typed=*/false);
  if (!problem.ok()) return problem.status();
  return std::make_unique<AnyKernel>(Problem(*problem), spec);
}

}  // namespace

void RegisterAttentionKernels(KernelRegistry& registry) {
  registry.Register("attention", &Create<AttentionKernel>);
  registry.Register("attention_grad", &Create<AttentionGradKernel>);
}

}  // namespace weft
