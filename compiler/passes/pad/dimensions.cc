#include "compiler/passes/pad/dimensions.h"

#include <numeric>

#include "ops/constant/ops.h"

namespace weft::compiler {

using namespace weft::ir;

int64_t dimensionOf(const ShardingRule::Tensor &tensor, int factor) {
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    if (llvm::is_contained(factors, factor)) {
      return factors.front() == factor ? int64_t(dim) : -2;
    }
  }
  return -1;
}

bool OpRule::reduces(int factor) const {
  return llvm::any_of(rule.results, [&](const auto &result) { return dimensionOf(result, factor) == -1; });
}

llvm::SmallVector<llvm::ArrayRef<int>> OpRule::linearIn(int factor) const {
  llvm::SmallVector<llvm::ArrayRef<int>> sets;
  for (const auto &set : rule.linear) {
    if (!set.empty() &&
        llvm::all_of(set, [&](int operand) { return dimensionOf(rule.operands[operand], factor) >= 0; })) {
      sets.push_back(set);
    }
  }
  return sets;
}

std::optional<ShardingRule::Neutral> OpRule::neutralFor(int factor) const {
  for (const ShardingRule::Neutral &neutral : rule.neutral) {
    if (dimensionOf(rule.operands[neutral.operand], factor) >= 0) {
      return neutral;
    }
  }
  return std::nullopt;
}

namespace {

OpRule ruleFor(mlir::Operation *op) {
  OpRule made{llvm::cast<WeftOpInterface>(op).getShardingRule(), {}};
  const ShardingRule &rule = made.rule;
  made.grows.resize(unsigned(rule.factors.size()));
  // The numbers of a constant are listed.
  if (llvm::isa<ConstantOp>(op)) {
    return made;
  }
  for (int factor = 0; factor < int(rule.factors.size()); ++factor) {
    auto isInside = [&](const ShardingRule::Tensor &tensor) { return dimensionOf(tensor, factor) == -2; };
    if (rule.factors[factor].whole || llvm::any_of(rule.operands, isInside) || llvm::any_of(rule.results, isInside)) {
      continue;
    }
    if (!made.reduces(factor) || !made.linearIn(factor).empty() || made.neutralFor(factor)) {
      made.grows.set(unsigned(factor));
    }
  }
  return made;
}

} // namespace

Dimensions::Dimensions(GraphOp graph) {
  auto add = [&](mlir::Value value) {
    first_[value] = int(parent_.size());
    for (int64_t extent : shapeOf(value)) {
      parent_.push_back(int(parent_.size()));
      units_.push_back(extent);
    }
  };
  llvm::for_each(graph.getBody().getArguments(), add);
  for (mlir::Operation &op : graph.getBody().front()) {
    llvm::for_each(op.getResults(), add);
  }
  for (mlir::Operation &op : graph.getBody().front()) {
    if (llvm::isa<WeftOpInterface>(op)) {
      OpRule rule = ruleFor(&op);
      join(&op, rule);
      rules_.try_emplace(&op, std::move(rule));
    }
  }
}

void Dimensions::join(mlir::Operation *op, const OpRule &rule) {
  for (unsigned factor : rule.grows.set_bits()) {
    int first = -1;
    auto meet = [&](mlir::Value value, const ShardingRule::Tensor &tensor) {
      int64_t dim = dimensionOf(tensor, int(factor));
      if (dim >= 0) {
        int node = first_.at(value) + int(dim);
        first = first < 0 ? node : first;
        unite(first, node, rule.rule.factors[factor].size);
      }
    };
    for (auto [value, tensor] : llvm::zip(op->getOperands(), rule.rule.operands)) {
      meet(value, tensor);
    }
    for (auto [value, tensor] : llvm::zip(op->getResults(), rule.rule.results)) {
      meet(value, tensor);
    }
  }
}

void Dimensions::unite(int a, int b, int64_t units) {
  int root = rootOf(a), other = rootOf(b);
  units_[root] = std::gcd(units, std::gcd(units_[root], units_[other]));
  parent_[other] = root;
}

int Dimensions::rootOf(int node) const {
  while (parent_[node] != node) {
    node = parent_[node];
  }
  return node;
}

const OpRule *Dimensions::ruleOf(mlir::Operation *op) const {
  auto it = rules_.find(op);
  return it == rules_.end() ? nullptr : &it->second;
}

int Dimensions::groupOf(mlir::Value value, int64_t dim) const { return rootOf(first_.at(value) + int(dim)); }

} // namespace weft::compiler
