// From a model file to one `weft.graph` in which every shape is static.
#ifndef WEFT_COMPILER_PASSES_ELABORATE_PASSES_H_
#define WEFT_COMPILER_PASSES_ELABORATE_PASSES_H_

#include "compiler/dialect/model/model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace weft::compiler {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/elaborate/Passes.h.inc"

/// What a job says to `elaborate`. The names are those of the passes' options.
struct ElaborateOptions : mlir::PassPipelineOptions<ElaborateOptions> {
  ListOption<std::string> set{*this, "set", llvm::cl::desc("values of config names, each name=expression")};
  Option<int64_t> batch{*this, "batch", llvm::cl::desc("sequences a micro-batch"), llvm::cl::init(0)};
  Option<std::string> graph{*this, "graph", llvm::cl::desc("the graph to compile"), llvm::cl::init("")};
  Option<std::string> device{*this, "device", llvm::cl::desc("what the ranks compute with"), llvm::cl::init("cpu")};
  Option<int64_t> data{*this, "data", llvm::cl::desc("size of mesh axis data"), llvm::cl::init(1)};
  Option<int64_t> shard{*this, "shard", llvm::cl::desc("size of mesh axis shard"), llvm::cl::init(1)};
  Option<int64_t> expert{*this, "expert", llvm::cl::desc("size of mesh axis expert"), llvm::cl::init(1)};
  Option<int64_t> context{*this, "context", llvm::cl::desc("size of mesh axis context"), llvm::cl::init(1)};
  Option<int64_t> tensor{*this, "tensor", llvm::cl::desc("size of mesh axis tensor"), llvm::cl::init(1)};
  Option<int64_t> microBatches{*this, "micro-batches", llvm::cl::desc("micro-batches a step"), llvm::cl::init(1)};
};

/// Adds the phase: imports, config, instantiate, infer, place. Anchored on the module.
void buildElaboratePipeline(mlir::OpPassManager &manager, const ElaborateOptions &options);

/// Makes the passes and `--weft-elaborate`, the phase, known to the command line. Call once.
void registerElaborate();

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_ELABORATE_PASSES_H_
