// --weft-pad: makes dimensions larger that a mesh axis does not divide.
#include <numeric>

#include "compiler/analysis/pins.h"
#include "compiler/passes/pad/dimensions.h"
#include "compiler/passes/pad/passes.h"
#include "compiler/passes/pad/versions.h"
#include "ops/elementwise/ops.h"
#include "ops/layout/ops.h"
#include "ops/reduce/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PAD
#include "compiler/passes/pad/Passes.h.inc"
namespace {

using namespace weft::ir;
using Shape = SmallVector<int64_t>;

struct Pad : impl::PadBase<Pad> {
  using PadBase::PadBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    Dimensions dimensions(graph);
    Padding padding(dimensions, samplesOf(graph), microOf(graph));
    padding_ = &padding;
    dimensions_ = &dimensions;
    if (failed(findGrowth(graph))) {
      return signalPassFailure();
    }
    numGrown += padding.numGrown();
    if (padding.empty()) {
      return;
    }
    Versions versions(padding, dimensions);
    versions_ = &versions;
    wild_.clear();
    growInputs(graph);
    for (Operation &op : llvm::make_early_inc_range(graph.getBody().front())) {
      if (const OpRule *rule = dimensions.ruleOf(&op)) {
        if (failed(rewrite(&op, *rule))) {
          return signalPassFailure();
        }
      }
    }
    numSet += versions.numSet();
  }

private:
  // Of a micro-batch; 0 without inputs.
  static int64_t microOf(GraphOp graph) {
    auto inputs = graph.getBody().getArguments();
    return inputs.empty() || tensorOf(inputs[0]).getRank() == 0 ? 0 : shapeOf(inputs[0])[0];
  }

  // Those of a step, if the last micro-batch has fewer than the others.
  std::optional<int64_t> samplesOf(GraphOp graph) {
    int64_t micro = microOf(graph), all = micro * int64_t(graph.getMicroBatches());
    return samples > all - micro && samples < all ? std::optional<int64_t>(samples) : std::nullopt;
  }

  // ---- what grows ---------------------------------------------------------
  llvm::LogicalResult findGrowth(GraphOp graph) {
    for (auto [index, argument] : llvm::enumerate(graph.getBody().getArguments())) {
      llvm::FailureOr<States> states = inputStates(graph, unsigned(index), Cut::Any);
      if (failed(states)) {
        return mlir::failure();
      }
      demand(argument, *states, graph.getPlacement(graph.getInputStage(unsigned(index))));
      if (tensorOf(argument).getRank() > 0) {
        padding_->addBatch(dimensions_->groupOf(argument, 0));
      }
    }
    for (Operation &op : graph.getBody().front()) {
      auto pins = op.getAttrOfType<mlir::DictionaryAttr>("pins");
      if (!pins || op.getNumResults() == 0) {
        continue;
      }
      auto parameter = llvm::dyn_cast<ParameterOp>(op);
      PlacementAttr placement = graph.getPlacement(stageOf(&op));
      llvm::FailureOr<States> states = resolvePins(&op, parameter ? parameter.getName() : "sbp", pins,
                                                   tensorOf(op.getResult(0)), placement, Cut::Any);
      if (failed(states)) {
        return mlir::failure();
      }
      demand(op.getResult(0), *states, placement);
    }
    padding_->decide();
    return mlir::success();
  }

  void demand(Value value, ArrayRef<SbpState> states, PlacementAttr placement) {
    for (auto [dim, extent] : llvm::enumerate(shapeOf(value))) {
      int64_t parts = 1;
      for (auto [state, size] : llvm::zip(states, placement.getSizes())) {
        parts *= state == SbpState::split(int64_t(dim)) ? size : 1;
      }
      padding_->demand(dimensions_->groupOf(value, int64_t(dim)), extent, parts);
    }
  }

  // ---- the rewriting ------------------------------------------------------
  void growInputs(GraphOp graph) {
    SmallVector<mlir::Attribute> unpadded;
    bool any = false;
    for (mlir::BlockArgument argument : graph.getBody().getArguments()) {
      Shape shape(shapeOf(argument)), larger = padding_->larger(argument, shape);
      unpadded.push_back(mlir::DenseI64ArrayAttr::get(&getContext(), shape));
      any |= larger != shape;
      argument.setType(RankedTensorType::get(larger, tensorOf(argument).getElementType()));
      versions_->add(argument, shape, zerosIn(argument, llvm::to_vector(llvm::seq<int64_t>(0, int64_t(shape.size())))));
    }
    if (any) {
      graph->setAttr(kUnpaddedName, mlir::ArrayAttr::get(&getContext(), unpadded));
    }
  }

  // The groups of a tensor's dimensions that have padding and are a factor of `op` that may not grow there.
  SmallVector<int64_t> wholeDims(const OpRule &rule, const ShardingRule::Tensor &tensor, Value original) {
    SmallVector<int64_t> dims;
    for (auto [dim, factors] : llvm::enumerate(tensor)) {
      bool grows = !factors.empty() && rule.grows.test(unsigned(factors.front()));
      if (!grows && padding_->has(dimensions_->groupOf(original, int64_t(dim)))) {
        dims.push_back(int64_t(dim));
      }
    }
    return dims;
  }

  llvm::LogicalResult rewrite(Operation *op, const OpRule &rule) {
    SmallVector<Value> originals =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return versions_->original(operand); });
    if (!originals.empty() && failed(checkMean(op, originals[0]))) {
      return mlir::failure();
    }
    require(op, rule, originals);
    SmallVector<Value> given(op->getOperands());
    for (auto [index, original] : llvm::enumerate(originals)) {
      if (failed(crop(op, unsigned(index), wholeDims(rule, rule.rule.operands[index], original), original))) {
        return mlir::failure();
      }
    }
    SmallVector<mlir::Attribute> unpadded;
    bool any = false;
    for (mlir::OpResult result : op->getResults()) {
      Shape shape(shapeOf(result)), larger = padding_->larger(result, shape);
      SmallVector<int64_t> whole = wholeDims(rule, rule.rule.results[result.getResultNumber()], result);
      for (int64_t dim : whole) {
        larger[dim] = shape[dim];
      }
      unpadded.push_back(mlir::DenseI64ArrayAttr::get(&getContext(), shape));
      if (larger != shape) {
        any = true;
        llvm::cast<WeftOpInterface>(op).setResultShape(larger);
        result.setType(RankedTensorType::get(larger, tensorOf(result).getElementType()));
      }
      versions_->add(result, shape, zerosOf(op, rule, originals, given, result));
      noteWild(op, rule, originals, given, result);
      growAgain(op, result, whole, shape);
    }
    if (any) {
      op->setAttr(kUnpaddedName, mlir::ArrayAttr::get(&getContext(), unpadded));
    }
    return mlir::success();
  }

  static llvm::LogicalResult refuseShort(Operation *op, llvm::StringRef why) {
    return op->emitOpError() << "expected micro-batches of one size, as " << why
                             << ": batch.micro has to divide batch.global";
  }

  // A mean divides by the samples of a micro-batch, which the last one may have less of.
  llvm::LogicalResult checkMean(Operation *op, Value original) {
    auto reduce = llvm::dyn_cast<ReduceOp>(op);
    if (reduce && reduce.getKind() == "mean" && llvm::any_of(intsOf(reduce.getDims()), [&](int64_t dim) {
          return padding_->isShort(dimensions_->groupOf(original, dim));
        })) {
      return refuseShort(op, "a mean over samples weighs those of each alike");
    }
    return mlir::success();
  }

  // Gives an op what is inside the extents of an operand that it needs whole.
  llvm::LogicalResult crop(Operation *op, unsigned index, ArrayRef<int64_t> dims, Value original) {
    mlir::OpBuilder b(op);
    Value value = op->getOperand(index);
    for (int64_t dim : dims) {
      if (padding_->isShort(dimensions_->groupOf(original, dim))) {
        return refuseShort(op, "the op needs all samples of each");
      }
      auto number = [&](int64_t n) { return b.getI64IntegerAttr(n); };
      value =
          create<SliceOp>(b, op->getLoc(), value, number(dim), number(0), number(versions_->unpadded(original)[dim]));
      versions_->describe(value, original, op);
      ++numCropped;
    }
    op->setOperand(index, value);
    return mlir::success();
  }

  // Gives an op operands whose padding it does not notice.
  void require(Operation *op, const OpRule &rule, ArrayRef<Value> originals) {
    SmallVector<Numbers> numbers(op->getNumOperands());
    auto add = [&](unsigned operand, int factor, double number) {
      int64_t dim = dimensionOf(rule.rule.operands[operand], factor);
      int group = dim < 0 ? -1 : dimensions_->groupOf(originals[operand], dim);
      if (group >= 0 && padding_->has(group)) {
        numbers[operand][group] = number;
      }
    };
    bool stores = llvm::isa<AssignOp, UpdateOpInterface>(op);
    for (unsigned factor : rule.grows.set_bits()) {
      if (stores) {
        for (unsigned operand = 0; operand < op->getNumOperands(); ++operand) {
          add(operand, int(factor), 0);
        }
      } else if (rule.reduces(int(factor))) {
        if (std::optional<ShardingRule::Neutral> neutral = rule.neutralFor(int(factor))) {
          add(unsigned(neutral->operand), int(factor), neutral->number);
          continue;
        }
        for (ArrayRef<int> set : rule.linearIn(int(factor))) {
          for (int operand : set) {
            add(unsigned(operand), int(factor), 0);
          }
        }
        // Zero times what is no number is no number, as where a norm's gradient reads the norm's input.
        for (unsigned operand = 0; operand < op->getNumOperands(); ++operand) {
          if (isWild(op->getOperand(operand), originals[operand],
                     dimensionOf(rule.rule.operands[operand], int(factor)))) {
            add(operand, int(factor), 0);
          }
        }
      }
    }
    for (auto [index, wanted] : llvm::enumerate(numbers)) {
      if (!wanted.empty()) {
        versions_->give(op, unsigned(index), wanted);
      }
    }
  }

  // What may be infinite, or no number, where operands are 0 or anything.
  static bool mayOverflow(Operation *op) { return llvm::isa<DivOp, ExpOp, LogOp, PowerOp, RsqrtOp, SqrtOp>(op); }

  bool isWild(Value given, Value original, int64_t dim) {
    int group = dim < 0 ? -1 : dimensions_->groupOf(original, dim);
    auto it = wild_.find(original);
    return group >= 0 && it != wild_.end() && it->second.count(group) && !versions_->isKnown(given, group);
  }

  // The groups beyond whose extents a result may be infinite, or no number.
  void noteWild(Operation *op, const OpRule &rule, ArrayRef<Value> originals, ArrayRef<Value> given,
                mlir::OpResult result) {
    for (unsigned factor : rule.grows.set_bits()) {
      int64_t dim = dimensionOf(rule.rule.results[result.getResultNumber()], int(factor));
      int group = dim < 0 ? -1 : dimensions_->groupOf(result, dim);
      if (group >= 0 && padding_->has(group) &&
          (mayOverflow(op) || llvm::any_of(llvm::seq<size_t>(0, originals.size()), [&](size_t i) {
             return isWild(given[i], originals[i], dimensionOf(rule.rule.operands[i], int(factor)));
           }))) {
        wild_[result].insert(group);
      }
    }
  }

  // The groups in which a result is 0 beyond its extents: zeros go through what is linear in the operands that have
  // them, unless another operand may be infinite there, and a rule of an optimizer makes zeros of zeros. Parameters
  // begin with zeros, and no others are assigned.
  Numbers zerosOf(Operation *op, const OpRule &rule, ArrayRef<Value> originals, ArrayRef<Value> given,
                  mlir::OpResult result) {
    Numbers zeros;
    auto isZero = [&](int operand, int factor) {
      int64_t dim = dimensionOf(rule.rule.operands[operand], factor);
      return versions_->isZero(given[operand], dimensions_->groupOf(originals[operand], dim));
    };
    for (unsigned factor : rule.grows.set_bits()) {
      int64_t dim = dimensionOf(rule.rule.results[result.getResultNumber()], int(factor));
      int group = dim < 0 ? -1 : dimensions_->groupOf(result, dim);
      if (group < 0 || !padding_->has(group)) {
        continue;
      }
      bool linear = !llvm::isa<DivOp>(op) && llvm::any_of(rule.linearIn(int(factor)), [&](ArrayRef<int> set) {
        return llvm::all_of(llvm::seq<int>(0, int(originals.size())), [&](int operand) {
          return llvm::is_contained(set, operand) ? isZero(operand, int(factor))
                                                  : !isWild(given[operand], originals[operand],
                                                            dimensionOf(rule.rule.operands[operand], int(factor)));
        });
      });
      if (linear || llvm::isa<ParameterOp, UpdateOpInterface>(op)) {
        zeros[group] = 0;
      }
    }
    return zeros;
  }

  // Back to the size that others know the result by.
  void growAgain(Operation *op, mlir::OpResult result, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
    if (dims.empty()) {
      return;
    }
    mlir::OpBuilder b(op);
    b.setInsertionPointAfter(op);
    Shape larger = padding_->larger(result, shape);
    Value value = result;
    llvm::SmallPtrSet<Operation *, 4> made;
    for (int64_t dim : dims) {
      auto number = [&](int64_t n) { return b.getI64IntegerAttr(n); };
      if (larger[dim] > shape[dim]) {
        value = create<PadOp>(b, op->getLoc(), value, number(dim), number(0), number(larger[dim] - shape[dim]));
        versions_->describe(value, result, op);
        made.insert(value.getDefiningOp());
      }
    }
    if (value != result) {
      result.replaceAllUsesExcept(value, made);
      versions_->replace(result, value, zerosIn(result, dims));
    }
  }

  Numbers zerosIn(Value original, ArrayRef<int64_t> dims) {
    Numbers zeros;
    for (int64_t dim : dims) {
      zeros[dimensions_->groupOf(original, dim)] = 0;
    }
    return zeros;
  }

  Padding *padding_ = nullptr;
  Dimensions *dimensions_ = nullptr;
  Versions *versions_ = nullptr;
  llvm::DenseMap<Value, std::set<int>> wild_; // of originals
};

} // namespace
} // namespace weft::compiler
