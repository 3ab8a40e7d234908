#include "compiler/emit/emit.h"

#include "compiler/analysis/cost.h"
#include "compiler/analysis/location.h"
#include "compiler/analysis/next_best.h"
#include "compiler/analysis/unit_order.h"
#include "compiler/codegen/launch.h"
#include "compiler/dialect/task/registers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "runtime/plan/devices.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/joins.h"

namespace weft::compiler {

using ir::SbpState;

namespace {

// The element type that MLIR calls so.
std::optional<plan::DType> dtypeOf(mlir::Type type) {
  const std::string name = elementNameOf(type);
  for (const ElementType &row : kElementTypes) {
    if (name == row.mlir) {
      return plan::DType(row.type);
    }
  }
  return std::nullopt;
}

plan::Buffer::Kind kindOf(task::BufferKind kind) {
  switch (kind) {
  case task::BufferKind::Activation:
    return plan::Buffer::ACTIVATION;
  case task::BufferKind::Parameter:
    return plan::Buffer::PARAMETER;
  case task::BufferKind::Optimizer:
    return plan::Buffer::OPTIMIZER;
  case task::BufferKind::Gradient:
    return plan::Buffer::GRADIENT;
  case task::BufferKind::Communication:
    return plan::Buffer::COMMUNICATION;
  case task::BufferKind::Input:
    return plan::Buffer::INPUT;
  case task::BufferKind::Output:
    return plan::Buffer::OUTPUT;
  case task::BufferKind::Working:
    return plan::Buffer::WORKING;
  case task::BufferKind::Cache:
    return plan::Buffer::CACHE;
  }
  llvm_unreachable("a kind of the dialect");
}

plan::Stream::Kind kindOf(task::StreamKind kind) {
  switch (kind) {
  case task::StreamKind::Compute:
    return plan::Stream::COMPUTE;
  case task::StreamKind::Communication:
    return plan::Stream::COMMUNICATION;
  case task::StreamKind::Host:
    return plan::Stream::HOST;
  }
  llvm_unreachable("a kind of the dialect");
}

void emitSbp(SbpState state, plan::Sbp &out) {
  switch (state.kind) {
  case SbpState::Broadcast:
    out.set_kind(plan::Sbp::BROADCAST);
    break;
  case SbpState::Split:
    out.set_kind(plan::Sbp::SPLIT);
    out.set_dim(int(state.dim));
    break;
  case SbpState::PartialSum:
    out.set_kind(plan::Sbp::PARTIAL_SUM);
    break;
  case SbpState::PartialMax:
    out.set_kind(plan::Sbp::PARTIAL_MAX);
    break;
  }
}

// An attribute of a kernel; false if the plan has no form for it. Types are
// dropped: the buffers tell them.
bool emitAttribute(mlir::Attribute value, plan::Attribute &out) {
  if (auto boolean = llvm::dyn_cast<mlir::BoolAttr>(value)) {
    out.set_int_(boolean.getValue());
  } else if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value)) {
    out.set_int_(integer.getInt());
  } else if (auto number = llvm::dyn_cast<mlir::FloatAttr>(value)) {
    out.set_float_(number.getValueAsDouble());
  } else if (auto text = llvm::dyn_cast<mlir::StringAttr>(value)) {
    out.set_string(text.getValue().str());
  } else if (llvm::isa<mlir::UnitAttr>(value)) {
    out.set_int_(1);
  } else if (auto list = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(value)) {
    for (int64_t element : list.asArrayRef()) {
      out.mutable_ints()->add_values(element);
    }
    out.mutable_ints();
  } else if (auto array = llvm::dyn_cast<mlir::ArrayAttr>(value)) {
    out.mutable_ints();
    for (mlir::Attribute element : array) {
      auto integer = llvm::dyn_cast<mlir::IntegerAttr>(element);
      if (!integer) {
        return false;
      }
      out.mutable_ints()->add_values(integer.getInt());
    }
  } else {
    return false;
  }
  return true;
}

LogicalResult emitAttributes(Operation *op, mlir::DictionaryAttr attributes, plan::Kernel &out) {
  if (!attributes) {
    return mlir::success();
  }
  for (mlir::NamedAttribute attribute : attributes) {
    if (llvm::isa<mlir::TypeAttr>(attribute.getValue())) {
      continue;
    }
    plan::Attribute value;
    if (!emitAttribute(attribute.getValue(), value)) {
      return op->emitOpError() << "attribute " << attribute.getName()
                               << ": expected a number, a string or a list of integers, got " << attribute.getValue();
    }
    (*out.mutable_attributes())[attribute.getName().str()] = value;
  }
  return mlir::success();
}

// Whether the host runs a kernel in a plan for GPUs.
bool runsBesideGpu(task::KernelOp kernel) {
  auto program = kernel->getParentOfType<task::ProgramOp>();
  return !plan::IsHost(program.getPlacement().getDevice().getValue()) && task::worksBelow(kernel);
}

// One program to one stage.
class StageEmitter {
public:
  StageEmitter(task::ProgramOp program, int index, plan::Plan &plan)
      : program_(program), index_(index), plan_(plan), stage_(*plan.add_stages()) {}

  LogicalResult run() {
    emitPlacement();
    for (Operation &op : program_.getBody().front()) {
      LogicalResult emitted = llvm::TypeSwitch<Operation *, LogicalResult>(&op)
                                  .Case([&](task::BufferOp buffer) { return emitBuffer(buffer); })
                                  .Case([&](task::AliasOp alias) { return emitAlias(alias); })
                                  .Default([](Operation *) { return mlir::success(); });
      if (failed(emitted)) {
        return mlir::failure();
      }
    }
    for (auto actor : program_.getBody().getOps<task::ActorOp>()) {
      if (failed(emitActor(actor))) {
        return mlir::failure();
      }
    }
    emitRegisters();
    emitStreams();
    for (auto metric : program_.getBody().getOps<task::MetricOp>()) {
      plan::Metric &out = *plan_.add_metrics();
      out.set_name(metric.getName().str());
      out.set_stage(index_);
      out.set_buffer(bufferIndex_.lookup(metric.getBuffer()));
    }
    return mlir::success();
  }

private:
  void emitPlacement() {
    stage_.set_placement(plan_.placements_size());
    plan::Placement &out = *plan_.add_placements();
    ir::PlacementAttr placement = program_.getPlacement();
    out.set_device(placement.getDevice().str());
    for (auto [name, size] : llvm::zip(placement.getAxes(), placement.getSizes())) {
      plan::Axis &axis = *out.add_axes();
      axis.set_name(name.getValue().starts_with("_") ? "" : name.str()); // raw meshes have no names
      axis.set_size(size);
    }
    for (int64_t rank : placement.getRanks()) {
      out.add_ranks(int(rank));
    }
  }

  LogicalResult emitType(Operation *op, mlir::RankedTensorType tensor, std::optional<ArrayRef<int64_t>> unpadded,
                         plan::Buffer &out) {
    std::optional<plan::DType> dtype = dtypeOf(tensor.getElementType());
    if (!dtype) {
      return op->emitOpError() << "expected an element type of the runtime, got " << tensor.getElementType();
    }
    out.set_dtype(*dtype);
    for (int64_t extent : tensor.getShape()) {
      out.add_shape(extent);
    }
    for (int64_t extent : unpadded.value_or(ArrayRef<int64_t>())) {
      out.add_unpadded_shape(extent);
    }
    for (SbpState state : ir::sbpOf(tensor).getStates()) {
      emitSbp(state, *out.add_sbp());
    }
    return mlir::success();
  }

  LogicalResult emitBuffer(task::BufferOp op) {
    bufferIndex_[op.getBuffer()] = stage_.buffers_size();
    plan::Buffer &out = *stage_.add_buffers();
    out.set_name(op.getName().str());
    out.set_kind(kindOf(op.getKind()));
    out.set_slots(int(op.getSlots()));
    if (op.getTier()) {
      const auto &tiers = plan_.header().cluster().tier();
      const auto tier = llvm::find_if(tiers, [&](const Tier &it) { return it.name() == *op.getTier(); });
      if (tier == tiers.end()) {
        return op->emitOpError() << "tier: expected one of the cluster's " << tiers.size() << ", got " << *op.getTier();
      }
      out.set_tier(int(tier - tiers.begin()) + 1);
    }
    for (int64_t extent : op.getStored().value_or(llvm::ArrayRef<int64_t>())) {
      out.add_stored_shape(extent);
    }
    if (op.getStoredType()) {
      out.set_stored_dtype(*dtypeOf(*op.getStoredType()));
    }
    if (op.getInit() && op.getKind() == task::BufferKind::Working) {
      const auto of = op.getInitAttributesAttr().getAs<mlir::StringAttr>(task::kOfName);
      out.mutable_init()->set_name(op.getInit()->str());
      out.mutable_init()->add_inputs(parameterNamed(of));
      out.mutable_init()->add_outputs(bufferIndex_[op.getBuffer()]);
    } else if (op.getInit()) {
      out.mutable_init()->set_name(op.getInit()->str());
      if (failed(emitAttributes(op, op.getInitAttributesAttr(), *out.mutable_init()))) {
        return mlir::failure();
      }
      out.mutable_init()->add_outputs(bufferIndex_[op.getBuffer()]);
    }
    return emitType(op, task::tensorOf(op.getBuffer()), op.getUnpadded(), out);
  }

  // The index of a parameter, which is declared before its copies.
  int parameterNamed(StringRef name) const {
    const auto &buffers = stage_.buffers();
    const auto found = llvm::find_if(buffers, [&](const plan::Buffer &buffer) { return buffer.name() == name.str(); });
    assert(found != buffers.end() && "a copy of a parameter of the stage");
    return int(found - buffers.begin());
  }

  LogicalResult emitAlias(task::AliasOp op) {
    int source = bufferIndex_.lookup(op.getSource());
    bufferIndex_[op.getBuffer()] = stage_.buffers_size();
    plan::Buffer &out = *stage_.add_buffers();
    out.set_name(stage_.buffers(source).name() + "/view." + std::to_string(stage_.buffers_size()));
    // Another shape of a parameter, or of the optimizer's state, is none itself: nothing initialises or saves it.
    const bool ofState = task::isState(task::rootOf(op.getSource()));
    out.set_kind(ofState ? plan::Buffer::WORKING : stage_.buffers(source).kind());
    out.set_slots(stage_.buffers(source).slots());
    out.set_tier(stage_.buffers(source).tier());
    out.set_alias_of(source + 1);
    return emitType(op, task::tensorOf(op.getBuffer()), op.getUnpadded(), out);
  }

  LogicalResult emitActor(task::ActorOp actor) {
    plan::Actor &out = *stage_.add_actors();
    out.set_name(actor.getName().str());
    out.set_stream(streamIndex(actor));
    out.set_section(actor.getSection() == task::Section::Micro ? plan::Actor::MICRO : plan::Actor::STEP);
    out.set_phase(phaseOf(actor));
    out.set_chunk(int(actor.getChunk()));
    for (Operation &op : actor.getBody().front()) {
      LogicalResult emitted =
          llvm::TypeSwitch<Operation *, LogicalResult>(&op)
              .Case([&](task::KernelOp kernel) { return emitKernel(kernel, *out.add_kernels()); })
              .Case([&](task::CollectiveOp collective) { return emitCollective(collective, *out.add_collectives()); })
              .Case([&](task::SendOp send) {
                out.set_send(int(send.getTransfer()));
                transfer(send.getTransfer()).set_source_stage(index_);
                transfer(send.getTransfer()).set_source_buffer(bufferIndex_.lookup(send.getBuffer()));
                return mlir::success();
              })
              .Case([&](task::ReceiveOp receive) {
                out.set_receive(int(receive.getTransfer()));
                transfer(receive.getTransfer()).set_target_stage(index_);
                transfer(receive.getTransfer()).set_target_buffer(bufferIndex_.lookup(receive.getBuffer()));
                return mlir::success();
              })
              .Default([](Operation *other) { return other->emitOpError("expected work of the task dialect"); });
      if (failed(emitted)) {
        return mlir::failure();
      }
    }
    return mlir::success();
  }

  plan::Transfer &transfer(int64_t number) {
    while (plan_.transfers_size() <= number) {
      plan_.add_transfers();
    }
    return *plan_.mutable_transfers(int(number));
  }

  // The product may be null.
  static void emitCost(ArrayRef<double> cost, mlir::DictionaryAttr product, StringRef type, plan::KernelCost &out) {
    out.set_contraction_flops(cost[0]);
    out.set_flops(cost[1]);
    out.set_bytes(cost[2]);
    out.set_type(type.str());
    if (!product) {
      return;
    }
    auto size = [&](StringRef name) { return product.getAs<mlir::IntegerAttr>(name).getInt(); };
    plan::KernelProduct &to = *out.mutable_product();
    to.set_batch(size("batch"));
    to.set_m(size("m"));
    to.set_n(size("n"));
    to.set_k(size("k"));
    to.set_type(product.getAs<mlir::StringAttr>("type").str());
    if (auto within = product.getAs<mlir::StringAttr>("within")) {
      to.set_within(within.str());
    }
  }

  static void emitJoinNotes(task::KernelOp op, plan::Kernel &out) {
    std::vector<plan::Operator> operators;
    std::vector<plan::ApartInput> apart;
    const JoinNotes notes = joinNotesOf(op.getLoc());
    for (const JoinedOp &it : notes.joined) {
      operators.push_back({it.name, it.location});
    }
    for (const auto &[input, why] : notes.apart) {
      apart.push_back({int32_t(input), why});
    }
    plan::SetOperators(operators, &out);
    plan::SetApart(apart, &out);
  }

  LogicalResult emitKernel(task::KernelOp op, plan::Kernel &out) {
    out.set_name(op.getName().str());
    for (Value input : op.getInputs()) {
      out.add_inputs(bufferIndex_.lookup(input));
    }
    for (Value output : op.getOutputs()) {
      out.add_outputs(bufferIndex_.lookup(output));
    }
    out.set_location(describeLocation(op));
    if (op.getCost()) {
      SmallVector<RankedTensorType> tensors = llvm::map_to_vector(op->getOperands(), task::tensorOf);
      emitCost(*op.getCost(), op.getProductAttr(), narrowestOf(tensors), *out.mutable_cost());
    }
    if (mlir::FlatSymbolRefAttr cell = op.getCellAttr()) {
      auto kernel = mlir::SymbolTable::lookupNearestSymbolFrom<cell::KernelOp>(op, cell);
      out.set_symbol(cell.getValue().str());
      if (std::optional<uint64_t> segments = op.getSegments()) {
        out.set_segments(int64_t(*segments));
        out.set_shared(kernel.getNumShared());
      }
      setLaunch(kernel, plan::IsHost(program_.getPlacement().getDevice().getValue()) || runsBesideGpu(op), out);
      emitJoinNotes(op, out);
    }
    for (mlir::Attribute attribute :
         op.getRandomsAttr() ? op.getRandomsAttr().getValue() : ArrayRef<mlir::Attribute>()) {
      auto random = llvm::cast<mlir::DictionaryAttr>(attribute);
      auto tensor = llvm::cast<mlir::RankedTensorType>(random.getAs<mlir::TypeAttr>("tensor").getValue());
      auto unpadded = random.getAs<mlir::DenseI64ArrayAttr>("unpadded");
      plan::Random &to = *out.add_randoms();
      to.set_seed(random.getAs<mlir::IntegerAttr>("seed").getInt());
      if (failed(emitType(op, tensor, unpadded ? std::optional(unpadded.asArrayRef()) : std::nullopt,
                          *to.mutable_tensor()))) {
        return mlir::failure();
      }
    }
    return emitAttributes(op, op.getConstants(), out);
  }

  LogicalResult emitCollective(task::CollectiveOp op, plan::Collective &out) {
    out.set_kind(plan::Collective::Kind(task::kindOf(op.getKind())));
    out.set_reduction(op.getMax() ? plan::Collective::MAX : plan::Collective::SUM);
    for (int64_t axis : op.getAxes()) {
      out.add_axes(int(axis));
    }
    out.set_dim(int(op.getDim().value_or(0)));
    out.set_split_dim(int(op.getSplitDim().value_or(0)));
    out.set_by(int(op.getBy().value_or(0)));
    out.set_back(op.getBack());
    out.set_input(bufferIndex_.lookup(op.getInput()));
    out.set_output(bufferIndex_.lookup(op.getOutput()));
    out.set_location(describeLocation(op));
    emitNextBest(op, out);
    return mlir::success();
  }

  // Of the axes of the collective the one on which another layout costs least; of two, one that is not avoided.
  static void emitNextBest(task::CollectiveOp op, plan::Collective &out) {
    NextBests all = nextBestsOf(op.getLoc());
    llvm::erase_if(all, [&](const auto &it) { return !llvm::is_contained(op.getAxes(), it.first); });
    if (all.empty()) {
      return;
    }
    auto cost = [](const auto &it) { return std::tuple(!it.second.exists, it.second.avoided, it.second.moreSeconds); };
    const auto &[axis, it] = *llvm::min_element(all, [&](const auto &a, const auto &b) { return cost(a) < cost(b); });
    plan::NextBest &best = *out.mutable_next_best();
    best.set_axis(int(axis));
    if (it.exists) {
      emitSbp(it.made, *best.mutable_made());
      emitSbp(it.read, *best.mutable_read());
      best.set_more_s(it.moreSeconds);
      best.set_avoided(it.avoided);
    }
  }

  // ---- registers ----------------------------------------------------------
  void emitRegisters() {
    task::Registers registers(program_);
    for (int index = 0; index < stage_.actors_size(); ++index) {
      plan::Actor &out = *stage_.mutable_actors(index);
      for (Value buffer : registers.readsOf(index)) {
        out.add_reads(bufferIndex_.lookup(buffer));
      }
      for (Value buffer : registers.writesOf(index)) {
        out.add_writes(bufferIndex_.lookup(buffer));
      }
    }
  }

  // ---- streams ------------------------------------------------------------
  static plan::Actor::Phase phaseOf(task::ActorOp actor) {
    if (!actor.getUnit()) {
      auto isOf = [](ir::OpPhase phase) { return [phase](Operation &op) { return ir::phaseOf(&op) == phase; }; };
      mlir::Block &ops = actor.getBody().front();
      // A backward that ends once a step rounds or adds gradients (schedule/postpone.h).
      return llvm::any_of(ops, isOf(ir::OpPhase::Update))     ? plan::Actor::UPDATE
             : llvm::all_of(ops, isOf(ir::OpPhase::Backward)) ? plan::Actor::BACKWARD
                                                              : plan::Actor::OTHER;
    }
    char kind = actor.getUnit()->front();
    return kind == 'F' ? plan::Actor::FORWARD : kind == 'B' ? plan::Actor::BACKWARD : plan::Actor::WEIGHT;
  }

  int streamIndex(task::ActorOp actor) {
    std::string name = actor.getLane() ? actor.getLane()->str() : task::stringifyStreamKind(actor.getStream()).str();
    for (int i = 0; i < stage_.streams_size(); ++i) {
      if (stage_.streams(i).name() == name) {
        return i;
      }
    }
    plan::Stream &stream = *stage_.add_streams();
    stream.set_kind(kindOf(actor.getStream()));
    stream.set_name(name);
    return stage_.streams_size() - 1;
  }

  // Every stream: what begins the step, the units in order, what ends it.
  void emitStreams() {
    std::vector<schedule::Unit> order = task::unitsOf(program_);
    for (int s = 0; s < stage_.streams_size(); ++s) {
      plan::Run begin, end;
      Actors ofUnit;
      for (auto [index, actor] : llvm::enumerate(program_.getBody().getOps<task::ActorOp>())) {
        if (stage_.actors(int(index)).stream() != s) {
          continue;
        }
        if (actor.getSection() == task::Section::Micro) {
          ofUnit[actor.getUnit().value_or("F")].push_back(
              {int(index), actor->getAttrOfType<mlir::DenseI64ArrayAttr>(kTurnName)});
        } else {
          (actor.getSection() == task::Section::Begin ? begin : end).add_actors(int(index));
        }
      }
      addOnce(begin, s);
      emitUnits(order, ofUnit, *stage_.mutable_streams(s));
      addOnce(end, s);
    }
  }

  void addOnce(plan::Run &run, int stream) {
    if (run.actors_size() > 0) {
      run.set_repeat(1);
      *stage_.mutable_streams(stream)->add_runs() = run;
    }
  }

  // By unit: the actors of it that a stream has, each with its `turn` or null.
  using Actors = llvm::StringMap<std::vector<std::pair<int, mlir::DenseI64ArrayAttr>>>;

  // One kind of unit for micro-batches that follow each other, which are under way together.
  struct Turn {
    schedule::Unit unit; // of the first
    int microBatches = 1;
  };

  std::vector<Turn> turnsOf(llvm::ArrayRef<schedule::Unit> order, const Actors &actors) {
    const int most = int(program_.getOverlap());
    std::vector<Turn> turns;
    for (const schedule::Unit &unit : order) {
      if (!actors.contains(schedule::nameOf(unit))) {
        continue;
      }
      const bool joins = !turns.empty() && schedule::nameOf(turns.back().unit) == schedule::nameOf(unit) &&
                         unit.microBatch % most != 0 &&
                         turns.back().unit.microBatch + turns.back().microBatches == unit.microBatch;
      if (joins) {
        ++turns.back().microBatches;
      } else {
        turns.push_back({unit, 1});
      }
    }
    return turns;
  }

  // Actor and micro-batch of the turn. Without places an actor acts for one after the other, before the next actor
  // does.
  static std::vector<std::pair<int, int>> actsOf(const Turn &turn, const Actors &actors) {
    std::vector<std::tuple<int64_t, int, int>> placed;
    for (auto [actor, places] : actors.lookup(schedule::nameOf(turn.unit))) {
      for (int i = 0; i < turn.microBatches; ++i) {
        placed.push_back({places ? places[i] : actor, actor, i});
      }
    }
    llvm::sort(placed);
    std::vector<std::pair<int, int>> acts;
    for (auto [place, actor, i] : placed) {
      acts.push_back({actor, i});
    }
    return acts;
  }

  // A list of units that repeats, as many micro-batches later each time as are under way together, is one run.
  void emitUnits(llvm::ArrayRef<schedule::Unit> order, const Actors &actors, plan::Stream &stream) {
    const std::vector<Turn> turns = turnsOf(order, actors);
    for (size_t at = 0; at < turns.size();) {
      auto [period, repeat] = longestRepeat(llvm::ArrayRef<Turn>(turns).drop_front(at));
      plan::Run &run = *stream.add_runs();
      run.set_first_micro_batch(turns[at].unit.microBatch);
      run.set_repeat(int64_t(repeat));
      if (repeat > 1 && turns[at].microBatches > 1) {
        run.set_stride(turns[at].microBatches);
      }
      for (const Turn &turn : llvm::ArrayRef<Turn>(turns).slice(at, period)) {
        for (auto [actor, i] : actsOf(turn, actors)) {
          run.add_actors(actor);
          run.add_offsets(turn.unit.microBatch + i - turns[at].unit.microBatch);
        }
      }
      if (llvm::all_of(run.offsets(), [](int64_t offset) { return offset == 0; })) {
        run.clear_offsets();
      }
      at += period * repeat;
    }
  }

  // The period, and how often it repeats, that covers most of what `turns` begins with.
  static std::pair<size_t, size_t> longestRepeat(llvm::ArrayRef<Turn> turns) {
    constexpr size_t kLongest = 64;
    std::pair<size_t, size_t> best = {1, 1};
    for (size_t period = 1; period <= std::min(kLongest, turns.size()); ++period) {
      const auto repeats = [&](const Turn &turn, const Turn &before) {
        return turn.unit.kind == before.unit.kind && turn.unit.chunk == before.unit.chunk &&
               turn.microBatches == before.microBatches &&
               turn.unit.microBatch == before.unit.microBatch + before.microBatches;
      };
      size_t end = period;
      while (end < turns.size() && repeats(turns[end], turns[end - period])) {
        ++end;
      }
      size_t repeat = end / period;
      if (repeat > 1 && period * repeat > best.first * best.second) {
        best = {period, repeat};
      }
    }
    return best;
  }

  task::ProgramOp program_;
  int index_;
  plan::Plan &plan_;
  plan::Stage &stage_;
  llvm::DenseMap<Value, int> bufferIndex_;
};

} // namespace

LogicalResult emitPlan(mlir::ModuleOp module, plan::Plan &plan) {
  int index = 0;
  llvm::StringSet<> below, here; // what the host runs beside GPUs, and what all others run
  module.walk([&](task::KernelOp kernel) {
    if (mlir::FlatSymbolRefAttr cell = kernel.getCellAttr()) {
      (runsBesideGpu(kernel) ? below : here).insert(cell.getValue());
    }
  });
  for (auto kernel : module.getOps<cell::KernelOp>()) {
    auto add = [&](plan::Code &code) {
      code.add_symbols(kernel.getSymName().str());
      *code.mutable_source() += textOf(kernel) + '\n';
    };
    const bool hasBelow = below.contains(kernel.getSymName());
    if (hasBelow) {
      add(*plan.mutable_host_code());
    }
    if (!hasBelow || here.contains(kernel.getSymName())) {
      add(*plan.mutable_code());
    }
  }
  for (auto program : module.getOps<task::ProgramOp>()) {
    if (failed(StageEmitter(program, index++, plan).run())) {
      return mlir::failure();
    }
  }
  return mlir::success();
}

} // namespace weft::compiler
