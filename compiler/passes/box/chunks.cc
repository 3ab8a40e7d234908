// --weft-box-chunks: the rows of a loss, part by part.
#include "compiler/analysis/boxing.h"
#include "compiler/analysis/cost.h"
#include "compiler/passes/box/loss_rows.h"
#include "compiler/passes/box/passes.h"
#include "mlir/IR/IRMapping.h"
#include "ops/elementwise/ops.h"
#include "ops/layout/ops.h"
#include "ops/loss/ops.h"
#include "ops/padding/ops.h"
#include "runtime/plan/devices.h"

namespace weft::compiler {
#define GEN_PASS_DEF_BOXCHUNKS
#include "compiler/passes/box/Passes.h.inc"
namespace {

using namespace weft::ir;

// Cuts the rows of one loss.
class Cutter {
public:
  Cutter(GraphOp graph, const Sections &sections, LossRows rows)
      : graph_(graph), sections_(sections), rows_(std::move(rows)), stage_(stageOf(rows_.ops[0])),
        placement_(graph.getPlacement(stage_)),
        count_(rowsOfTile(tensorOf(rows_.logits), rows_.dims.lookup(rows_.logits), placement_)),
        isBackward_(llvm::any_of(rows_.ops, [](Operation *op) { return phaseOf(op) == OpPhase::Backward; })) {}

  int64_t rows() const { return count_; }
  int64_t bytes(int64_t chunks) const { return bytesOf(tileOf(rows_.logits, placement_)) / count_ * largest(chunks); }
  // How much larger logits are than what the product reads of their rows, of all ranks.
  double growth() const {
    double read = 0;
    for (Value operand : rows_.ops[0]->getOperands()) {
      read += rows_.dims.contains(operand) ? double(bytesOf(tensorOf(operand))) : 0;
    }
    return double(bytesOf(tensorOf(rows_.logits))) / read;
  }

  // What parts need beside their rows: a part's sum before it is added up, where it is not added to at once or in
  // place, and float32 sums that are rounded in the end.
  int64_t bytesOfSums() const {
    const bool isApart = isOnHost() || llvm::any_of(rows_.ops, llvm::IsaPred<BoxOp>);
    int64_t bytes = 0;
    for (Operation *op : rows_.ops) {
      for (Value result : op->getResults()) {
        const int64_t sum = rows_.isSum(result) ? 4 * tileOf(result, placement_).getNumElements() : 0;
        bytes += (isApart ? sum : 0) + (isNarrow(result) ? sum : 0);
      }
    }
    return bytes;
  }
  StringRef scope() const { return scopeOf(rows_.ops[0]); }

  // Whether all may become the backward's: what is made of the forward part of it is small, and of the same chunk, as
  // the backwards of chunks come in the reverse order of their forwards.
  bool mayMove() const {
    llvm::DenseSet<Operation *> makers;
    for (Operation *op = isBackward_ ? rows_.ops[0] : nullptr; op; op = op->getNextNode()) {
      const bool isOwn = rows_.has(op);
      auto reads = [&](Value v) { return makers.contains(v.getDefiningOp()); };
      if (isOwn ? phaseOf(op) != OpPhase::Forward : !sections_.isMicro(op) || llvm::none_of(op->getOperands(), reads)) {
        continue;
      }
      makers.insert(op);
      auto weftOp = llvm::dyn_cast<WeftOpInterface>(op);
      const bool isLarge = isMoved(op) && weftOp && localWork(weftOp, placement_).contraction_flops > 0;
      if (!isOwn && (isLarge || stageOf(op) != stage_ || chunkOf(op) != chunkOf(rows_.ops[0]))) {
        return false;
      }
    }
    return true;
  }

  // By the cost model; on a GPU products add to a sum.
  double seconds(int64_t chunks, const CostModel &machine) const {
    const bool adds = !isOnHost();
    auto type = [&](Value value) { return partOf(value, largest(chunks)); };
    double all = 0;
    for (Operation *op : rows_.ops) {
      if (auto box = llvm::dyn_cast<BoxOp>(op)) {
        all += double(chunks) * partSeconds(box, chunks, machine);
        continue;
      }
      auto weftOp = llvm::cast<WeftOpInterface>(op);
      auto tile = [&](Value value) { return tileOfType(type(value)); };
      plan::KernelWork work =
          workOf(weftOp, llvm::map_to_vector(op->getOperands(), tile), llvm::map_to_vector(op->getResults(), tile));
      plan::KernelWork sum;
      for (Value result : op->getResults()) {
        if (rows_.isSum(result)) {
          const double bytes = 4.0 * double(tile(result).getNumElements());
          (adds ? work : sum).bytes += adds ? bytes : 3 * bytes;
        }
      }
      all += plan::KernelSeconds(machine, work) + double(chunks - 1) * plan::KernelSeconds(machine, work);
      all += sum.bytes > 0 ? double(chunks - 1) * plan::KernelSeconds(machine, sum) : 0;
    }
    return all;
  }

  void cut(int64_t chunks) {
    moveReaders();
    for (int64_t i = 0, begin = 0; i < chunks; ++i) {
      const int64_t size = count_ / chunks + (i < count_ % chunks);
      doPart(i, begin, size);
      begin += size;
    }
    join();
    for (Operation *op : llvm::reverse(rows_.ops)) {
      op->erase();
    }
  }

private:
  bool isOnHost() const { return plan::IsHost(placement_.getDevice().getValue()); }

  int64_t largest(int64_t chunks) const { return (count_ + chunks - 1) / chunks; }

  RankedTensorType partOf(Value value, int64_t size) const {
    auto it = rows_.dims.find(value);
    return it == rows_.dims.end() ? tensorOf(value) : typeOfRows(tensorOf(value), it->second, size, placement_);
  }

  RankedTensorType tileOfType(RankedTensorType type) const {
    return RankedTensorType::get(localShape(type.getShape(), sbpOf(type).getStates(), placement_.getSizes()),
                                 type.getElementType());
  }

  double partSeconds(BoxOp box, int64_t chunks, const CostModel &machine) const {
    RankedTensorType from = partOf(box.getInput(), largest(chunks)), to = partOf(box.getResult(), largest(chunks));
    double seconds = 0;
    for (const BoxStep &step : findRoute(sbpOf(from).getStates(), sbpOf(to).getStates(), from.getShape(),
                                         (from.getElementTypeBitWidth() + 7) / 8, placement_.getSizes(), machine)) {
      seconds += step.seconds;
    }
    return seconds;
  }

  // ---- order ----------------------------------------------------------------
  // What is made of the ops, directly or not, in program order.
  SmallVector<Operation *> readers() const {
    SmallVector<Operation *> found;
    llvm::DenseSet<Operation *> makers(rows_.ops.begin(), rows_.ops.end());
    for (Operation *op = rows_.ops[0]; op; op = op->getNextNode()) {
      if (!makers.contains(op) &&
          llvm::any_of(op->getOperands(), [&](Value v) { return makers.contains(v.getDefiningOp()); })) {
        makers.insert(op);
        found.push_back(op);
      }
    }
    return found;
  }

  // Of the forward, and to become the backward's: what is made of a loss.
  bool isMoved(Operation *op) const { return isBackward_ && sections_.isMicro(op) && phaseOf(op) == OpPhase::Forward; }

  // All parts come where the last op is, so what reads them comes behind that. In a training they are of the backward:
  // a part's gradients are there before the next part's logits.
  void moveReaders() {
    Operation *last = rows_.ops.back(), *place = last;
    for (Operation *op : readers()) {
      if (isMoved(op)) {
        setPhase(op, OpPhase::Backward);
      }
      if (op->isBeforeInBlock(last)) {
        op->moveAfter(place);
        place = op;
      }
    }
    after_ = last->getNextNode();
    // What a parameter is gathered for on use is the backward's alone now.
    for (Operation *op : rows_.ops) {
      for (Value operand : op->getOperands()) {
        gatherLater(operand.getDefiningOp());
      }
    }
  }

  void gatherLater(Operation *op) {
    if (!isBackward_ || !op || !op->hasAttr("on_use") || phaseOf(op) != OpPhase::Forward ||
        !llvm::all_of(op->getUsers(),
                      [&](Operation *user) { return rows_.has(user) || phaseOf(user) == OpPhase::Backward; })) {
      return;
    }
    setPhase(op, OpPhase::Backward);
    gatherLater(op->getOperand(0).getDefiningOp());
  }

  // ---- parts ----------------------------------------------------------------
  void doPart(int64_t number, int64_t begin, int64_t size) {
    mlir::OpBuilder b(&*after_);
    mlir::IRMapping map;
    for (Operation *op : rows_.ops) {
      for (Value operand : op->getOperands()) {
        if (!map.contains(operand) && rows_.dims.contains(operand)) {
          auto take = b.create<TakeRowsOp>(operand.getLoc(), partOf(operand, size), operand, rows_.dims.lookup(operand),
                                           begin, size);
          setBelongings(take, belongingsOfPart(op));
          map.map(operand, take.getResult());
        }
      }
      Operation *part = b.clone(*op, map);
      setBelongings(part, belongingsOfPart(op));
      part->setAttr(kOfChunkName, b.getI64IntegerAttr(number));
      for (auto [result, ofPart] : llvm::zip(op->getResults(), part->getResults())) {
        shape(op, result, part, ofPart, size);
        map.map(result, ofPart);
        parts_[result].push_back(ofPart);
      }
      addUp(b, op, number);
    }
  }

  // All of a part is of the product's layer: what follows each other in one layer is one actor.
  mlir::NamedAttrList belongingsOfPart(Operation *op) const {
    mlir::NamedAttrList belongings = belongingsOf(op);
    belongings.erase("scope");
    if (!scope().empty()) {
      belongings.append("scope", mlir::StringAttr::get(op->getContext(), scope()));
    }
    if (isBackward_) {
      belongings.set("phase", mlir::StringAttr::get(op->getContext(), nameOf(OpPhase::Backward)));
    }
    return belongings;
  }

  // The type of a part's result, and the attributes that say as much.
  void shape(Operation *op, Value result, Operation *part, Value ofPart, int64_t size) const {
    mlir::Builder b(op->getContext());
    if (rows_.isSum(result)) {
      // Added up in float32, and rounded once.
      if (isNarrow(result) && canBeWide(part)) {
        part->setAttr("result_type", mlir::TypeAttr::get(b.getF32Type()));
        ofPart.setType(tensorOf(result).clone(b.getF32Type()));
      }
      return;
    }
    RankedTensorType type = partOf(result, size);
    ofPart.setType(type);
    if (auto weftOp = llvm::dyn_cast<WeftOpInterface>(part)) {
      weftOp.setResultShape(type.getShape());
    }
    const int64_t dims = rows_.dims.lookup(result);
    if (auto padding = llvm::dyn_cast<SetPaddingOp>(part)) {
      SmallVector<int64_t> extents = intsOf(padding.getExtents());
      std::copy_n(type.getShape().begin(), dims, extents.begin());
      padding.setExtentsAttr(b.getI64ArrayAttr(extents));
    }
    if (auto unpadded = part->getAttrOfType<mlir::ArrayAttr>(kUnpaddedName)) {
      SmallVector<mlir::Attribute> lists(unpadded.begin(), unpadded.end());
      SmallVector<int64_t> own = unpaddedShapeOf(result);
      std::copy_n(type.getShape().begin(), dims, own.begin());
      lists[llvm::cast<mlir::OpResult>(result).getResultNumber()] = b.getDenseI64ArrayAttr(own);
      part->setAttr(kUnpaddedName, b.getArrayAttr(lists));
    }
  }

  static bool isNarrow(Value value) {
    auto type = llvm::dyn_cast<mlir::FloatType>(tensorOf(value).getElementType());
    return type && type.getWidth() < 32;
  }

  static bool canBeWide(Operation *op) {
    return llvm::is_contained(op->getName().getAttributeNames(),
                              mlir::StringAttr::get(op->getContext(), "result_type"));
  }

  // The sum so far over the parts.
  void addUp(mlir::OpBuilder &b, Operation *op, int64_t number) {
    for (Value result : op->getResults()) {
      SmallVector<Value> &parts = parts_[result];
      if (!rows_.isSum(result) || parts.size() < 2) {
        continue;
      }
      Value part = parts.pop_back_val();
      auto sum = create<AddOp>(b, op->getLoc(), parts[0], part);
      sum.getResult().setType(tensorOf(parts[0]));
      setBelongings(sum, belongingsOfPart(op));
      sum->setAttr(kOfChunkName, b.getI64IntegerAttr(number));
      parts[0] = sum;
    }
  }

  // ---- wholes ---------------------------------------------------------------
  void join() {
    mlir::OpBuilder b(&*after_);
    for (Operation *op : rows_.ops) {
      for (Value result : op->getResults()) {
        if (llvm::all_of(result.getUsers(), [&](Operation *user) { return rows_.has(user); })) {
          continue;
        }
        Value whole = parts_[result][0];
        if (!rows_.isSum(result)) {
          whole = b.create<JoinRowsOp>(op->getLoc(), tensorOf(result), parts_[result], rows_.dims.lookup(result));
          setBelongings(whole.getDefiningOp(), belongingsOfPart(op));
        } else if (whole.getType() != result.getType()) {
          whole = b.create<CastPartsOp>(op->getLoc(), tensorOf(result), whole);
          setBelongings(whole.getDefiningOp(), belongingsOfPart(op));
        }
        result.replaceUsesWithIf(whole, [&](mlir::OpOperand &use) { return !rows_.has(use.getOwner()); });
      }
    }
  }

  GraphOp graph_;
  const Sections &sections_;
  const LossRows rows_;
  const int64_t stage_;
  PlacementAttr placement_;
  const int64_t count_;
  const bool isBackward_;
  Operation *after_ = nullptr;
  llvm::DenseMap<Value, SmallVector<Value>> parts_; // of a sum the one so far
};

struct BoxChunks : impl::BoxChunksBase<BoxChunks> {
  using BoxChunksBase::BoxChunksBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    llvm::FailureOr<CostModel> machine = machineOf(graph);
    if (failed(machine)) {
      return signalPassFailure();
    }
    SmallVector<Value> logits;
    for (auto sum : graph.getBody().getOps<SumExpOp>()) {
      if (!llvm::is_contained(logits, sum.getLogits())) {
        logits.push_back(sum.getLogits());
      }
    }
    SmallVector<mlir::Attribute> told;
    for (Value value : chunks == 1 ? SmallVector<Value>() : logits) {
      Sections sections(graph); // anew, as the ops are others
      std::optional<LossRows> rows = lossRowsOf(value, graph, sections);
      if (!rows) {
        continue;
      }
      Cutter cutter(graph, sections, *rows);
      const int64_t parts = cutter.mayMove() ? partsOf(cutter, *machine) : 1;
      if (parts > 1) {
        told.push_back(describe(cutter, parts));
        cutter.cut(parts);
        ++numCut;
      }
    }
    if (!told.empty()) {
      graph->setAttr(kLossChunksName, mlir::ArrayAttr::get(&getContext(), told));
    }
  }

private:
  // As many as it takes for parts of this size, as long as all parts take hardly longer than the whole. Logits that are
  // not so much larger than what they are made of are less than what a layer keeps: they stay whole. So do those half
  // as large as which is what their parts would need.
  // More parts than that would be more kernels than a model with 100 layers has: 16 GiB of logits have parts of 256
  // MiB.
  static constexpr int64_t kPartBytes = int64_t{64} << 20, kMostParts = 64;
  static constexpr double kLonger = 1.02;
  static constexpr double kLarger = 8;

  int64_t partsOf(const Cutter &cutter, const CostModel &machine) const {
    if (chunks > 0) {
      return std::min<int64_t>(chunks, cutter.rows());
    }
    if (cutter.growth() < kLarger || 2 * cutter.bytesOfSums() > cutter.bytes(1)) {
      return 1;
    }
    const double whole = cutter.seconds(1, machine);
    int64_t parts = std::min({(cutter.bytes(1) + kPartBytes - 1) / kPartBytes, kMostParts, cutter.rows()});
    while (parts > 1 && cutter.seconds(parts, machine) > kLonger * whole) {
      parts = parts * 7 / 8;
    }
    return parts;
  }

  mlir::Attribute describe(const Cutter &cutter, int64_t parts) {
    mlir::Builder b(&getContext());
    auto number = [&](StringRef name, int64_t value) { return b.getNamedAttr(name, b.getI64IntegerAttr(value)); };
    return b.getDictionaryAttr({number("chunk_bytes", cutter.bytes(parts)), number("chunks", parts),
                                number("rows", cutter.rows()), b.getNamedAttr("scope", b.getStringAttr(cutter.scope())),
                                number("whole_bytes", cutter.bytes(1))});
  }
};

} // namespace
} // namespace weft::compiler
