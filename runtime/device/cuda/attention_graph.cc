// The operations, their order and their types are those by which cuDNN's engines know fused attention: the
// "composite" nodes of github.com/NVIDIA/cudnn-frontend, scaled_dot_product_flash_attention.h.
#include "runtime/device/cuda/attention_graph.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::device {
namespace {

using namespace cuda::dnn;  // NOLINT(google-build-using-namespace): the library's words, on every line
using Tensor = CudnnGraphBuilder::Tensor;

class Builder {
 public:
  Builder(const Cudnn& library, const GpuAttentionSpec& spec, AttentionMask mask)
      : graph_(library), spec_(spec), mask_(mask), type_(spec.type == DType::kBF16 ? kBFloat16 : kFloat16) {}

  void Forward();
  void Gradient(bool deterministic);
  absl::StatusOr<AttentionGraph> Finish(cuda::Handle handle) && {
    absl::StatusOr<CudnnGraphBuilder::Graph> graph = std::move(graph_).Finish(handle);
    if (!graph.ok()) return graph.status();
    return AttentionGraph{*std::move(graph), std::move(tensors_)};
  }

 private:
  using Id = AttentionTensor;
  using Dims = std::array<int64_t, 4>;

  // The first `rows` of [batch, all, heads, depth] in memory, one of `parts` alike in a row, seen as [batch, head, row,
  // column].
  CudnnShape Rows(int64_t rows, int64_t all, int64_t heads, int64_t parts) const {
    const int64_t row = parts * heads * spec_.depth;
    return {{spec_.batch, heads, rows, spec_.depth}, {all * row, spec_.depth, row, 1}};
  }
  int64_t Parts() const { return spec_.packed ? 3 : 1; }
  CudnnShape QueryRows() const { return Rows(spec_.queries, AllQueryRows(spec_), spec_.query_heads, Parts()); }
  CudnnShape KeyRows() const { return Rows(spec_.keys, AllKeyRows(spec_), spec_.key_heads, Parts()); }
  CudnnShape OutRows() const { return Rows(spec_.queries, AllQueryRows(spec_), spec_.query_heads, 1); }
  Dims ScoreDims() const { return {spec_.batch, spec_.query_heads, spec_.queries, spec_.keys}; }
  Dims RowDims() const { return {spec_.batch, spec_.query_heads, spec_.queries, 1}; }

  Tensor Memory(Id id, const CudnnShape& shape, int type) {
    tensors_.push_back(id);
    return graph_.Memory(static_cast<int64_t>(id), shape, type);
  }
  Tensor Scalar(Id id, int type) {
    tensors_.push_back(id);
    return graph_.Scalar(static_cast<int64_t>(id), type);
  }
  Tensor RowValues(Id id) { return Memory(id, CudnnShape::Packed(RowDims()), kFloat32); }
  Tensor Scores(int type = kFloat32) { return graph_.Virtual(ScoreDims(), type); }
  Tensor PerRow() { return graph_.Virtual(RowDims(), kFloat32); }
  Tensor Masked(const Tensor& scores);
  // dk or dv, from transposed scores or their gradient; of several query heads, their sum.
  void KeyGradient(const Tensor& scores, const Tensor& rows, Id id);

  CudnnGraphBuilder graph_;
  const GpuAttentionSpec& spec_;
  const AttentionMask mask_;
  const int type_;
  std::vector<Id> tensors_;
};

// Row i sees the keys up to i, or to i + keys - queries.
Tensor Builder::Masked(const Tensor& scores) {
  if (mask_.kind == AttentionMask::kNone) return scores;
  Tensor row = graph_.Index(2, scores, Scores(kInt32));
  const Tensor key = graph_.Index(3, scores, Scores(kInt32));
  if (mask_.kind == AttentionMask::kToLast) {
    const Tensor keys = Scalar(Id::kKeys, kInt32), queries = Scalar(Id::kQueries, kInt32);
    row = graph_.Pointwise(kAdd, row, Scores(kInt32), &keys, nullptr, kInt32);
    row = graph_.Pointwise(kSubtract, row, Scores(kInt32), &queries, nullptr, kInt32);
  }
  const Tensor seen = graph_.Pointwise(kNotLess, row, Scores(kBoolean), &key, nullptr, kBoolean);
  const Tensor hidden = Scalar(Id::kHidden, kFloat32);
  return graph_.Pointwise(kSelect, scores, Scores(), &hidden, &seen);
}

void Builder::Forward() {
  const Tensor q = Memory(Id::kQ, QueryRows(), type_), k = Memory(Id::kK, KeyRows().Transposed(), type_);
  const Tensor v = Memory(Id::kV, KeyRows(), type_), out = Memory(Id::kOut, OutRows(), type_);
  const Tensor scale = Scalar(Id::kScale, kFloat32);
  Tensor s = graph_.Matmul(q, k, Scores());
  s = Masked(graph_.Pointwise(kMultiply, s, Scores(), &scale));
  const Tensor largest = graph_.Reduce(kMaximum, s, PerRow());
  Tensor p = graph_.Pointwise(kSubtract, s, Scores(), &largest);
  p = graph_.Pointwise(kExponential, p, Scores());
  const Tensor sum = graph_.Reduce(kSum, p, PerRow());
  // Also where nobody reads it: no engine knows the graph without.
  const Tensor log = graph_.Pointwise(kLogarithm, sum, PerRow());
  graph_.Pointwise(kAdd, largest, spec_.lse ? RowValues(Id::kLse) : PerRow(), &log);
  p = graph_.Pointwise(kDivide, p, Scores(type_), &sum);
  graph_.Matmul(p, v, out);
}

void Builder::KeyGradient(const Tensor& scores, const Tensor& rows, Id id) {
  const Tensor transposed = graph_.Reshape(scores, graph_.Virtual(scores.shape.Transposed(), type_));
  const Tensor result = Memory(id, KeyRows(), type_);
  if (spec_.query_heads == spec_.key_heads) {
    graph_.Matmul(transposed, rows, result);
    return;
  }
  const Tensor each = graph_.Virtual(Dims{spec_.batch, spec_.query_heads, spec_.keys, spec_.depth}, type_);
  graph_.Reduce(kSum, graph_.Matmul(transposed, rows, each), result);
}

void Builder::Gradient(bool deterministic) {
  const Tensor q = Memory(Id::kQ, QueryRows(), type_), k = Memory(Id::kK, KeyRows().Transposed(), type_);
  const Tensor v = Memory(Id::kV, KeyRows().Transposed(), type_), out = Memory(Id::kOut, OutRows(), type_);
  const Tensor dout = Memory(Id::kDout, OutRows(), type_), lse = RowValues(Id::kLse);
  const Tensor scale = Scalar(Id::kScale, kFloat32), one = Scalar(Id::kOne, kFloat32);
  const Dims per_query = QueryRows().dims;

  // delta. The factor is that of dropout.
  Tensor row = graph_.Pointwise(kMultiply, dout, graph_.Virtual(per_query, kFloat32), &out);
  row = graph_.Reduce(kSum, row, PerRow());
  const Tensor delta = graph_.Pointwise(kMultiply, row, RowValues(Id::kDelta), &one);

  Tensor p = graph_.Matmul(q, k, Scores());
  p = graph_.Pointwise(kMultiply, p, Scores(), &scale);
  p = Masked(graph_.Pointwise(kSubtract, p, Scores(), &lse));
  p = graph_.Pointwise(kExponential, p, Scores());
  KeyGradient(p, dout, Id::kDv);

  Tensor ds = graph_.Matmul(dout, v, Scores());
  ds = graph_.Pointwise(kSubtract, ds, Scores(), &delta);
  ds = graph_.Pointwise(kMultiply, ds, Scores(), &p);
  ds = graph_.Pointwise(kMultiply, ds, Scores(), &scale);
  KeyGradient(ds, q, Id::kDk);

  const Tensor keys = graph_.Reshape(k, graph_.Virtual(KeyRows(), type_));
  const Tensor dq = Memory(Id::kDq, QueryRows(), type_);
  if (deterministic) {
    graph_.Matmul(ds, keys, dq);
    return;
  }
  const Tensor sum = Memory(Id::kDqSum, CudnnShape::Packed(per_query), kFloat32);
  graph_.Pointwise(kIdentity, graph_.Matmul(ds, keys, sum), dq);
}

}  // namespace

absl::StatusOr<AttentionMask> MaskOf(const GpuAttentionSpec& spec) {
  if (!spec.causal || spec.first_limit >= spec.keys) return AttentionMask{AttentionMask::kNone};
  if (spec.first_limit == 1 && spec.queries <= spec.keys) return AttentionMask{AttentionMask::kFromFirst};
  if (spec.first_limit == spec.keys - spec.queries + 1 && spec.queries <= spec.keys) {
    return AttentionMask{AttentionMask::kToLast};
  }
  return absl::UnimplementedError(absl::StrCat("expected a causal mask from the first key on, or to the last, got ",
                                               spec.queries, " rows of which the first sees ", spec.first_limit, " of ",
                                               spec.keys, " keys"));
}

absl::StatusOr<AttentionGraph> MakeAttentionGraph(const Cudnn& library, cuda::Handle handle,
                                                  const GpuAttentionSpec& spec, bool deterministic) {
  const absl::StatusOr<AttentionMask> mask = MaskOf(spec);
  if (!mask.ok()) return mask.status();
  Builder builder(library, spec, *mask);
  if (spec.gradient) {
    builder.Gradient(deterministic);
  } else {
    builder.Forward();
  }
  return std::move(builder).Finish(handle);
}

std::string Describe(const GpuAttentionSpec& spec) {
  std::string text = absl::StrCat(spec.gradient ? "gradient of attention of " : "attention of ", NameOf(spec.type), "[",
                                  spec.batch, ",", spec.queries, ",", spec.query_heads, ",", spec.depth, "]");
  absl::StrAppend(&text, " over ", spec.keys, " keys of ", spec.key_heads, " heads");
  if (spec.packed) absl::StrAppend(&text, ", packed");
  if (AllQueryRows(spec) != spec.queries) absl::StrAppend(&text, ", of ", spec.query_rows, " rows");
  if (AllKeyRows(spec) != spec.keys) absl::StrAppend(&text, ", of ", spec.key_rows, " rows of keys");
  if (spec.causal) absl::StrAppend(&text, ", causal from ", spec.first_limit);
  return text;
}

}  // namespace weft::device
