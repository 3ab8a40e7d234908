#include "compiler/analysis/meshes.h"

#include <numeric>

#include "compiler/job/axes.h"

namespace weft::compiler {

using namespace weft::ir;

llvm::FailureOr<SmallVector<PlacementAttr>> meshesOf(mlir::Operation *op) {
  SmallVector<PlacementAttr> meshes;
  mlir::Attribute attribute = op->getAttr(kMeshesName);
  if (!attribute) {
    return meshes;
  }
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(attribute);
  for (mlir::Attribute mesh : list ? list.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    if (auto placement = llvm::dyn_cast<PlacementAttr>(mesh)) {
      meshes.push_back(placement);
    }
  }
  if (!list || meshes.empty() || meshes.size() != list.size()) {
    return op->emitOpError() << kMeshesName << ": expected a list of placements, got " << attribute;
  }
  return meshes;
}

PlacementAttr unionOf(llvm::ArrayRef<PlacementAttr> meshes) {
  SmallVector<mlir::StringAttr> axes;
  SmallVector<int64_t> sizes;
  for (const MeshAxis &known : kMeshAxes) {
    int64_t most = 1;
    for (PlacementAttr mesh : meshes) {
      for (auto [axis, size] : llvm::zip(mesh.getAxes(), mesh.getSizes())) {
        most = axis.getValue() == llvm::StringRef(known.name) ? std::max(most, size) : most;
      }
    }
    if (most > 1) {
      axes.push_back(mlir::StringAttr::get(meshes[0].getContext(), llvm::StringRef(known.name)));
      sizes.push_back(most);
    }
  }
  SmallVector<int64_t> ranks(std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return PlacementAttr::get(meshes[0].getContext(), meshes[0].getDevice(), axes, sizes, ranks);
}

std::vector<std::string_view> axisNames(PlacementAttr mesh) {
  std::vector<std::string_view> names;
  for (mlir::StringAttr axis : mesh.getAxes()) {
    names.push_back(axis.getValue());
  }
  return names;
}

} // namespace weft::compiler
