#include "compiler/analysis/pins.h"

#include "compiler/job/axes.h"

namespace weft::compiler {

using namespace weft::ir;

namespace {

// The index of an axis in the mesh, -1 if the mesh lacks it, or failure.
llvm::FailureOr<int> findAxis(llvm::StringRef name, PlacementAttr placement) {
  for (auto [index, axis] : llvm::enumerate(placement.getAxes())) {
    if (axis.getValue() == name) {
      return int(index);
    }
  }
  unsigned position = 0;
  if (name.consume_front("_") && !name.getAsInteger(10, position)) {
    if (position < placement.getAxes().size()) {
      return int(position);
    }
  } else if (FindMeshAxis(name)) {
    return -1;
  }
  return mlir::failure();
}

llvm::LogicalResult checkSplits(llvm::function_ref<mlir::InFlightDiagnostic()> error, llvm::StringRef what,
                                llvm::ArrayRef<SbpState> states, mlir::RankedTensorType type, PlacementAttr placement,
                                Cut cut) {
  llvm::SmallVector<int64_t> left(type.getShape());
  for (size_t axis = 0; axis < states.size(); ++axis) {
    if (!states[axis].isSplit()) {
      continue;
    }
    int64_t dim = states[axis].dim, size = placement.getSizes()[axis];
    llvm::StringRef name = placement.getAxes()[axis].getValue();
    if (dim >= type.getRank()) {
      return error() << what << ": expected a dimension below " << type.getRank() << " for mesh axis " << name
                     << ", got S(" << dim << ")";
    }
    if (cut == Cut::Even && left[dim] % size != 0) {
      return error() << what << ": expected dimension " << dim << " (" << left[dim] << ") to be divisible by mesh axis "
                     << name << " = " << size;
    }
    left[dim] /= size;
  }
  return mlir::success();
}

} // namespace

llvm::FailureOr<States> resolvePins(mlir::Operation *op, llvm::StringRef what, mlir::DictionaryAttr pins,
                                    mlir::RankedTensorType type, PlacementAttr placement, Cut cut) {
  States states(placement.getAxes().size());
  if (!pins) {
    return states;
  }
  for (mlir::NamedAttribute pin : pins) {
    llvm::StringRef name = pin.getName().getValue();
    llvm::FailureOr<int> axis = findAxis(name, placement);
    if (failed(axis)) {
      return op->emitOpError() << what << ": expected an axis of the mesh " << placement << ", got " << name;
    }
    auto text = llvm::dyn_cast<ExprAttr>(pin.getValue());
    std::optional<SbpState> state = text ? parseState(text.getText()) : std::nullopt;
    if (!state) {
      return op->emitOpError() << what << ": expected S(dim), B or P for axis " << name << ", got " << pin.getValue();
    }
    if (*axis >= 0) {
      states[*axis] = *state;
    }
    for (auto [part, partName] : llvm::enumerate(placement.getAxes())) {
      const MeshAxis *known = FindMeshAxis(partName.getValue());
      if (known && known->part_of == std::string_view(name) && !pins.contains(partName)) {
        states[part] = *state;
      }
    }
  }
  if (llvm::isa<ParameterOp>(op)) {
    for (SbpState &state : states) {
      bool one = state.isSplit() && state.dim < type.getRank() && type.getDimSize(state.dim) == 1;
      state = one ? SbpState::broadcast() : state;
    }
  }
  if (failed(checkSplits([&] { return op->emitOpError(); }, what, states, type, placement, cut))) {
    return mlir::failure();
  }
  return states;
}

llvm::FailureOr<States> inputStates(GraphOp graph, unsigned index, Cut cut) {
  PlacementAttr placement = graph.getPlacement(graph.getInputStage(index));
  auto type = llvm::cast<mlir::RankedTensorType>(graph.getBody().getArgument(index).getType());
  States states(placement.getAxes().size());
  for (auto [axis, name] : llvm::enumerate(placement.getAxes())) {
    const MeshAxis *known = FindMeshAxis(name.getValue());
    if (known && known->input_dim >= 0 && known->input_dim < type.getRank()) {
      states[axis] = SbpState::split(known->input_dim);
    }
  }
  std::string what = ("input " + llvm::cast<mlir::StringAttr>(graph.getInputs()[index]).getValue()).str();
  if (failed(checkSplits([&] { return graph.emitOpError(); }, what, states, type, placement, cut))) {
    return mlir::failure();
  }
  return states;
}

} // namespace weft::compiler
