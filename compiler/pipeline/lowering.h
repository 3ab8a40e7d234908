// A job's module on its way through the phases, and from their end to a plan.
//
//   parsed module ─ runPhase(Elaborate) ─ ... ─ runPhase(Memory) ─ planOf ─▶ plan, not yet verified
//
// compile() takes a job this way, and Candidates its variants.
#ifndef WEFT_COMPILER_PIPELINE_LOWERING_H_
#define WEFT_COMPILER_PIPELINE_LOWERING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline/phases.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

class Candidates;

/// What the header needs of the graph, taken before it is cut into programs.
struct GraphFacts {
  std::string name;
  bool training = false;
  int64_t microBatches = 1;
  double flops = 0;
  int64_t tokens = 0;
  std::vector<plan::ChunkedLoss> chunkedLosses;
};

struct Lowering {
  Job job; // as asked for, but that `recompute` says what becomes of every layer, once that phase has run
  mlir::OwningOpRef<mlir::ModuleOp> module;
  GraphFacts facts; // from Localize on
  // A variant: what the compiler makes behind Elaborate is verified behind each phase instead of each pass, and from
  // Recompute on not at all.
  bool isTrial = false;
};

/// Runs the phase that comes next. For recompute AUTO it compiles variants with `candidates`. Fails with an error at
/// the op that is wrong.
llvm::LogicalResult runPhase(Lowering &lowering, Phase phase, const Cluster &cluster, Candidates &candidates);

/// The plan of a module that is behind all phases; its header says that it is of `asked`. Errors of the module are
/// emitted at the op, the status has no message then.
absl::StatusOr<plan::Plan> planOf(const Lowering &lowering, const Job &asked, const Cluster &cluster,
                                  uint32_t memorySeed = 0);

/// The same before memory is laid out: every offset is 0.
absl::StatusOr<plan::Plan> planWithoutOffsets(const Lowering &lowering, const Job &asked, const Cluster &cluster);

/// Lays out the memory of such a plan. `limitBytes`, unless 0: the question is only which stages fit so many bytes
/// (MemoryOptions::limit_bytes).
absl::Status layOut(const Cluster &cluster, int64_t limitBytes, uint32_t memorySeed, plan::Plan &plan);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_LOWERING_H_
