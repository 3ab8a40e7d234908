// The phases of compilation, in order.
#ifndef WEFT_COMPILER_PIPELINE_PHASES_H_
#define WEFT_COMPILER_PIPELINE_PHASES_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/analysis/machine.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/plan/job.pb.h"

namespace weft::compiler {

enum class Phase {
  Elaborate,
  Pipeline,
  Autodiff,
  Precision,
  Zero,
  Shard,
  Box,
  Recompute,
  Localize,
  Fuse,
  Schedule,
  Memory
};

/// What --stop-after and --dump-ir call a phase.
const char *nameOf(Phase phase);
std::optional<Phase> parsePhase(const std::string &name);
std::vector<Phase> allPhases();

/// Adds the passes of a phase, as the job asks for them; costs are those of `machine`.
void buildPhase(mlir::OpPassManager &manager, Phase phase, const Job &job, const Machine &machine);

/// Makes every pass known to the command line of weft-opt. Call once.
void registerPasses();

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_PHASES_H_
