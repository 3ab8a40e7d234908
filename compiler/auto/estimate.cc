#include "compiler/auto/estimate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/cuts.h"
#include "ops/abi/status_macros.h"

namespace weft::compiler {
namespace {

Estimate oneStage(int64_t microBatches, const Profile &profile) {
  Estimate all{profile.once_s + profile.waits_s, profile.transientBytes};
  for (const Piece &piece : profile.pieces) {
    all.step_s +=
        double(microBatches - 1) * (piece.forward_s + piece.backward_s) + piece.lastForward_s + piece.lastBackward_s;
    all.bytes += piece.stateBytes + piece.keptBytes + piece.weightBytes;
    all.lowStateBytes += piece.lowStateBytes;
    all.lowKeptBytes += piece.lowKeptBytes;
  }
  return all;
}

// How much longer kernels take than where a stage has its nodes for itself, if each rank is busy for such a part of the
// time: ranks of other stages want the node's cores too (plan::ShareOfCore).
double slowdownOf(const Choice &choice, double busy, const plan::Machine &machine) {
  const auto share = [&](double ranks) {
    return machine.node_cores > 0 ? std::min(1.0, machine.node_cores / ranks) : 1;
  };
  const double alone = double(std::min(machine.node_ranks, choice.stageRanks()));
  return share(alone) / share(std::max(alone, busy * double(std::min(machine.node_ranks, choice.ranks()))));
}

// The part of the parameters that each stage has is the part that it has of what a step computes once.
schedule::CutProblem problemOf(const Choice &choice, const Profile &profile, const MadeSchedule &made,
                               const plan::Machine &machine, double limitBytes) {
  schedule::CutProblem problem{made.schedule, made.stashes, {}, {}, limitBytes - profile.transientBytes};
  const bool split = schedule::isSplit(made.schedule.order);
  const double once_s = profile.once_s * slowdownOf(choice, 1, machine);
  double parameters = 0;
  for (const Piece &piece : profile.pieces)
    parameters += piece.parameterBytes;
  for (const Piece &piece : profile.pieces) {
    const double weight_s = split ? piece.weight_s : 0;
    const double part = parameters > 0 ? piece.parameterBytes / parameters : 0;
    problem.pieces.push_back({{piece.forward_s, piece.backward_s - weight_s, weight_s},
                              part * once_s,
                              piece.stateBytes,
                              piece.keptBytes,
                              piece.weightBytes,
                              piece.lowStateBytes,
                              piece.lowKeptBytes});
  }
  const int64_t ranks = choice.stageRanks(), node = machine.node_ranks;
  problem.transfer = [=](int from, int to) {
    const int64_t first = std::min(from, to) * ranks, last = (std::max(from, to) + 1) * ranks - 1;
    return plan::TransferSeconds(machine, profile.boundaryBytes, first / node == last / node);
  };
  return problem;
}

// The pieces that begin a chunk, as `cuts` names them: pieces, in their order (checkPieces).
schedule::Begins beginsOf(const Profile &profile, const std::vector<std::string> &cuts) {
  schedule::Begins begins = {0};
  for (const std::string &cut : cuts) {
    const auto at = std::find_if(profile.pieces.begin(), profile.pieces.end(),
                                 [&](const Piece &piece) { return piece.name == cut; });
    begins.push_back(size_t(at - profile.pieces.begin()));
  }
  return begins;
}

} // namespace

absl::StatusOr<Estimate> estimate(const Choice &choice, int64_t microBatches, const Profile &profile,
                                  const plan::Machine &machine, Schedules &schedules, const CutOptions &how) {
  if (choice.pipeline == 1)
    return oneStage(microBatches, profile);
  const size_t chunks = size_t(choice.pipeline * choice.chunks);
  if (profile.pieces.size() < chunks)
    return absl::InvalidArgumentError(
        absl::StrCat(choice.chunks > 1 ? "pipeline.chunks" : "dist.pipeline", ": expected at most ",
                     profile.pieces.size(), ", as many as the model has layers to be cut between, got ", chunks));
  const absl::StatusOr<MadeSchedule> &made = schedules.of(choice, microBatches);
  if (!made.ok())
    return made.status();
  const schedule::CutProblem problem = problemOf(choice, profile, *made, machine, how.limitBytes);
  schedule::Cut cut;
  if (!how.asked.empty()) {
    cut = schedule::measured(problem, beginsOf(profile, how.asked));
  } else {
    cut = how.measured > 0 ? schedule::bestCut(problem, how.measured) : schedule::quickCut(problem);
  }
  double work = 0; // of a stage, on average
  for (const Piece &piece : profile.pieces)
    work += double(microBatches) * (piece.forward_s + piece.backward_s) / double(choice.pipeline);
  Estimate all;
  all.step_s = cut.makespan_s * slowdownOf(choice, work / cut.makespan_s, machine) + cut.once_s + profile.waits_s;
  all.bytes = cut.bytes + profile.transientBytes;
  all.lowStateBytes = cut.lowStateBytes;
  all.lowKeptBytes = cut.lowKeptBytes;
  for (size_t chunk = 1; chunk < chunks; ++chunk)
    all.cuts.push_back(profile.pieces[cut.begins[chunk]].name);
  return all;
}

} // namespace weft::compiler
