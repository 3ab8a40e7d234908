#include "compiler/analysis/next_best.h"

#include "mlir/IR/Builders.h"

namespace weft::compiler {

mlir::Location withNextBests(mlir::Location location, const NextBests &all) {
  if (all.empty()) {
    return location;
  }
  mlir::Builder b(location.getContext());
  llvm::SmallVector<mlir::Attribute> axes;
  for (const auto &[axis, it] : all) {
    mlir::NamedAttrList entry;
    entry.append("axis", b.getI64IntegerAttr(axis));
    if (it.exists) {
      entry.append("states", ir::SbpAttr::get(location.getContext(), {it.made, it.read}));
      entry.append("more_seconds", b.getF64FloatAttr(it.moreSeconds));
      entry.append("avoided", b.getBoolAttr(it.avoided));
    }
    axes.push_back(entry.getDictionary(location.getContext()));
  }
  return mlir::FusedLoc::get(location.getContext(), {location},
                             b.getDictionaryAttr(b.getNamedAttr("next_best", b.getArrayAttr(axes))));
}

NextBests nextBestsOf(mlir::Location location) {
  NextBests all;
  auto fused = llvm::dyn_cast<mlir::FusedLoc>(location);
  auto note = fused ? llvm::dyn_cast_or_null<mlir::DictionaryAttr>(fused.getMetadata()) : mlir::DictionaryAttr();
  auto axes = note ? note.getAs<mlir::ArrayAttr>("next_best") : mlir::ArrayAttr();
  for (mlir::Attribute attribute : axes ? axes.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    auto entry = llvm::cast<mlir::DictionaryAttr>(attribute);
    NextBest it;
    if (auto states = entry.getAs<ir::SbpAttr>("states")) {
      it = {true, states.getStates()[0], states.getStates()[1],
            entry.getAs<mlir::FloatAttr>("more_seconds").getValueAsDouble(),
            entry.getAs<mlir::BoolAttr>("avoided").getValue()};
    }
    all.push_back({entry.getAs<mlir::IntegerAttr>("axis").getInt(), it});
  }
  return all;
}

} // namespace weft::compiler
