// The meshes that a job asks for, as a pass finds them.
#ifndef WEFT_COMPILER_ANALYSIS_MESHES_H_
#define WEFT_COMPILER_ANALYSIS_MESHES_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// The attribute that says the meshes: `weft.meshes = [#weft.placement<"cpu", [data = 2], [0, 1]>]`. Of the module
/// until `elaborate` makes the graph, which lies on the only one. Several are one a stage of a pipeline, and stay an
/// attribute of the graph until the `pipeline` phase has cut it.
inline constexpr llvm::StringLiteral kMeshesName("weft.meshes");

/// Of a graph that is to be cut as another one is: the chunk of each layer of that, by its name. The `pipeline` phase
/// takes it away.
inline constexpr llvm::StringLiteral kChunksName("weft.chunks");

/// Of the attribute of `op`; none without one. Emits an error there for what is no list of one or more placements.
llvm::FailureOr<llvm::SmallVector<ir::PlacementAttr>> meshesOf(mlir::Operation *op);

/// On the ranks from 0 on, a mesh with every axis that one of `meshes` has, as large as the largest. For what is to
/// hold on any stage, before there are stages.
ir::PlacementAttr unionOf(llvm::ArrayRef<ir::PlacementAttr> meshes);

/// The names of a mesh's axes, outermost first, as compiler/job/axes.h takes them. They live as long as the context.
std::vector<std::string_view> axisNames(ir::PlacementAttr mesh);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_MESHES_H_
