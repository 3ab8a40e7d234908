// The phases of compilation, in order; compiler/phases.bzl lists them.
//
//   a job ─ setInputs ─▶ module {weft.machine, weft.meshes} ─ elaborate ─▶ weft.graph {weft.machine} on its meshes ─
//   ...
//
// What a phase is told of the target stands in the IR; what else it is told, its passes get as options from the job.
#ifndef WEFT_COMPILER_PIPELINE_PHASES_H_
#define WEFT_COMPILER_PIPELINE_PHASES_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/analysis/machine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/plan/job.pb.h"

namespace weft::compiler {

enum class Phase {
#define WEFT_PHASE(Name, name) Name,
#include "compiler/pipeline/phases.inc"
};

/// What --stop-after and --dump-ir call a phase.
const char *nameOf(Phase phase);
std::optional<Phase> parsePhase(const std::string &name);
std::vector<Phase> allPhases();

/// Gives a parsed module what `elaborate` and later phases read of the target: the rates of `machine` and the meshes
/// that the resolved `job` asks for.
void setInputs(mlir::ModuleOp module, const Job &job, const CostModel &machine);

/// Adds the passes of a phase, as the resolved job asks for them.
void buildPhase(mlir::OpPassManager &manager, Phase phase, const Job &job);

/// Adds the first pass of `elaborate` alone, which takes in what a file imports.
void buildImports(mlir::OpPassManager &manager);

/// Makes every pass known to the command line of weft-opt, and every phase as `--phase-shard`, with the options `job`,
/// a job file, and `keys`, overrides of it. Call once.
void registerPasses();

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_PHASES_H_
