// Attention by itself, which takes its time by the length of a sequence and the size of a head.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tools/calibrate/cases.h"

namespace weft::calibrate {
namespace {

constexpr int64_t kHeads = 2;

struct Heads {
  int64_t batch, queries, size;  // as many keys as queries
  DType type;
  bool causal;

  TensorSpec Tensor() const { return TensorSpec::Whole(type, {batch, queries, kHeads, size}); }
  TensorSpec Sums() const { return TensorSpec::Whole(DType::kF32, {batch, kHeads, queries}); }
};

// As ops/attention/ops_cost.cc counts: `products` of the queries with the keys that they see.
Case CaseOf(const Heads& heads, const std::string& type, const std::string& kernel, int products) {
  Case made{.spec = {.name = kernel}};
  const auto queries = static_cast<double>(heads.queries);
  const double seen = heads.causal ? queries / 2 : queries;
  made.work.contraction_flops =
      2.0 * products * static_cast<double>(heads.batch * kHeads * heads.size) * queries * seen;
  made.work.product = {heads.batch * kHeads, heads.queries, heads.queries,
                       heads.size,           type,          absl::StrCat(heads.causal ? "causal_" : "", kernel)};
  made.work.family = kernel;
  made.work.type = type;
  made.spec.attributes.Set("causal", int64_t{heads.causal});
  made.spec.attributes.Set("scale", 1 / std::sqrt(static_cast<double>(heads.size)));
  if (type == "tf32") made.spec.attributes.Set("tf32", int64_t{1});
  return made;
}

void AddBytes(Case& made) {
  for (const auto* side : {&made.spec.inputs, &made.spec.outputs}) {
    for (const TensorSpec& tensor : *side) made.work.bytes += static_cast<double>(tensor.bytes());
  }
}

}  // namespace

std::vector<Case> AttentionCases(const std::vector<int64_t>& lengths, const std::string& type, int64_t tokens) {
  std::vector<Case> cases;
  for (int64_t length : lengths) {
    for (int64_t size : {16, 32, 64, 128}) {
      for (bool causal : {false, true}) {
        const Heads heads{std::max<int64_t>(1, tokens / length), length, size, TypeOfOperands(type), causal};
        const TensorSpec tensor = heads.Tensor(), sums = heads.Sums();
        Case forward = CaseOf(heads, type, "attention", /*products=*/2);
        forward.spec.inputs = {tensor, tensor, tensor};
        forward.spec.outputs = {tensor, sums};
        Case backward = CaseOf(heads, type, "attention_grad", /*products=*/5);
        backward.spec.inputs = {tensor, tensor, tensor, tensor, tensor, sums};
        backward.spec.outputs = {tensor, tensor, tensor};
        for (Case* made : {&forward, &backward}) {
          AddBytes(*made);
          cases.push_back(std::move(*made));
        }
      }
    }
  }
  return cases;
}

}  // namespace weft::calibrate
