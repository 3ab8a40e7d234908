#include "compiler/analysis/layer.h"

#include "compiler/analysis/section.h"
#include "llvm/ADT/MapVector.h"

namespace weft::compiler {

llvm::StringRef layerOf(llvm::StringRef scope) {
  for (size_t begin = 0; begin < scope.size();) {
    size_t dot = scope.find('.', begin);
    int64_t number = 0;
    if (!scope.slice(begin, dot).getAsInteger(10, number)) {
      return scope.take_front(dot);
    }
    if (dot == llvm::StringRef::npos) {
      break;
    }
    begin = dot + 1;
  }
  return {};
}

llvm::StringRef pieceOf(llvm::StringRef scope) {
  llvm::StringRef layer = layerOf(scope);
  return layer.empty() ? scope.take_front(scope.find('.')) : layer;
}

llvm::SmallVector<Layer> layersOf(ir::GraphOp graph) {
  Sections sections(graph);
  llvm::MapVector<std::pair<llvm::StringRef, int64_t>, Layer> layers;
  for (mlir::Operation &op : graph.getBody().front()) {
    llvm::StringRef name = layerOf(ir::scopeOf(&op));
    const ir::OpPhase phase = ir::phaseOf(&op);
    if (name.empty() || llvm::isa<ir::ParameterOp>(op) || !sections.isMicro(&op)) {
      continue;
    }
    std::pair<llvm::StringRef, int64_t> key(name, ir::stageOf(&op));
    if (phase == ir::OpPhase::Forward) {
      Layer &layer = layers[key];
      layer.name = name;
      layer.stage = key.second;
      layer.forward.push_back(&op);
    } else if (auto it = layers.find(key);
               it != layers.end() && (phase == ir::OpPhase::Backward || phase == ir::OpPhase::Weight)) {
      it->second.backward.push_back(&op);
    }
  }
  return llvm::map_to_vector(layers, [](auto &entry) { return std::move(entry.second); });
}

} // namespace weft::compiler
