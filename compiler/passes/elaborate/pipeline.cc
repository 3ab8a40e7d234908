// The phase `elaborate`: its passes in order.
#include "compiler/passes/elaborate/passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace weft::compiler {

void buildElaboratePipeline(mlir::OpPassManager &manager, const ElaborateOptions &options) {
  // First every file, so that a job may set what an imported file declares.
  manager.addPass(createElaborateImports());
  ElaborateConfigOptions config;
  std::vector<std::string> set(options.set.begin(), options.set.end());
  config.set = set;
  config.batch = options.batch;
  manager.addPass(createElaborateConfig(config));
  // Numbers must be known to unroll, and everything must be inline to infer.
  manager.addPass(createElaborateInstantiate({options.graph}));
  ElaborateInferOptions infer;
  infer.device = options.device;
  infer.data = options.data;
  infer.shard = options.shard;
  infer.expert = options.expert;
  infer.context = options.context;
  infer.tensor = options.tensor;
  infer.microBatches = options.microBatches;
  manager.addPass(createElaborateInfer(infer));
  // Pins can be checked once shapes and meshes are known.
  manager.addNestedPass<ir::GraphOp>(createElaboratePlace());
}

void registerElaborate() {
  registerElaboratePasses();
  mlir::PassPipelineRegistration<ElaborateOptions>(
      "weft-elaborate", "From a model file to one graph on tensors of known shape", buildElaboratePipeline);
}

} // namespace weft::compiler
