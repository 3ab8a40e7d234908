// CPU kernels of the attention family.
// Adds `attention`, `attention_grad` and `attention_bias_grad`. Threads share out heads (and, where there are fewer
// heads than threads, query rows of the forward pass); results do not depend on the number of threads.
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "ops/abi/cpu_level.h"
#include "ops/abi/float_types.h"
#include "ops/abi/kernel.h"
#include "ops/abi/parallel.h"
#include "ops/abi/workspace.h"
#include "ops/attention/cpu_merge.h"
#include "ops/attention/cpu_staged.h"
#include "ops/attention/cpu_unfused.h"
#include "ops/attention/head.h"
#include "ops/attention/problem.h"
#include "ops/families.h"

namespace weft {
namespace {

using attention::AlignedFloats;
using attention::HeadFunctions;
using attention::HeadShape;
using attention::OfHeadScores;
using attention::Rows;
using attention::Staged;

const HeadFunctions& FunctionsForThisCpu() {
  return CpuHasLevel4() ? attention::v4::Functions() : attention::v3::Functions();
}

// The problem, with what the inner part wants of it.
struct Problem : attention::Problem {
  explicit Problem(const attention::Problem& problem)
      : attention::Problem(problem), shape{queries, keys, depth, scale, causal, first_limit, window, first_row, seen} {}

  HeadShape shape;

  // Of element (b, 0, head, 0) of q, of k and v, and of out.
  int64_t QueryOffset(int64_t b, int64_t head) const { return b * queries * query_row() + head * depth; }
  int64_t KeyOffset(int64_t b, int64_t head) const { return b * keys * key_row() + head * depth; }
  int64_t OutOffset(int64_t b, int64_t head) const { return b * queries * out_row() + head * depth; }
  // The bias or mask of one query head, among the kernel's inputs.
  template <typename T>
  static OfHeadScores<const T> OfHead(const attention::OfScoresInput& all, absl::Span<const void* const> inputs,
                                      int64_t b, int64_t head) {
    if (!all.present()) return {};
    const T* data = static_cast<const T*>(inputs[static_cast<size_t>(all.input)]);
    return {data + all.Offset(b, head), all.steps[2], all.steps[3]};
  }
  OfHeadScores<const float> Bias(absl::Span<const void* const> inputs, int64_t b, int64_t head) const {
    return OfHead<float>(bias, inputs, b, head);
  }
  OfHeadScores<const uint8_t> Mask(absl::Span<const void* const> inputs, int64_t b, int64_t head) const {
    return OfHead<uint8_t>(mask, inputs, b, head);
  }
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

template <typename T>
class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const Problem& problem, const KernelSpec& spec)
      : problem_(problem),
        threads_(std::max(spec.threads, 1)),
        functions_(FunctionsForThisCpu()),
        inner_floats_(AlignedFloats(functions_.forward_scratch(problem.shape))),
        scratch_floats_(inner_floats_ + Staged<T>::Floats(2 * (problem.queries + problem.keys), problem.depth)),
        workspace_(Reserved(spec.workspace, static_cast<size_t>(scratch_floats_ * threads_) * sizeof(float))) {
    const int64_t heads = std::max<int64_t>(1, problem.batch * problem.query_heads);
    chunks_ = heads >= threads_ ? 1 : (threads_ + heads - 1) / heads;
  }

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const auto [q_at, k_at, v_at] = problem_.PartsOf(inputs, 0);
    const T* const q = static_cast<const T*>(q_at);
    const T* const k = static_cast<const T*>(k_at);
    const T* const v = static_cast<const T*>(v_at);
    T* out = static_cast<T*>(outputs[0]);
    float* lse = outputs.size() > 1 ? static_cast<float*>(outputs[1]) : nullptr;
    const HeadShape& shape = problem_.shape;
    const int64_t heads = problem_.query_heads, stride = problem_.out_row(), key_stride = problem_.key_row();
    ShareOut(threads_, problem_.batch * heads * chunks_, workspace_->data<float>(), scratch_floats_,
             [&](int64_t unit, float* scratch) {
               const int64_t b = unit / chunks_ / heads, head = unit / chunks_ % heads, chunk = unit % chunks_;
               const int64_t begin = shape.queries * chunk / chunks_, end = shape.queries * (chunk + 1) / chunks_;
               const int64_t at = problem_.OutOffset(b, head), query_at = problem_.QueryOffset(b, head);
               const int64_t key_at = problem_.KeyOffset(b, head / problem_.group());
               Staged<T> staged(scratch + inner_floats_, shape.depth);
               const Rows room = staged.Room(out + at, stride, shape.queries);
               const auto mask = problem_.Mask(inputs, b, head);
               const int64_t seen = attention::SeenByAny(shape, mask, begin, end);
               functions_.forward(
                   shape,
                   {staged.Load(q + query_at, problem_.query_row(), shape.queries, begin, end),
                    staged.Load(k + key_at, key_stride, shape.keys, 0, seen),
                    staged.Load(v + key_at, key_stride, shape.keys, 0, seen), room,
                    lse ? lse + (b * heads + head) * shape.queries : nullptr, problem_.Bias(inputs, b, head), mask},
                   begin, end, scratch);
               staged.Store(room, out + at, stride, begin, end);
             });
    return absl::OkStatus();
  }

 private:
  const Problem problem_;
  const int threads_;
  const HeadFunctions& functions_;
  const int64_t inner_floats_, scratch_floats_;  // what the inner part needs of a thread's
  const std::shared_ptr<Workspace> workspace_;
  int64_t chunks_;  // of a head's query rows
};

template <typename T>
class AttentionGradKernel : public Kernel {
 public:
  AttentionGradKernel(const Problem& problem, const KernelSpec& spec)
      : problem_(problem),
        threads_(std::max(spec.threads, 1)),
        functions_(FunctionsForThisCpu()),
        inner_floats_(AlignedFloats(functions_.backward_scratch(problem.shape))),
        scratch_floats_(inner_floats_ +
                        Staged<T>::Floats(4 * (problem.group() * problem.queries + problem.keys), problem.depth)),
        workspace_(Reserved(spec.workspace, static_cast<size_t>(scratch_floats_ * threads_) * sizeof(float))),
        query_heads_(static_cast<size_t>(problem.batch * problem.query_heads)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const auto at = [](const void* address) { return static_cast<const T*>(address); };
    const auto [q, k, v] = problem_.PartsOf(inputs, 1);
    const auto [dq, dk, dv] = problem_.PartsOf(outputs, 0);
    const void *const dout = inputs[0], *const out = inputs[problem_.out_input()];
    const void* const lse = inputs[problem_.saved_input()];
    ShareOut(threads_, problem_.batch * problem_.key_heads, workspace_->data<float>(), scratch_floats_,
             [&, q = at(q), k = at(k), v = at(v), dq = static_cast<T*>(dq), dk = static_cast<T*>(dk),
              dv = static_cast<T*>(dv)](int64_t unit, float* scratch) {
               const int64_t b = unit / problem_.key_heads, key_head = unit % problem_.key_heads;
               const int64_t first = b * problem_.query_heads + key_head * problem_.group();
               const int64_t stride = problem_.query_row(), key_stride = problem_.key_row(), row = problem_.out_row();
               const int64_t queries = problem_.queries, keys = problem_.keys;
               Staged<T> staged(scratch + inner_floats_, problem_.depth);
               for (int64_t g = 0; g < problem_.group(); ++g) {
                 const int64_t head = key_head * problem_.group() + g;
                 const int64_t from = problem_.QueryOffset(b, head), out_from = problem_.OutOffset(b, head);
                 query_heads_[first + g] = {staged.Load(q + from, stride, queries),
                                            staged.Load(at(out) + out_from, row, queries),
                                            staged.Load(at(dout) + out_from, row, queries),
                                            static_cast<const float*>(lse) + (first + g) * queries,
                                            staged.Room(dq + from, stride, queries),
                                            problem_.Bias(inputs, b, head),
                                            problem_.Mask(inputs, b, head)};
               }
               const int64_t from = problem_.KeyOffset(b, key_head);
               const attention::BackwardHead head = {staged.Load(k + from, key_stride, keys),
                                                     staged.Load(v + from, key_stride, keys),
                                                     staged.Room(dk + from, key_stride, keys),
                                                     staged.Room(dv + from, key_stride, keys),
                                                     &query_heads_[first],
                                                     problem_.group()};
               functions_.backward(problem_.shape, head, scratch);
               staged.Store(head.dk, dk + from, key_stride, 0, keys);
               staged.Store(head.dv, dv + from, key_stride, 0, keys);
               for (int64_t g = 0; g < problem_.group(); ++g) {
                 T* const to = dq + problem_.QueryOffset(b, key_head * problem_.group() + g);
                 staged.Store(query_heads_[first + g].dq, to, stride, 0, queries);
               }
             });
    return absl::OkStatus();
  }

 private:
  const Problem problem_;
  const int threads_;
  const HeadFunctions& functions_;
  const int64_t inner_floats_, scratch_floats_;  // what the inner part needs of a thread's
  const std::shared_ptr<Workspace> workspace_;
  std::vector<attention::QueryGradient> query_heads_;  // filled in Run(), one a query head
};

// A thread adds up what goes into the same elements, the batch and the heads in order.
template <typename T>
class AttentionBiasGradKernel : public Kernel {
 public:
  AttentionBiasGradKernel(const Problem& problem, const KernelSpec& spec)
      : problem_(problem),
        threads_(std::max(spec.threads, 1)),
        functions_(FunctionsForThisCpu()),
        inner_floats_(AlignedFloats(functions_.backward_scratch(problem.shape))),
        scratch_floats_(inner_floats_ + Staged<T>::Floats(3 * problem.queries + 2 * problem.keys, problem.depth)),
        workspace_(Reserved(spec.workspace, static_cast<size_t>(scratch_floats_ * threads_) * sizeof(float))) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    float* dbias = static_cast<float*>(outputs[0]);
    const auto& [batch, heads, queries, keys] = problem_.bias.dims;
    const int64_t elements = queries * keys;
    ShareOut(threads_, batch * heads, workspace_->data<float>(), scratch_floats_, [&](int64_t unit, float* scratch) {
      float* to = dbias + unit * elements;
      std::fill(to, to + elements, 0.0f);
      for (int64_t b = unit / heads; b < problem_.batch; b += batch) {
        for (int64_t head = unit % heads; head < problem_.query_heads; head += heads) Add(inputs, b, head, to, scratch);
      }
    });
    return absl::OkStatus();
  }

 private:
  // Adds what one query head makes of `to`.
  void Add(absl::Span<const void* const> inputs, int64_t b, int64_t head, float* to, float* scratch) const {
    const auto at = [&](size_t input) { return static_cast<const T*>(inputs[input]); };
    const int64_t from = problem_.QueryOffset(b, head), key_from = problem_.KeyOffset(b, head / problem_.group());
    const int64_t stride = problem_.query_row(), key_stride = problem_.key_row(), queries = problem_.queries;
    Staged<T> staged(scratch + inner_floats_, problem_.depth);
    const attention::QueryGradient query = {
        staged.Load(at(1) + from, stride, queries),
        staged.Load(at(problem_.out_input()) + from, stride, queries),
        staged.Load(at(0) + from, stride, queries),
        static_cast<const float*>(inputs[problem_.saved_input()]) + (b * problem_.query_heads + head) * queries,
        {},
        problem_.Bias(inputs, b, head),
        problem_.Mask(inputs, b, head)};
    functions_.bias_backward(problem_.shape, staged.Load(at(2) + key_from, key_stride, problem_.keys),
                             staged.Load(at(3) + key_from, key_stride, problem_.keys), query,
                             {to, problem_.bias.steps[2], problem_.bias.steps[3]}, scratch);
  }

  const Problem problem_;
  const int threads_;
  const HeadFunctions& functions_;
  const int64_t inner_floats_, scratch_floats_;  // what the inner part needs of a thread's
  const std::shared_ptr<Workspace> workspace_;
};

template <template <typename T> typename AnyKernel>
absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(attention::Problem problem, attention::ParseProblem(spec));
  return MakeForFloat(problem.type,
                      [&](auto zero) { return std::make_unique<AnyKernel<decltype(zero)>>(Problem(problem), spec); });
}

}  // namespace

void RegisterAttentionKernels(KernelRegistry& registry) {
  registry.Register("attention", &Create<AttentionKernel>);
  registry.Register("attention_grad", &Create<AttentionGradKernel>);
  registry.Register("attention_bias_grad", &Create<AttentionBiasGradKernel>);
  attention::RegisterMergeKernel(registry);
  attention::RegisterUnfusedKernels(registry);
}

}  // namespace weft
