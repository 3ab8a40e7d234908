// weft-opt: reads MLIR, runs the passes named on the command line, prints MLIR. For people and lit tests.
#include "compiler/dialect/model/model.h"
#include "compiler/passes/elaborate/passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "ops/dialect/register.h"

int main(int argc, char **argv) {
  // One line a dialect, one line a group of passes.
  mlir::DialectRegistry registry;
  weft::ir::registerWeftDialect(registry);
  registry.insert<weft::model::ModelDialect>();

  mlir::registerTransformsPasses();
  weft::compiler::registerElaborate();

  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Weft's optimizer driver\n", registry));
}
