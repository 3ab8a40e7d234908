// --weft-elaborate-place: finds the placement of every op, and checks the pins.
#include <numeric>

#include "compiler/analysis/meshes.h"
#include "compiler/job/axes.h"
#include "compiler/passes/elaborate/expression.h"
#include "compiler/passes/elaborate/passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace weft::compiler {

#define GEN_PASS_DEF_ELABORATEPLACE
#include "compiler/passes/elaborate/Passes.h.inc"

namespace {

using weft::ir::PlacementAttr;

// What a model may pin.
SmallVector<StringRef> jobAxes() {
  return llvm::map_to_vector(MeshKeys(), [](std::string_view key) { return StringRef(key); });
}

// Appends the extents of nested lists to `sizes`, the numbers in them to `ranks`.
LogicalResult readRanks(mlir::Operation *op, Attribute value, size_t depth, SmallVector<int64_t> &sizes,
                        SmallVector<int64_t> &ranks) {
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(value);
  if (!list) {
    auto rank = llvm::dyn_cast<mlir::IntegerAttr>(value);
    if (!rank || depth == 0 || depth != sizes.size()) {
      return op->emitOpError("placement: expected nested lists of ranks, all of one depth");
    }
    ranks.push_back(rank.getInt());
    return success();
  }
  if (depth == sizes.size() && ranks.empty()) {
    sizes.push_back(int64_t(list.size()));
  } else if (depth >= sizes.size()) {
    return op->emitOpError("placement: expected nested lists of ranks, all of one depth");
  }
  if (int64_t(list.size()) != sizes[depth]) {
    return op->emitOpError() << "placement: expected rows of " << sizes[depth] << ", got one of " << list.size();
  }
  for (Attribute element : list) {
    if (failed(readRanks(op, element, depth + 1, sizes, ranks))) {
      return failure();
    }
  }
  return success();
}

// The mesh that a `weft.to_global` names, or null after an error.
PlacementAttr rawMesh(ir::ToGlobalOp op) {
  SmallVector<int64_t> sizes, ranks;
  if (failed(readRanks(op, *op.getRanks(), 0, sizes, ranks))) {
    return {};
  }
  mlir::Builder builder(op.getContext());
  SmallVector<mlir::StringAttr> axes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    axes.push_back(builder.getStringAttr("_" + llvm::Twine(i)));
  }
  auto error = [&] { return op.emitOpError("placement: "); };
  if (failed(PlacementAttr::verify(error, op.getDeviceAttr(), axes, sizes, ranks))) {
    return {};
  }
  return PlacementAttr::get(op.getContext(), op.getDeviceAttr(), axes, sizes, ranks);
}

struct ElaboratePlace : impl::ElaboratePlaceBase<ElaboratePlace> {
  void runOnOperation() override {
    stages.clear();
    if (failed(collectMeshes())) {
      return signalPassFailure();
    }
    assignStages();
    for (mlir::Operation &op : getOperation().getBody().front()) {
      if (failed(checkPins(&op))) {
        return signalPassFailure();
      }
    }
    if (failed(checkUse())) {
      return signalPassFailure();
    }
  }

  // The parts of `part.part_of`: the greatest number that divides what is split over the whole and the same on the
  // part, 0 if there is nothing such.
  int64_t partsOf(const MeshAxis &part) {
    int64_t parts = 0;
    for (mlir::Operation &op : getOperation().getBody().front()) {
      auto pins = op.getAttrOfType<mlir::DictionaryAttr>("pins");
      auto state = [&](std::string_view axis) -> std::optional<ir::SbpState> {
        auto text = pins ? pins.getAs<ir::ExprAttr>(StringRef(axis)) : nullptr;
        return text ? ir::parseState(text.getText()) : std::nullopt;
      };
      std::optional<ir::SbpState> whole = state(part.part_of), own = state(part.name);
      if (whole && own && whole->isSplit() && own->kind == ir::SbpState::Broadcast && op.getNumResults() > 0 &&
          whole->dim < ir::tensorOf(op.getResult(0)).getRank()) {
        parts = std::gcd(parts, ir::shapeOf(op.getResult(0))[whole->dim]);
      }
    }
    return parts;
  }

  // `mesh` with an axis of more ranks than `parts` cut in two.
  PlacementAttr cutAxis(PlacementAttr mesh, const MeshAxis &part, int64_t parts) {
    SmallVector<mlir::StringAttr> axes;
    SmallVector<int64_t> sizes;
    auto add = [&](StringRef name, int64_t size) {
      if (size > 1) {
        axes.push_back(mlir::StringAttr::get(&getContext(), name));
        sizes.push_back(size);
      }
    };
    for (auto [axis, size] : llvm::zip(mesh.getAxes(), mesh.getSizes())) {
      bool cuts = axis.getValue() == StringRef(part.part_of) && parts < size && size % parts == 0;
      add(axis.getValue(), cuts ? parts : size);
      if (cuts) {
        add(part.name, size / parts);
      }
    }
    return PlacementAttr::get(&getContext(), mesh.getDevice(), axes, sizes, mesh.getRanks());
  }

  // An axis that the model cuts in two: heads of keys that are fewer than the ranks of `tensor` are each on several.
  void cutMeshes() {
    ir::GraphOp graph = getOperation();
    for (const MeshAxis &part : kMeshAxes) {
      int64_t parts = part.part_of.empty() || part.shares ? 0 : partsOf(part);
      if (parts == 0) {
        continue;
      }
      auto cut = [&](mlir::ArrayAttr meshes) {
        return mlir::ArrayAttr::get(&getContext(), llvm::map_to_vector(meshes, [&](Attribute mesh) -> Attribute {
          return cutAxis(llvm::cast<PlacementAttr>(mesh), part, parts);
        }));
      };
      graph.setPlacementsAttr(cut(graph.getPlacements()));
      if (auto meshes = graph->getAttrOfType<mlir::ArrayAttr>(kMeshesName)) {
        graph->setAttr(kMeshesName, cut(meshes));
      }
    }
  }

  // Makes the list of placements, and notes those that are named.
  LogicalResult collectMeshes() {
    cutMeshes();
    ir::GraphOp graph = getOperation();
    llvm::SetVector<Attribute> meshes;
    if (!graph.getPlacement(0).getAxes().empty()) {
      meshes.insert(graph.getPlacement(0));
    }
    for (auto op : graph.getBody().getOps<ir::ToGlobalOp>()) {
      if (!op.getRanks()) {
        continue;
      }
      PlacementAttr mesh = rawMesh(op);
      if (!mesh || failed(checkDisjoint(op, mesh, meshes.getArrayRef()))) {
        return failure();
      }
      meshes.insert(mesh);
      stages[op] = llvm::find(meshes, Attribute(mesh)) - meshes.begin();
      op.removeDeviceAttr();
      op.removeRanksAttr();
    }
    if (!meshes.empty()) {
      graph.setPlacementsAttr(mlir::ArrayAttr::get(&getContext(), meshes.getArrayRef()));
    }
    return success();
  }

  // A rank runs one stage: it is in one mesh.
  LogicalResult checkDisjoint(ir::ToGlobalOp op, PlacementAttr mesh, mlir::ArrayRef<Attribute> others) {
    for (Attribute other : others) {
      auto ranks = llvm::cast<PlacementAttr>(other).getRanks();
      auto shared = llvm::find_if(mesh.getRanks(), [&](int64_t rank) { return llvm::is_contained(ranks, rank); });
      if (other != mesh && shared != mesh.getRanks().end()) {
        return op.emitOpError() << "placement: expected ranks that are in no other mesh, got rank " << *shared
                                << ", which is in " << other;
      }
    }
    return success();
  }

  void assignStages() {
    mlir::Block &body = getOperation().getBody().front();
    for (mlir::Operation &op : body) {
      if (op.getNumOperands() && !stages.contains(&op)) {
        stages[&op] = stageOfOperands(&op);
      }
    }
    for (mlir::Operation &op : body) {
      if (!op.getNumOperands()) {
        stages[&op] = stageOfUsers(&op);
      }
    }
    for (auto [op, stage] : stages) {
      if (stage) {
        op->setAttr("stage", mlir::IntegerAttr::get(mlir::IntegerType::get(&getContext(), 64), stage));
      }
    }
  }

  int64_t stageOfOperands(mlir::Operation *op) {
    int64_t last = 0;
    for (mlir::Value operand : op->getOperands()) {
      mlir::Operation *producer = operand.getDefiningOp();
      if (producer && producer->getNumOperands()) {
        last = std::max(last, stages.lookup(producer));
      }
    }
    return last;
  }

  int64_t stageOfUsers(mlir::Operation *op) {
    std::optional<int64_t> first;
    for (mlir::Operation *user : op->getUsers()) {
      int64_t stage = stages.lookup(user);
      first = std::min(first.value_or(stage), stage);
    }
    return first.value_or(0);
  }

  // Every axis of the job splits an input, or a pin names it.
  LogicalResult checkUse() {
    ir::GraphOp graph = getOperation();
    PlacementAttr mesh = graph.getPlacement(0);
    for (auto [axis, size] : llvm::zip(mesh.getAxes(), mesh.getSizes())) {
      const MeshAxis *known = FindMeshAxis(axis.getValue());
      auto isSplit = [&](mlir::BlockArgument input) { return known->input_dim < ir::tensorOf(input).getRank(); };
      auto isPinned = [&](mlir::Operation &op) {
        auto pins = op.getAttrOfType<mlir::DictionaryAttr>("pins");
        return pins && pins.contains(axis);
      };
      if (!known || (known->input_dim >= 0 && llvm::any_of(graph.getBody().getArguments(), isSplit)) ||
          llvm::any_of(graph.getBody().front(), isPinned)) {
        continue;
      }
      StringRef name = known->part_of.empty() ? axis.getValue() : StringRef(known->part_of);
      bool ofStages = graph->hasAttr(kMeshesName);
      return graph.emitError() << (ofStages ? "pipeline.stages." : "dist.") << name << ": expected 1, as nothing in @"
                               << graph.getSymName() << " uses the axis, got " << size
                               << ": leave the key out, or pin a tensor to it, as in sbp(" << name << " = S(0))";
    }
    return success();
  }

  LogicalResult checkPins(mlir::Operation *op) {
    auto pins = op->getAttrOfType<mlir::DictionaryAttr>("pins");
    if (!pins) {
      return success();
    }
    PlacementAttr mesh = getOperation().getPlacement(stages.lookup(op));
    mlir::NamedAttrList kept;
    bool positional = false;
    for (mlir::NamedAttribute pin : pins) {
      StringRef axis = pin.getName().getValue();
      positional |= axis.starts_with("_");
      if (llvm::any_of(mesh.getAxes(), [&](mlir::StringAttr name) { return name.getValue() == axis; })) {
        kept.append(pin);
      } else if (!FindMeshAxis(axis)) {
        return unknownAxis(op, axis, mesh);
      }
      if (failed(checkState(op, pin))) {
        return failure();
      }
    }
    addParts(pins, mesh, kept);
    if (positional && kept.getAttrs().size() != mesh.getAxes().size()) {
      return op->emitOpError() << "sbp: expected " << mesh.getAxes().size() << " states, one an axis of the mesh, got "
                               << kept.getAttrs().size();
    }
    op->setAttr("pins", kept.getDictionary(&getContext()));
    return success();
  }

  // What the whole is pinned to, its part is pinned to.
  void addParts(mlir::DictionaryAttr pins, PlacementAttr mesh, mlir::NamedAttrList &kept) {
    for (mlir::StringAttr axis : mesh.getAxes()) {
      const MeshAxis *known = FindMeshAxis(axis.getValue());
      Attribute whole = known && !known->part_of.empty() ? pins.get(StringRef(known->part_of)) : Attribute();
      if (whole && !pins.contains(axis)) {
        kept.set(axis, whole);
      }
    }
  }

  LogicalResult unknownAxis(mlir::Operation *op, StringRef axis, PlacementAttr mesh) {
    auto raw = [](mlir::StringAttr name) { return name.getValue().starts_with("_"); };
    if (!axis.starts_with("_")) {
      return op->emitOpError() << "sbp: expected axis " << listOf(jobAxes()) << ", got " << axis;
    }
    if (mesh.getAxes().empty() || !raw(mesh.getAxes().front())) {
      return op->emitOpError("sbp: expected states by axis name, as in sbp(tensor = S(0)), got one by position, which "
                             "needs a placement of raw ranks");
    }
    return op->emitOpError() << "sbp: expected " << mesh.getAxes().size()
                             << " states, one an axis of the mesh, got more";
  }

  LogicalResult checkState(mlir::Operation *op, mlir::NamedAttribute pin) {
    StringRef text = llvm::cast<ir::ExprAttr>(pin.getValue()).getText();
    auto error = [&] { return op->emitOpError() << "sbp: " << pin.getName().getValue() << " = " << text << ": "; };
    std::optional<ir::SbpState> state = ir::parseState(text);
    if (!state) {
      return error() << "expected S(dim), B, P or P(max)";
    }
    if (state->isPartial() && llvm::isa<ir::ParameterOp>(op)) {
      return error() << "expected S(dim) or B for a parameter";
    }
    int64_t rank = int64_t(ir::shapeOf(op->getResult(0)).size());
    if (state->isSplit() && state->dim >= rank) {
      return error() << "expected a dimension below " << rank << ", got " << state->dim;
    }
    return success();
  }

  llvm::MapVector<mlir::Operation *, int64_t> stages;
};

} // namespace
} // namespace weft::compiler
