// From global tensors to buffers, kernels and collectives.
#include "compiler/analysis/cost.h"
#include "compiler/analysis/machine.h"
#include "compiler/analysis/section.h"
#include "compiler/passes/localize/passes.h"
#include "ops/layout/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_LOCALIZE
#include "compiler/passes/localize/Passes.h.inc"
namespace {

using namespace weft::ir;
using mlir::NamedAttrList;
using task::BufferKind;
using task::Section;

// Builds the programs of one graph.
class Localizer {
public:
  // `tier`: where state of the optimizer lies, and `parameters` and their gradients too; empty: on the device. `host`:
  // parameters are updated there.
  Localizer(GraphOp graph, llvm::StringRef tier, bool parameters, bool host)
      : graph_(graph), tier_(tier), parameters_(parameters), host_(host), sections_(graph), b_(graph) {}

  llvm::LogicalResult run() {
    for (auto [stage, placement] : llvm::enumerate(graph_.getPlacements())) {
      auto program =
          b_.create<task::ProgramOp>(graph_.getLoc(), ("stage" + llvm::Twine(stage)).str(),
                                     llvm::cast<PlacementAttr>(placement), graph_.getMicroBatches(), mlir::ArrayAttr());
      program->setAttr("graph", graph_.getSymNameAttr());
      // `schedule` asks how long things take.
      if (mlir::Attribute machine = graph_->getAttr(kMachineName)) {
        program->setAttr(kMachineName, machine);
      }
      program.getBody().emplaceBlock();
      programs_.push_back(program);
    }
    inputs();
    for (Operation &op : graph_.getBody().front()) {
      b_.setInsertionPointToEnd(body(stageOf(&op)));
      if (failed(lower(&op))) {
        return mlir::failure();
      }
    }
    assign();
    return mlir::success();
  }

private:
  mlir::Block *body(int64_t stage) { return &programs_[stage].getBody().front(); }

  // ---- small builders -----------------------------------------------------
  // What a value stands for, where it is padded.
  mlir::DenseI64ArrayAttr unpadded(Value value) {
    SmallVector<int64_t> shape = unpaddedShapeOf(value);
    return shapeOf(value) == ArrayRef<int64_t>(shape) ? mlir::DenseI64ArrayAttr() : b_.getDenseI64ArrayAttr(shape);
  }

  task::BufferOp buffer(mlir::Location loc, const std::string &name, BufferKind kind, Value value) {
    auto type = task::BufferType::get(b_.getContext(), tensorOf(value));
    return b_.create<task::BufferOp>(loc, type, b_.getStringAttr(name), kind, unpadded(value));
  }

  // A name that tells where a value comes from; unique in the program.
  std::string nameOf(Operation *op, unsigned result) {
    std::string name = scopeOf(op).empty() ? "" : (scopeOf(op) + "/").str();
    name += op->getName().stripDialect();
    name += "." + std::to_string(counter_++);
    return result == 0 ? name : name + "." + std::to_string(result);
  }

  Section sectionOf(Operation *op) {
    return sections_.isBegin(op) ? Section::Begin : sections_.isStep(op) ? Section::Step : Section::Micro;
  }

  BufferKind kindOf(Operation *op, BufferKind micro = BufferKind::Activation) {
    if (sections_.isBegin(op)) {
      return BufferKind::Working;
    }
    return phaseOf(op) == OpPhase::Update ? BufferKind::Gradient : micro;
  }

  template <typename Op> void mark(Op made, Operation *from) {
    setBelongings(made.getOperation(), belongingsOf(from));
    made->removeAttr("stage"); // the program tells
    if (mlir::Attribute part = from->getAttr(kOfChunkName)) {
      made->setAttr(kOfChunkName, part);
    }
  }

  void kernel(Operation *from, llvm::StringRef name, mlir::ValueRange in, mlir::ValueRange out,
              const NamedAttrList &attributes, const plan::KernelWork &work, llvm::ArrayRef<int64_t> inPlace = {}) {
    bool may = llvm::any_of(inPlace, [](int64_t operand) { return operand >= 0; });
    auto op = b_.create<task::KernelOp>(from->getLoc(), b_.getStringAttr(name), in, out,
                                        attributes.getDictionary(b_.getContext()), sectionOf(from),
                                        may ? b_.getDenseI64ArrayAttr(inPlace) : mlir::DenseI64ArrayAttr());
    op.setCostAttr(b_.getDenseF64ArrayAttr({work.contraction_flops, work.flops, work.bytes}));
    if (work.product.m > 0) {
      auto size = [&](llvm::StringRef name, int64_t n) { return b_.getNamedAttr(name, b_.getI64IntegerAttr(n)); };
      const plan::Product &p = work.product;
      SmallVector<mlir::NamedAttribute> product = {size("batch", p.batch), size("m", p.m), size("n", p.n),
                                                   size("k", p.k), b_.getNamedAttr("type", b_.getStringAttr(p.type))};
      if (!p.within.empty()) {
        product.push_back(b_.getNamedAttr("within", b_.getStringAttr(p.within)));
      }
      op.setProductAttr(b_.getDictionaryAttr(product));
    }
    mark(op, from);
  }

  // What a kernel does that moves a tile of a value `times` times, with an addition an element or none.
  plan::KernelWork moves(Operation *op, Value value, double times, bool adds = false) {
    RankedTensorType tile = tileOf(value, graph_.getPlacement(stageOf(op)));
    return {0, adds ? double(tile.getNumElements()) : 0, times * double(bytesOf(tile))};
  }

  SmallVector<Value> buffersOf(mlir::ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return map_.lookup(v); });
  }

  // ---- lowering -----------------------------------------------------------
  void inputs() {
    for (auto [name, argument] : llvm::zip(graph_.getInputs(), graph_.getBody().getArguments())) {
      b_.setInsertionPointToEnd(body(stageOf(argument)));
      std::string text = llvm::cast<mlir::StringAttr>(name).getValue().str();
      auto made = buffer(graph_.getLoc(), "input/" + text, BufferKind::Input, argument);
      map_[argument] = made;
      NamedAttrList attributes;
      attributes.append("name", name);
      auto op = b_.create<task::KernelOp>(
          graph_.getLoc(), b_.getStringAttr(task::InputKernel::kName), mlir::ValueRange(), mlir::ValueRange(made),
          attributes.getDictionary(b_.getContext()), Section::Micro, mlir::DenseI64ArrayAttr());
      double bytes = double(bytesOf(tileOf(argument, graph_.getPlacement(stageOf(argument)))));
      op.setCostAttr(b_.getDenseF64ArrayAttr({0, 0, bytes}));
      op->setAttr("scope", b_.getStringAttr("batch"));
      // Read for the first unit that needs it.
      if (Operation *first = firstFor(argument); first && chunkOf(first) > 0) {
        op->setAttr("chunk", b_.getI64IntegerAttr(chunkOf(first)));
      }
    }
  }

  // The first reader of an input; without one, the first op of its stage, so that the input is of a chunk of that
  // stage.
  Operation *firstFor(mlir::BlockArgument argument) {
    if (!argument.use_empty()) {
      return *llvm::min_element(argument.getUsers(), [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    }
    for (Operation &op : graph_.getBody().front()) {
      if (stageOf(&op) == stageOf(argument)) {
        return &op;
      }
    }
    return nullptr;
  }

  llvm::LogicalResult lower(Operation *op) {
    if (auto parameter = llvm::dyn_cast<ParameterOp>(op)) {
      return lowerParameter(parameter);
    }
    if (auto box = llvm::dyn_cast<BoxOp>(op)) {
      return lowerBox(box);
    }
    if (auto shift = llvm::dyn_cast<ShiftOp>(op)) {
      lowerMove(shift, task::CollectiveKind::Shift, shift.getByAttr());
      return mlir::success();
    }
    if (auto zigzag = llvm::dyn_cast<ZigzagOp>(op)) {
      lowerMove(zigzag, task::CollectiveKind::Zigzag, {}, zigzag.getBackAttr());
      return mlir::success();
    }
    if (auto accumulate = llvm::dyn_cast<AccumulateOp>(op)) {
      lowerAccumulate(accumulate);
      return mlir::success();
    }
    if (auto assign = llvm::dyn_cast<AssignOp>(op)) {
      if (map_.lookup(assign.getTarget()) != task::rootOf(map_.lookup(assign.getValue()))) {
        copies_.push_back(assign);
      }
      return mlir::success();
    }
    if (auto output = llvm::dyn_cast<OutputOp>(op)) {
      lowerOutput(output);
      return mlir::success();
    }
    if (auto reshape = llvm::dyn_cast<ReshapeOp>(op)) {
      // Only outermost factors are ever split, so the local bytes stay in order.
      map_[reshape.getResult()] = alias(op, reshape.getInput(), reshape.getResult());
      return mlir::success();
    }
    if (auto cast = llvm::dyn_cast<CastPartsOp>(op)) {
      lowerCastParts(cast);
      return mlir::success();
    }
    if (auto take = llvm::dyn_cast<TakeRowsOp>(op)) {
      lowerTakeRows(take);
      return mlir::success();
    }
    if (auto join = llvm::dyn_cast<JoinRowsOp>(op)) {
      lowerJoinRows(join);
      return mlir::success();
    }
    return lowerKernel(op);
  }

  // Behind every reader of the old values. Where a new value is the old one of another parameter that is written here,
  // as when two are swapped, it is put aside before any is overwritten.
  void assign() {
    llvm::DenseSet<Value> overwritten;
    for (AssignOp assign : copies_) {
      overwritten.insert(map_.lookup(assign.getTarget()));
    }
    SmallVector<Value> sources;
    for (AssignOp assign : copies_) {
      Value source = map_.lookup(assign.getValue());
      if (overwritten.contains(task::rootOf(source))) {
        b_.setInsertionPointToEnd(body(stageOf(assign)));
        auto aside = buffer(assign.getLoc(), nameOf(assign, 0), kindOf(assign), assign.getValue());
        kernel(assign, "copy", source, aside.getBuffer(), {}, moves(assign, assign.getValue(), 2));
        source = aside;
      }
      sources.push_back(source);
    }
    for (auto [assign, source] : llvm::zip(copies_, sources)) {
      b_.setInsertionPointToEnd(body(stageOf(assign)));
      kernel(assign, "copy", source, map_.lookup(assign.getTarget()), {}, moves(assign, assign.getValue(), 2));
    }
  }

  Value alias(Operation *op, Value source, Value result) {
    auto type = task::BufferType::get(b_.getContext(), tensorOf(result));
    return b_.create<task::AliasOp>(op->getLoc(), type, map_.lookup(source), unpadded(result));
  }

  void lowerCastParts(CastPartsOp op) {
    auto made = buffer(op.getLoc(), nameOf(op, 0), kindOf(op), op.getResult());
    map_[op.getResult()] = made;
    kernel(op, "cast", map_.lookup(op.getInput()), made.getBuffer(), {}, moves(op, op.getResult(), 3));
  }

  // ---- rows of a tile, which are one dimension of it seen so -----------------
  // A tile with all its rows along the last of their dimensions.
  task::BufferType listOf(Operation *op, Value value, int64_t dims) {
    PlacementAttr placement = graph_.getPlacement(stageOf(op));
    RankedTensorType type = tensorOf(value);
    return task::BufferType::get(b_.getContext(), typeOfRows(type, dims, rowsOfTile(type, dims, placement), placement));
  }

  NamedAttrList along(int64_t dims) {
    NamedAttrList attributes;
    attributes.append("dim", b_.getI64IntegerAttr(dims - 1));
    return attributes;
  }

  void lowerTakeRows(TakeRowsOp op) {
    Value list = b_.create<task::AliasOp>(op.getLoc(), listOf(op, op.getInput(), int64_t(op.getRows())),
                                          map_.lookup(op.getInput()), mlir::DenseI64ArrayAttr());
    NamedAttrList attributes = along(int64_t(op.getRows()));
    attributes.append("offset", op.getOffsetAttr());
    attributes.append("size", op.getSizeAttr());
    auto made = buffer(op.getLoc(), nameOf(op, 0), kindOf(op), op.getResult());
    map_[op.getResult()] = made;
    kernel(op, "slice", list, made.getBuffer(), attributes, moves(op, op.getResult(), 2));
  }

  void lowerJoinRows(JoinRowsOp op) {
    auto made = b_.create<task::BufferOp>(op.getLoc(), listOf(op, op.getResult(), int64_t(op.getRows())),
                                          b_.getStringAttr(nameOf(op, 0)), kindOf(op), mlir::DenseI64ArrayAttr());
    kernel(op, "concat", buffersOf(op.getParts()), made.getBuffer(), along(int64_t(op.getRows())),
           moves(op, op.getResult(), 2));
    auto type = task::BufferType::get(b_.getContext(), tensorOf(op.getResult()));
    map_[op.getResult()] = b_.create<task::AliasOp>(op.getLoc(), type, made, unpadded(op.getResult()));
  }

  llvm::LogicalResult lowerParameter(ParameterOp parameter) {
    const bool ofOptimizer = parameter.getState() && !parameter->hasAttr(kOfModelName);
    auto made = buffer(parameter.getLoc(), parameter.getName().str(),
                       parameter->hasAttr(kCacheName) ? BufferKind::Cache
                       : ofOptimizer                  ? BufferKind::Optimizer
                                                      : BufferKind::Parameter,
                       parameter.getResult());
    NamedAttrList attributes;
    llvm::StringRef kind = parameter.getInit().getKind();
    llvm::ArrayRef<mlir::Attribute> numbers = parameter.getInit().getArguments();
    auto number = [&](llvm::StringRef name, double value) { attributes.append(name, b_.getF64FloatAttr(value)); };
    llvm::StringRef name = "fill";
    if (kind == "zeros" || kind == "ones") {
      number("value", kind == "ones");
    } else if (kind == "constant") {
      number("value", floatOf(numbers[0]));
    } else {
      bool normal = kind == "normal";
      name = normal ? "random_normal" : "random_uniform";
      number(normal ? "mean" : "low", normal ? 0.0 : floatOf(numbers[0]));
      number(normal ? "std" : "high", floatOf(numbers[normal ? 0 : 1]));
      attributes.append("seed", parameter.getSeedAttr() ? parameter.getSeedAttr() : b_.getI64IntegerAttr(0));
    }
    made.setInit(name);
    made.setInitAttributesAttr(attributes.getDictionary(b_.getContext()));
    if (ofOptimizer || ((parameters_ || host_) && made.getKind() == BufferKind::Parameter)) {
      lower(made);
    }
    if (parameter.getStored()) {
      made.setStored(intsOf(*parameter.getStored()));
    }
    map_[parameter.getResult()] = made;
    return mlir::success();
  }

  // To the tier, if it is no single number.
  void lower(task::BufferOp buffer) {
    if (!tier_.empty() && task::tensorOf(buffer).getRank() > 0) {
      buffer.setTier(tier_);
    }
  }

  // One micro-batch: nothing to sum. More: a buffer that stays and is added to.
  void lowerAccumulate(AccumulateOp op) {
    if (graph_.getMicroBatches() == 1) {
      Value sum = map_[op.getResult()] = map_.lookup(op.getInput());
      auto made = task::rootOf(sum).getDefiningOp<task::BufferOp>();
      if (made.getKind() == BufferKind::Activation || made.getKind() == BufferKind::Communication) {
        made.setKind(BufferKind::Gradient);
        if (parameters_ || host_) {
          lower(made);
        }
      }
      return;
    }
    auto made = buffer(op.getLoc(), nameOf(op, 0), BufferKind::Gradient, op.getResult());
    map_[op.getResult()] = made;
    SmallVector<Value> in{map_.lookup(op.getInput()), made};
    kernel(op, task::AccumulateKernel::kName, in, made.getBuffer(), {}, moves(op, op.getInput(), 3, true));
    if (parameters_) {
      lower(made);
    }
  }

  void lowerOutput(OutputOp op) {
    Value value = map_.lookup(op.getValue());
    if (op.getMetric()) {
      b_.create<task::MetricOp>(op.getLoc(), op.getNameAttr(), value);
      return;
    }
    NamedAttrList attributes;
    attributes.append("name", op.getNameAttr());
    kernel(op, task::OutputKernel::kName, value, mlir::ValueRange(), attributes, moves(op, op.getValue(), 1));
  }

  // The parameter that a result may be written into: it is assigned from this
  // result alone, and nothing behind the op reads the old value. A cache's next value is read where it lies too.
  Value updatesInPlace(Operation *op, mlir::OpResult result, int64_t operand) {
    Value old = operand < 0 ? Value() : op->getOperand(operand);
    if (!old || (!result.hasOneUse() && !(old.getDefiningOp() && old.getDefiningOp()->hasAttr(kCacheName)))) {
      return {};
    }
    AssignOp assign;
    for (Operation *user : result.getUsers()) {
      auto found = llvm::dyn_cast<AssignOp>(user);
      assign = found && found.getTarget() == old && found.getValue() == result ? found : assign;
    }
    return !assign || readBehind(op, assign, old) ? Value() : map_.lookup(old);
  }

  // True if something behind `op`, or at the end of the step, reads the bytes of `value`, be it by another name.
  bool readBehind(Operation *op, AssignOp assign, Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (user == op || user == assign.getOperation()) {
        return false;
      }
      if (sharesBytes(user)) {
        return readBehind(op, assign, user->getResult(0));
      }
      return llvm::isa<AssignOp>(user) || op->isBeforeInBlock(user);
    });
  }

  // True if the result of `op` is an alias of its operand.
  bool sharesBytes(Operation *op) {
    auto box = llvm::dyn_cast<BoxOp>(op);
    return llvm::isa<ReshapeOp>(op) || (llvm::isa<AccumulateOp>(op) && graph_.getMicroBatches() == 1) ||
           (box && stageOf(box.getInput()) == stageOf(box.getOperation()) && movesNothing(box));
  }

  static bool movesNothing(BoxOp box) {
    auto from = sbpOf(box.getInput().getType()).getStates(), to = sbpOf(box.getType()).getStates();
    return llvm::all_of(llvm::zip(from, to), [](auto pair) {
      auto [before, after] = pair;
      return before == after || (before.kind == SbpState::Broadcast && after.kind == SbpState::PartialMax);
    });
  }

  llvm::LogicalResult lowerKernel(Operation *op) {
    auto weftOp = llvm::dyn_cast<WeftOpInterface>(op);
    if (!weftOp) {
      return op->emitOpError("expected an op with a kernel before localize");
    }
    NamedAttrList attributes;
    weftOp.getKernelAttributes(attributes);
    if (op->hasAttr("tf32")) {
      attributes.set("tf32", b_.getI64IntegerAttr(1));
    }
    SmallVector<int64_t> inPlace = weftOp.getInPlaceOperands();
    SmallVector<Value> outs;
    for (mlir::OpResult result : op->getResults()) {
      unsigned number = result.getResultNumber();
      Value out = updatesInPlace(op, result, inPlace[number]);
      if (!out) {
        out = buffer(op->getLoc(), nameOf(op, number), kindOf(op), result);
      }
      map_[result] = out;
      outs.push_back(out);
    }
    kernel(op, weftOp.getKernelName(), buffersOf(op->getOperands()), outs, attributes,
           localWork(weftOp, graph_.getPlacement(stageOf(op))), inPlace);
    return mlir::success();
  }

  // ---- boxes: one primitive step each -------------------------------------
  llvm::LogicalResult lowerBox(BoxOp box) {
    if (stageOf(box.getInput()) != stageOf(box.getOperation())) {
      transfer(box, stageOf(box.getInput()), stageOf(box.getOperation()));
      return mlir::success();
    }
    auto from = sbpOf(box.getInput().getType()).getStates(), to = sbpOf(box.getType()).getStates();
    SmallVector<int64_t> axes;
    for (size_t axis = 0; axis < from.size(); ++axis) {
      if (from[axis] != to[axis]) {
        axes.push_back(int64_t(axis));
      }
    }
    Value source = map_.lookup(box.getInput());
    if (axes.empty()) {
      map_[box.getResult()] = source;
      return mlir::success();
    }
    SbpState before = from[axes[0]], after = to[axes[0]];
    if (movesNothing(box)) {
      map_[box.getResult()] = alias(box, box.getInput(), box.getResult());
      return mlir::success();
    }
    auto made = buffer(box.getLoc(), nameOf(box, 0), kindOf(box, BufferKind::Communication), box.getResult());
    map_[box.getResult()] = made;
    if (before.kind == SbpState::Broadcast || after.isPartial()) {
      NamedAttrList attributes;
      bool mask = before.kind == SbpState::Broadcast && after.isPartial();
      if (mask) {
        attributes.append("axes", b_.getDenseI64ArrayAttr(axes));
      }
      kernel(box, mask ? "mask_rank" : "copy_tile", source, made.getBuffer(), attributes,
             localWork(box, graph_.getPlacement(stageOf(box.getOperation()))));
      return mlir::success();
    }
    return collective(box, source, made, axes, before, after);
  }

  llvm::LogicalResult collective(BoxOp box, Value source, Value target, llvm::ArrayRef<int64_t> axes, SbpState before,
                                 SbpState after) {
    CollectiveKind kind = CollectiveThat(before.isPartial(), before.isSplit(), after.isSplit());
    CollectiveFacts facts = FactsOf(kind);
    auto dim = [&](bool wanted, int64_t value) { return wanted ? b_.getI64IntegerAttr(value) : mlir::IntegerAttr(); };
    auto op = b_.create<task::CollectiveOp>(
        box.getLoc(), task::CollectiveKindAttr::get(b_.getContext(), task::kindOf(kind)), b_.getDenseI64ArrayAttr(axes),
        before.kind == SbpState::PartialMax ? b_.getUnitAttr() : mlir::UnitAttr(),
        dim(facts.has_parts(), facts.gathers ? before.dim : after.dim), dim(facts.has_split_dim(), after.dim),
        mlir::IntegerAttr(), mlir::UnitAttr(), source, target, task::SectionAttr::get(b_.getContext(), sectionOf(box)));
    mark(op, box);
    return mlir::success();
  }

  // A shift or a zigzag.
  template <typename Op>
  void lowerMove(Op move, task::CollectiveKind kind, mlir::IntegerAttr by, mlir::UnitAttr back = {}) {
    auto made = buffer(move.getLoc(), nameOf(move, 0), kindOf(move, BufferKind::Communication), move.getResult());
    const SbpState state = sbpOf(move.getType()).getStates()[move.getAxis()];
    auto op = b_.create<task::CollectiveOp>(move.getLoc(), task::CollectiveKindAttr::get(b_.getContext(), kind),
                                            b_.getDenseI64ArrayAttr({int64_t(move.getAxis())}), mlir::UnitAttr(),
                                            b_.getI64IntegerAttr(state.dim), mlir::IntegerAttr(), by, back,
                                            map_.lookup(move.getInput()), made,
                                            task::SectionAttr::get(b_.getContext(), sectionOf(move)));
    mark(op, move);
    map_[move.getResult()] = made;
  }

  void transfer(BoxOp box, int64_t from, int64_t to) {
    int64_t number = transfers_++;
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToEnd(body(from));
    auto section = task::SectionAttr::get(b_.getContext(), sectionOf(box));
    auto send =
        b_.create<task::SendOp>(box.getLoc(), b_.getI64IntegerAttr(number), map_.lookup(box.getInput()), section);
    Operation *producer = box.getInput().getDefiningOp();
    mark(send, producer ? producer : box.getOperation());
    b_.setInsertionPointToEnd(body(to));
    auto made = buffer(box.getLoc(), nameOf(box, 0), kindOf(box, BufferKind::Communication), box.getResult());
    auto receive = b_.create<task::ReceiveOp>(box.getLoc(), b_.getI64IntegerAttr(number), made, section);
    mark(receive, box);
    map_[box.getResult()] = made;
  }

  GraphOp graph_;
  const llvm::StringRef tier_;
  const bool parameters_, host_;
  Sections sections_;
  mlir::OpBuilder b_;
  SmallVector<task::ProgramOp> programs_;
  llvm::DenseMap<Value, Value> map_;
  SmallVector<AssignOp> copies_; // what is not updated in place
  int64_t counter_ = 0;
  int64_t transfers_ = 0;
};

struct Localize : impl::LocalizeBase<Localize> {
  using LocalizeBase::LocalizeBase;

  void runOnOperation() override {
    auto graphs = llvm::to_vector(getOperation().getOps<GraphOp>());
    if (graphs.size() != 1) {
      getOperation().emitError() << "expected one weft.graph, got " << graphs.size();
      return signalPassFailure();
    }
    if (failed(Localizer(graphs[0], llvm::StringRef(offload), parameters, host).run())) {
      return signalPassFailure();
    }
    graphs[0].erase();
  }
};

} // namespace
} // namespace weft::compiler
