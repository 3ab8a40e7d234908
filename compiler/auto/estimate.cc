#include "compiler/auto/estimate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/balance.h"

namespace weft::compiler {
namespace {

Estimate oneStage(int64_t microBatches, const Profile &profile) {
  Estimate all{profile.once_s + profile.waits_s, profile.transientBytes};
  for (const Piece &piece : profile.pieces) {
    all.step_s +=
        double(microBatches - 1) * (piece.forward_s + piece.backward_s) + piece.lastForward_s + piece.lastBackward_s;
    all.bytes += piece.stateBytes + piece.keptBytes;
  }
  return all;
}

// A chunk of the model.
Piece chunkOf(const Profile &profile, size_t begin, size_t end) {
  Piece sum;
  for (size_t i = begin; i < end; ++i) {
    const Piece &piece = profile.pieces[i];
    sum.forward_s += piece.forward_s;
    sum.backward_s += piece.backward_s;
    sum.weight_s += piece.weight_s;
    sum.stateBytes += piece.stateBytes;
    sum.parameterBytes += piece.parameterBytes;
    sum.keptBytes += piece.keptBytes;
  }
  return sum;
}

std::vector<Piece> chunksOf(const Profile &profile, size_t chunks) {
  std::vector<double> weights;
  for (const Piece &piece : profile.pieces)
    weights.push_back(piece.forward_s + piece.backward_s);
  std::vector<size_t> begins = schedule::balance(weights, chunks);
  begins.push_back(weights.size());
  std::vector<Piece> all;
  for (size_t c = 0; c < chunks; ++c)
    all.push_back(chunkOf(profile, begins[c], begins[c + 1]));
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

} // namespace

absl::StatusOr<Estimate> estimate(const Choice &choice, int64_t microBatches, const Profile &profile,
                                  const plan::Machine &machine, Schedules &schedules) {
  if (choice.pipeline == 1)
    return oneStage(microBatches, profile);
  const size_t chunks = size_t(choice.pipeline * choice.chunks);
  if (profile.pieces.size() < chunks)
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.chunks: expected at most ", profile.pieces.size(), " in all, got ", chunks));
  const absl::StatusOr<MadeSchedule> &made = schedules.of(choice, microBatches);
  if (!made.ok())
    return made.status();
  const std::vector<Piece> pieces = chunksOf(profile, chunks);
  std::vector<schedule::Durations> durations;
  const bool split = schedule::isSplit(made->schedule.order);
  for (const Piece &piece : pieces)
    durations.push_back({piece.forward_s, piece.backward_s - (split ? piece.weight_s : 0), split ? piece.weight_s : 0});
  const int64_t ranks = choice.stageRanks(), node = machine.node_ranks;
  const schedule::Times times = schedule::unitTimes(made->schedule, durations, [&](int from, int to) {
    const int64_t first = std::min(from, to) * ranks, last = (std::max(from, to) + 1) * ranks - 1;
    return plan::TransferSeconds(machine, profile.boundaryBytes, first / node == last / node);
  });
  double parameters = 0, most = 0;
  for (const Piece &piece : pieces)
    parameters += piece.parameterBytes;
  Estimate all;
  for (int stage = 0; stage < int(choice.pipeline); ++stage) {
    double bytes = profile.transientBytes, own = 0;
    for (int local = 0; local < int(choice.chunks); ++local) {
      const Piece &piece = pieces[made->schedule.shape.chunkAt(stage, local)];
      bytes += piece.stateBytes + piece.keptBytes * made->stashes[stage][local].held;
      own += piece.parameterBytes;
    }
    most = std::max(most, own);
    all.bytes = std::max(all.bytes, bytes);
  }
  const double part = parameters > 0 ? most / parameters : 0;
  double work = 0; // of a stage, on average
  for (const Piece &piece : pieces)
    work += double(microBatches) * (piece.forward_s + piece.backward_s) / double(choice.pipeline);
  all.step_s = times.makespan * slowdownOf(choice, work / times.makespan, machine) +
               part * profile.once_s * slowdownOf(choice, 1, machine) + profile.waits_s;
  return all;
}

} // namespace weft::compiler
