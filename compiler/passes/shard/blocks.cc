#include "compiler/passes/shard/blocks.h"

#include <algorithm>

#include "compiler/analysis/layer.h"
#include "compiler/analysis/repeats.h"
#include "compiler/analysis/section.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/BuiltinOps.h"

namespace weft::compiler {
namespace {

using namespace weft::ir;

class Divider {
public:
  Divider(GraphOp graph, const std::vector<Operation *> &ops) : graph_(graph), sections_(graph), ops_(ops) {}

  Blocks divide() {
    placeForward();
    placeBackward();
    placeParameters();
    placeUpdates();
    Blocks blocks;
    for (Operation *op : ops_) {
      blocks.of.push_back(placed_.lookup(op));
    }
    for (const std::string &layer : names_) {
      blocks.copies.push_back(copiesOf(layer));
    }
    return blocks;
  }

private:
  bool isForward(Operation *op) {
    return phaseOf(op) == OpPhase::Forward && sections_.isMicro(op) && !llvm::isa<ParameterOp>(op);
  }
  int last() const { return int(names_.size()) - 1; }

  void placeForward() {
    for (Operation *op : ops_) {
      if (!isForward(op)) {
        continue;
      }
      StringRef layer = layerOf(scopeOf(op));
      const bool isKnown = !layer.empty() && ofLayer_.contains(layer);
      if (names_.empty() || (!isKnown && layer != names_.back())) {
        names_.push_back(layer.str());
        ofLayer_[layer] = last();
      }
      const int block = isKnown ? ofLayer_.lookup(layer) : last();
      placed_[op] = block;
      ofScope_.try_emplace(scopeOf(op), block);
    }
    if (names_.empty()) {
      names_.push_back("");
    }
  }

  // By its layer, else by the forward op of the same scope.
  std::optional<int> blockOfScope(Operation *op) {
    StringRef scope = scopeOf(op), layer = layerOf(scope);
    if (!layer.empty() && ofLayer_.contains(layer)) {
      return ofLayer_.lookup(layer);
    }
    return !scope.empty() && ofScope_.contains(scope) ? std::optional(ofScope_.lookup(scope)) : std::nullopt;
  }

  // What is of no layer is where its operands are, or in front of the layer that gives it a gradient.
  int blockOfOperands(Operation *op) {
    int most = -1, front = -1;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !placed_.contains(producer)) {
        continue;
      }
      int block = placed_.lookup(producer);
      if (names_[block].empty()) {
        most = std::max(most, block);
        continue;
      }
      while (block > 0 && !names_[block].empty()) {
        --block;
      }
      front = std::max(front, block);
    }
    return most >= 0 ? most : front >= 0 ? front : last();
  }

  void placeBackward() {
    for (Operation *op : ops_) {
      if (phaseOf(op) == OpPhase::Backward || phaseOf(op) == OpPhase::Weight) {
        const std::optional<int> known = blockOfScope(op);
        placed_[op] = known ? *known : blockOfOperands(op);
      }
    }
  }

  // With the first that reads them.
  void placeParameters() {
    for (Operation *op : llvm::reverse(ops_)) {
      if (placed_.contains(op)) {
        continue;
      }
      std::optional<int> first = blockOfScope(op);
      for (Operation *user : op->getUsers()) {
        if (auto known = placed_.find(user); !first && known != placed_.end()) {
          first = known->second;
        }
      }
      if (first && phaseOf(op) != OpPhase::Update) {
        placed_[op] = *first;
      }
    }
  }

  // With what they update, or what they read alone.
  void placeUpdates() {
    for (Operation *op : ops_) {
      if (auto update = llvm::dyn_cast<UpdateOpInterface>(op)) {
        for (Value state : update.getState()) {
          if (Operation *parameter = update.getParameter().getDefiningOp(); placed_.contains(parameter)) {
            const int block = placed_.lookup(parameter);
            placed_.try_emplace(state.getDefiningOp(), block);
          }
        }
      }
    }
    for (Operation *op : ops_) {
      if (placed_.contains(op)) {
        continue;
      }
      auto update = llvm::dyn_cast<UpdateOpInterface>(op);
      auto assign = llvm::dyn_cast<AssignOp>(op);
      Value of = update                      ? update.getParameter()
                 : assign                    ? assign.getTarget()
                 : op->getNumOperands() == 1 ? op->getOperand(0)
                                             : largestPlaced(op);
      Operation *producer = of ? of.getDefiningOp() : nullptr;
      auto known = producer ? placed_.find(producer) : placed_.end();
      placed_[op] = known != placed_.end() ? known->second : last();
    }
  }

  // The first of the largest operands that are placed, if it is more than a number: a rule of the optimizer that is
  // made of several ops is where its parameter is.
  Value largestPlaced(Operation *op) {
    Value largest;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      int64_t elements = tensorOf(operand).getNumElements();
      if (producer && placed_.contains(producer) && elements > (largest ? tensorOf(largest).getNumElements() : 1)) {
        largest = operand;
      }
    }
    return largest;
  }

  int64_t copiesOf(StringRef layer) {
    auto counts = graph_->getParentOfType<mlir::ModuleOp>()->getAttrOfType<mlir::DictionaryAttr>(kRepeatsName);
    auto most = graph_->getParentOfType<mlir::ModuleOp>()->getAttrOfType<mlir::IntegerAttr>(kMostRepeatsName);
    auto [repeat, number] = layer.rsplit('.');
    auto count = counts ? counts.getAs<mlir::IntegerAttr>(repeat) : mlir::IntegerAttr();
    int64_t index = 0;
    if (!count || !most || number.getAsInteger(10, index) || index != most.getInt() / 2) {
      return 1;
    }
    return count.getInt() - most.getInt() + 1;
  }

  GraphOp graph_;
  Sections sections_;
  const std::vector<Operation *> &ops_;
  std::vector<std::string> names_; // of each block its layer, or ""
  llvm::StringMap<int> ofLayer_, ofScope_;
  llvm::DenseMap<Operation *, int> placed_;
};

} // namespace

Blocks blocksOf(GraphOp graph, const std::vector<Operation *> &ops) { return Divider(graph, ops).divide(); }

} // namespace weft::compiler
