// Micro-batches that overlap take turns: what a collective of one waits for is done as soon as it can be.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_TURNS_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_TURNS_H_

#include <vector>

#include "compiler/analysis/machine.h"
#include "compiler/passes/schedule/communication_stream.h"

namespace weft::compiler {

/// Cuts what the computation of a unit does between two collectives in two parts that take about as long, where all of
/// it takes longer than the shortest collective: what another micro-batch has to do before its next collective, such as
/// a norm, may come between.
void cutForTurns(std::vector<ActorWork> &portions, ir::PlacementAttr placement, const CostModel &machine);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_TURNS_H_
