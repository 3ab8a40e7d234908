#include "compiler/pipeline/lowering.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/analysis/cost.h"
#include "compiler/emit/emit.h"
#include "compiler/job/cluster.h"
#include "compiler/memory/plan_memory.h"
#include "compiler/passes/box/loss_rows.h"
#include "compiler/pipeline/recompute.h"
#include "compiler/pipeline/target.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/load.h"
#include "runtime/plan/validate.h"

namespace weft::compiler {
namespace {

void addChunkedLosses(ir::GraphOp graph, GraphFacts &facts) {
  auto told = graph->getAttrOfType<mlir::ArrayAttr>(kLossChunksName);
  for (mlir::Attribute attribute : told ? told.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    auto loss = llvm::cast<mlir::DictionaryAttr>(attribute);
    auto number = [&](llvm::StringRef name) { return loss.getAs<mlir::IntegerAttr>(name).getInt(); };
    plan::ChunkedLoss &to = facts.chunkedLosses.emplace_back();
    to.set_scope(loss.getAs<mlir::StringAttr>("scope").str());
    to.set_rows(number("rows"));
    to.set_chunks(number("chunks"));
    to.set_whole_bytes(number("whole_bytes"));
    to.set_chunk_bytes(number("chunk_bytes"));
  }
}

// Of tensors without their padding; and of all samples, of which the last micro-batch may have fewer.
GraphFacts factsOf(mlir::ModuleOp module, const Batch &batch) {
  GraphFacts facts;
  for (auto graph : module.getOps<ir::GraphOp>()) {
    facts.name = graph.getSymName().str();
    facts.training = llvm::any_of(graph.getBody().getOps<ir::AssignOp>(), [](ir::AssignOp assign) {
      return !assign.getTarget().getDefiningOp()->hasAttr(ir::kCacheName);
    });
    facts.microBatches = int64_t(graph.getMicroBatches());
    const double micros = double(batch.global()) / double(batch.micro());
    const double filled = facts.training ? micros / std::ceil(micros) : 1;
    facts.flops = modelFlops(graph) * filled;
    addChunkedLosses(graph, facts);
    for (mlir::BlockArgument argument : graph.getBody().getArguments()) {
      if (ir::tensorOf(argument).getElementType().isInteger(32) && facts.tokens == 0) {
        const int64_t tokens = mlir::ShapedType::getNumElements(ir::unpaddedShapeOf(argument));
        facts.tokens = std::llround(double(tokens * facts.microBatches) * filled);
      }
    }
  }
  return facts;
}

void fillHeader(const Job &job, const Cluster &cluster, const GraphFacts &facts, plan::Header &header) {
  header.set_version(plan::kPlanVersion);
  header.set_target(cluster.device().kind());
  header.set_graph(facts.name);
  *header.mutable_job() = job;
  *header.mutable_cluster() = cluster;
  header.set_micro_batches(facts.microBatches);
  header.set_training(facts.training);
  header.set_tokens_per_step(facts.tokens);
  header.set_flops_per_step(facts.flops);
  header.mutable_chunked_losses()->Assign(facts.chunkedLosses.begin(), facts.chunkedLosses.end());
}

absl::Status checkArenas(const plan::Plan &plan) {
  for (int i = 0; i < plan.stages_size(); ++i) {
    if (plan.stages(i).arena_bytes() > plan::kMaxBytes) {
      return absl::InvalidArgumentError(absl::StrCat("the plan does not fit: stage ", i,
                                                     ": memory of a rank: expected at most ", plan::kMaxBytes,
                                                     " bytes, got ", plan.stages(i).arena_bytes()));
    }
  }
  return absl::OkStatus();
}

} // namespace

llvm::LogicalResult runPhase(Lowering &lowering, Phase phase, const Cluster &cluster, Candidates &candidates) {
  Job &job = lowering.job;
  if (phase == Phase::Elaborate) {
    setInputs(*lowering.module, job, CostModel{plan::MachineOf(cluster)});
  }
  if (phase == Phase::Localize) {
    lowering.facts = factsOf(*lowering.module, job.batch());
    ResolveTiers(cluster, &job);
  }
  if (phase == Phase::Recompute) {
    *job.mutable_recompute() =
        resolveRecompute(*lowering.module, job, plan::PlanBytesOf(cluster), cluster.tier_size() > 0, candidates);
  }
  mlir::PassManager manager(lowering.module->getContext());
  manager.enableVerifier(!lowering.isTrial || phase == Phase::Elaborate);
  buildPhase(manager, phase, job);
  // A layout that cannot be is found behind the phases that give tensors their tiles.
  const bool isChecked = lowering.isTrial && (phase == Phase::Pad || phase == Phase::Shard || phase == Phase::Box);
  if (failed(manager.run(*lowering.module)) || (isChecked && failed(mlir::verify(*lowering.module)))) {
    return mlir::failure();
  }
  return phase == Phase::Pipeline ? checkTarget(*lowering.module, job, cluster) : mlir::success();
}

absl::StatusOr<plan::Plan> planWithoutOffsets(const Lowering &lowering, const Job &asked, const Cluster &cluster) {
  plan::Plan plan;
  fillHeader(asked, cluster, lowering.facts, *plan.mutable_header());
  const Recompute &recompute = asked.recompute();
  if (lowering.facts.training && (recompute.policy() != Recompute::NONE || !recompute.layers().empty())) {
    *plan.mutable_header()->mutable_recompute() = lowering.job.recompute().layers();
  }
  if (failed(emitPlan(*lowering.module, plan))) {
    return absl::InvalidArgumentError("");
  }
  return plan;
}

absl::Status layOut(const Cluster &cluster, int64_t limitBytes, uint32_t memorySeed, plan::Plan &plan) {
  const MemoryOptions options{plan::PlanBytesOf(cluster), memorySeed, limitBytes};
  if (absl::Status status = PlanMemory(options, &plan); !status.ok()) {
    return absl::InternalError(absl::StrCat("the compiled plan does not verify: ", status.message()));
  }
  return checkArenas(plan);
}

absl::StatusOr<plan::Plan> planOf(const Lowering &lowering, const Job &asked, const Cluster &cluster,
                                  uint32_t memorySeed) {
  WEFT_ASSIGN_OR_RETURN(plan::Plan plan, planWithoutOffsets(lowering, asked, cluster));
  WEFT_RETURN_IF_ERROR(layOut(cluster, /*limitBytes=*/0, memorySeed, plan));
  return plan;
}

} // namespace weft::compiler
