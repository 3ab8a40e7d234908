// weft-opt: reads MLIR, runs the passes named on the command line, prints MLIR. For people and lit tests.
#include "compiler/dialect/model/model.h"
#include "compiler/dialect/task/task.h"
#include "compiler/pipeline/phases.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "ops/dialect/register.h"
#include "runtime/version/version.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  weft::ir::registerWeftDialect(registry);
  registry.insert<weft::model::ModelDialect, weft::task::TaskDialect>();

  mlir::registerTransformsPasses();
  weft::compiler::registerPasses();

  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << weft::VersionText("weft-opt"); });
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Weft's optimizer driver\n", registry));
}
