// weft-opt: reads MLIR, runs the passes named on the command line, prints MLIR. For people and lit tests.
#include <set>

#include "compiler/dialect/model/model.h"
#include "compiler/dialect/task/task.h"
#include "compiler/pipeline/phases.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "ops/cell/cell.h"
#include "ops/register.h"
#include "runtime/version/version.h"

namespace {

constexpr char kHelp[] = R"(weft-opt: runs single passes, or whole phases, on IR

usage: weft-opt [FILE] [--PASS[="NAME=VALUE ..."] ...] [-o FILE]

  FILE                  IR, such as `weft compile --stop-after` prints, or a model file; none: standard input
  --PASS                a pass of the list below, in the order given; its options are in docs/reference/passes.md
  --phase-PHASE         all passes of a phase as a job asks for them: --phase-shard="job=JOB keys=KEY=VALUE,..."
                        job=JOB  a job file; without one, a job of which only `keys` is said
                        keys=... overrides of it, such as dist.data=2,batch.micro=4
  -o FILE               where the IR goes; none: standard output
  --mlir-print-ir-after-all, --mlir-print-ir-before=PASS
                        the IR between passes, to standard error
  --mlir-print-local-scope
                        attributes where they stand, without names for long ones
  --split-input-file, --verify-diagnostics
                        for tests: several inputs behind `// -----`; the errors that comments expect
  --help                this text
  --help-hidden         every flag of MLIR and LLVM too

examples:
  weft-opt docs/tour/product.mlir --weft-shard-infer
  weft-opt models/gpt2/gpt2.mlir --phase-elaborate="job=models/gpt2/tiny.job keys=dist.data=2,dist.tensor=2"
  weft compile models/mlp/mlp.job --stop-after=autodiff -o - | weft-opt --phase-precision="keys=precision.compute=BF16"

exit status: 0 done, 1 not: the IR, a pass, a flag or the job of a phase is wrong
)";

void printLine(llvm::StringRef name, llvm::StringRef description) {
  llvm::outs() << "  --" << llvm::left_justify(name, 28) << ' ' << description << '\n';
}

// The phases in their order, each above its passes; then what is left. Every registered pass is the name of a flag.
void printHelp() {
  llvm::outs() << kHelp;
  std::set<llvm::StringRef> passes;
  for (const auto &flag : llvm::cl::getRegisteredOptions()) {
    if (mlir::PassInfo::lookup(flag.getKey())) {
      passes.insert(flag.getKey());
    }
  }
  for (weft::compiler::Phase phase : weft::compiler::allPhases()) {
    std::string name = weft::compiler::nameOf(phase), pipeline = "phase-" + name, prefix = "weft-" + name;
    llvm::outs() << "\n";
    printLine(pipeline, mlir::PassPipelineInfo::lookup(pipeline)->getPassDescription());
    for (auto pass = passes.lower_bound(prefix); pass != passes.end() && pass->starts_with(prefix);) {
      printLine(*pass, mlir::PassInfo::lookup(*pass)->getPassDescription());
      pass = passes.erase(pass);
    }
  }
  llvm::outs() << "\nof MLIR:\n";
  for (llvm::StringRef pass : passes) {
    printLine(pass, mlir::PassInfo::lookup(pass)->getPassDescription());
  }
}

} // namespace

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  weft::ir::registerWeftDialect(registry);
  registry.insert<weft::model::ModelDialect, weft::task::TaskDialect, weft::cell::CellDialect>();

  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  weft::compiler::registerPasses();

  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << weft::VersionText("weft-opt"); });
  for (llvm::StringRef argument : llvm::ArrayRef(argv + 1, argv + argc)) {
    if (argument == "--help" || argument == "-help" || argument == "-h") {
      mlir::MlirOptMainConfig::registerCLOptions(registry);
      printHelp();
      return 0;
    }
  }
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Weft's optimizer driver\n", registry));
}
