#include "compiler/passes/box/loss_rows.h"

#include "compiler/analysis/cost.h"
#include "llvm/ADT/SetVector.h"

namespace weft::compiler {
namespace {

using namespace weft::ir;

class Finder {
public:
  Finder(Value logits, GraphOp graph, const Sections &sections)
      : logits_(logits), sections_(sections), stage_(stageOf(logits)), chunk_(chunkOf(logits.getDefiningOp())),
        placement_(graph.getPlacement(stage_)) {}

  std::optional<LossRows> find() {
    const int64_t rank = tensorOf(logits_).getRank();
    if (rank < 2 || !setDims(logits_, rank - 1) || !addLarge(logits_)) {
      return std::nullopt;
    }
    while (true) {
      const size_t before = ops_.size();
      if (!addBetween()) {
        return std::nullopt;
      }
      if (ops_.size() == before) {
        break;
      }
    }
    rows_.ops.assign(ops_.begin(), ops_.end());
    llvm::sort(rows_.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    rows_.logits = logits_;
    auto product = llvm::dyn_cast<WeftOpInterface>(rows_.ops.front());
    const bool isWhole = llvm::all_of(rows_.ops, [&](Operation *op) { return readsNoSum(op); });
    return product && isProduct(product) && isWhole ? std::optional(rows_) : std::nullopt;
  }

private:
  bool isLarge(Value value) const {
    return rows_.dims.contains(value) && tensorOf(value).getNumElements() >= tensorOf(logits_).getNumElements();
  }

  bool isProduct(WeftOpInterface op) const { return localWork(op, placement_).contraction_flops > 0; }

  // A sum over all rows is there when the last of them are done.
  bool readsNoSum(Operation *op) const {
    return llvm::all_of(op->getOperands(),
                        [&](Value v) { return !ops_.contains(v.getDefiningOp()) || rows_.dims.contains(v); });
  }

  // False if the first `count` dimensions are not what the value has been found to have, or have padding.
  bool setDims(Value value, int64_t count) {
    auto [it, isNew] = rows_.dims.try_emplace(value, count);
    return it->second == count &&
           ArrayRef(unpaddedShapeOf(value)).take_front(count) == shapeOf(value).take_front(count);
  }

  // What reads a large tensor, and what makes it.
  bool addLarge(Value value) {
    return (ops_.contains(value.getDefiningOp()) || add(value.getDefiningOp(), value)) &&
           llvm::all_of(value.getUsers(), [&](Operation *user) { return ops_.contains(user) || add(user, value); });
  }

  // `via`, an operand or a result, has known rows.
  bool add(Operation *op, Value via) {
    if (!op || !sections_.isMicro(op) || stageOf(op) != stage_ || chunkOf(op) != chunk_ || !spread(op, via)) {
      return false;
    }
    ops_.insert(op);
    // One product makes logits of what is small, the others make something small of their gradient.
    auto weftOp = llvm::dyn_cast<WeftOpInterface>(op);
    const bool isAtEnd = weftOp && isProduct(weftOp), begins = llvm::is_contained(op->getResults(), via);
    auto isDone = [&](Value value) { return !isLarge(value) || addLarge(value); };
    return (isAtEnd || llvm::all_of(op->getOperands(), isDone)) &&
           ((isAtEnd && !begins) || llvm::all_of(op->getResults(), isDone));
  }

  // From the rows of one tensor of an op to those of the others.
  bool spread(Operation *op, Value via) {
    const int64_t count = rows_.dims.lookup(via);
    if (auto box = llvm::dyn_cast<BoxOp>(op)) {
      return stageOf(box.getInput()) == stage_ && sameCut(box, count) && setDims(box.getInput(), count) &&
             setDims(box.getResult(), count);
    }
    auto weftOp = llvm::dyn_cast<WeftOpInterface>(op);
    if (!weftOp || weftOp.variesByMicroBatch() || op->getNumResults() == 0) {
      return false;
    }
    const ShardingRule rule = weftOp.getShardingRule();
    std::optional<SmallVector<int>> factors = factorsOf(op, rule, via, count);
    return factors && setAll(op->getOperands(), rule.operands, *factors) &&
           setAll(op->getResults(), rule.results, *factors) &&
           (rule.reduction == SbpState::PartialSum ||
            llvm::all_of(op->getResults(), [&](Value v) { return rows_.dims.contains(v); }));
  }

  static bool sameCut(BoxOp box, int64_t count) {
    auto cuts = [&](SbpState state) { return state.isSplit() && state.dim < count; };
    return llvm::all_of(llvm::zip(sbpOf(box.getInput().getType()).getStates(), sbpOf(box.getType()).getStates()),
                        [&](auto pair) {
                          auto [from, to] = pair;
                          return (!cuts(from) && !cuts(to)) || from == to;
                        });
  }

  // The factors of the rows of `via`; none if they may not be cut.
  static std::optional<SmallVector<int>> factorsOf(Operation *op, const ShardingRule &rule, Value via, int64_t count) {
    const ShardingRule::Tensor *tensor = nullptr;
    for (auto [value, dims] : llvm::zip(op->getOperands(), rule.operands)) {
      tensor = value == via ? &dims : tensor;
    }
    for (auto [value, dims] : llvm::zip(op->getResults(), rule.results)) {
      tensor = value == via ? &dims : tensor;
    }
    SmallVector<int> factors;
    for (const ShardingRule::Dim &dim : ArrayRef(*tensor).take_front(count)) {
      factors.append(dim.begin(), dim.end());
    }
    const bool isWhole = llvm::any_of(factors, [&](int factor) { return rule.factors[factor].whole; });
    return factors.empty() || isWhole ? std::nullopt : std::optional(factors);
  }

  // Rows come first, in one order, or a tensor has none.
  bool setAll(mlir::ValueRange values, ArrayRef<ShardingRule::Tensor> tensors, ArrayRef<int> rows) {
    return llvm::all_of(llvm::zip(values, tensors), [&](auto pair) {
      auto [value, tensor] = pair;
      SmallVector<int> found;
      int64_t count = 0;
      for (auto [index, dim] : llvm::enumerate(tensor)) {
        const bool has = llvm::any_of(dim, [&](int factor) { return llvm::is_contained(rows, factor); });
        if (has && count != int64_t(index)) {
          return false;
        }
        if (has) {
          found.append(dim.begin(), dim.end());
          ++count;
        }
      }
      return found.empty() || (ArrayRef(found) == rows && setDims(value, count));
    });
  }

  // What is made of one of the ops and needed by another.
  bool addBetween() {
    SmallVector<Operation *> known(ops_.begin(), ops_.end());
    auto before = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
    Operation *first = *llvm::min_element(known, before), *last = *llvm::max_element(known, before);
    SmallVector<Operation *> made;
    llvm::DenseSet<Operation *> isMade;
    for (Operation *op = first; op != last; op = op->getNextNode()) {
      auto makes = [&](Value v) { return ops_.contains(v.getDefiningOp()) || isMade.contains(v.getDefiningOp()); };
      if (!ops_.contains(op) && llvm::any_of(op->getOperands(), makes)) {
        made.push_back(op);
        isMade.insert(op);
      }
    }
    for (Operation *op : llvm::reverse(made)) {
      if (llvm::none_of(op->getUsers(), [&](Operation *user) { return ops_.contains(user); })) {
        continue;
      }
      // The rows of what it makes are known from its reader.
      auto known = llvm::find_if(op->getResults(), [&](Value v) { return rows_.dims.contains(v); });
      if (known == op->getResults().end() || !add(op, *known)) {
        return false;
      }
    }
    return true;
  }

  const Value logits_;
  const Sections &sections_;
  const int64_t stage_, chunk_;
  PlacementAttr placement_;
  llvm::SetVector<Operation *> ops_;
  LossRows rows_;
};

} // namespace

std::optional<LossRows> lossRowsOf(Value logits, GraphOp graph, const Sections &sections) {
  return logits.getDefiningOp() ? Finder(logits, graph, sections).find() : std::nullopt;
}

} // namespace weft::compiler
