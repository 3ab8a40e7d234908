#include "compiler/auto/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "compiler/auto/profiles.h"
#include "compiler/auto/ramp.h"
#include "compiler/pipeline/candidates.h"
#include "runtime/plan/cluster.h"

namespace weft::compiler {
namespace {

// The cluster with the best rate that a table has, whatever the size: no kernel is faster.
Cluster idealOf(Cluster cluster) {
  using Of = std::pair<std::string, std::string>; // what kernel, and element type
  std::map<Of, double> products, bytes, flops;
  auto ofProduct = [](const ProductRate &rate) { return Of(rate.within(), rate.type()); };
  auto ofKernel = [](const KernelRate &rate) { return Of(rate.family(), rate.type()); };
  Calibration &calibration = *cluster.mutable_calibration();
  for (const auto *rates : {&calibration.product(), &calibration.far().product()}) {
    for (const ProductRate &rate : *rates)
      products[ofProduct(rate)] = std::max(products[ofProduct(rate)], rate.flops_s());
  }
  for (const auto *rates : {&calibration.kernel(), &calibration.far().kernel()}) {
    for (const KernelRate &rate : *rates) {
      bytes[ofKernel(rate)] = std::max(bytes[ofKernel(rate)], rate.bytes_s());
      flops[ofKernel(rate)] = std::max(flops[ofKernel(rate)], rate.flops_s());
    }
  }
  calibration.clear_far();
  for (ProductRate &rate : *calibration.mutable_product())
    rate.set_flops_s(products[ofProduct(rate)]);
  for (KernelRate &rate : *calibration.mutable_kernel()) {
    rate.set_bytes_s(bytes[ofKernel(rate)]);
    rate.set_flops_s(flops[ofKernel(rate)]);
  }
  return cluster;
}

double microSecondsOf(const Profile &profile) {
  double seconds = 0;
  for (const Piece &piece : profile.pieces)
    seconds += piece.lastForward_s + piece.lastBackward_s;
  return seconds;
}

// Without the gradients of weights.
double thereSecondsOf(const Profile &profile) {
  double seconds = 0;
  for (const Piece &piece : profile.pieces)
    seconds += piece.forward_s + piece.backward_s - piece.weight_s;
  return seconds;
}

// Of what a piece computes, the part that is forward. A kernel that serves two layers counts with one of them: half
// of the least part is less than any layer has alone.
double forwardPartOf(const Profile &profile) {
  double least = 1;
  for (const Piece &piece : profile.pieces) {
    const double all = piece.forward_s + piece.backward_s;
    least = all > 0 ? std::min(least, piece.forward_s / all) : least;
  }
  return least / 2;
}

// An error of the model goes to its line, as in any compilation, and leaves no message; else `error` as it is.
absl::Status atItsLine(const absl::Status &error, mlir::ModuleOp parsed, const Job &job, const Cluster &cluster) {
  Candidates candidates(parsed, cluster);
  Lowering lowering{job, mlir::OwningOpRef<mlir::ModuleOp>(parsed.clone()), {}};
  for (Phase phase : allPhases()) {
    if (failed(runPhase(lowering, phase, cluster, candidates)))
      return absl::InvalidArgumentError("");
  }
  return error;
}

// One part is a loss that is done at once: more parts only add kernels.
Job withLossParts(Job job, int64_t parts) {
  job.mutable_graph()->set_loss_chunks(parts);
  return job;
}

} // namespace

Bound::Bound(const Job &asked, const Cluster &cluster)
    : asked_(asked), cluster_(cluster), machine_(plan::MachineOf(cluster)) {}

absl::Status Bound::set(mlir::ModuleOp parsed, const std::function<Job(const Choice &)> &jobOf) {
  Choice one;
  one.micro = asked_.batch().global();
  const Job job = withLossParts(jobOf(one), 1);
  const Cluster ideal = idealOf(cluster_);
  Cluster free = ideal;
  free.mutable_device()->set_launch_s(0);
  free.mutable_device()->set_graph_launch_s(0);
  Profiles withLaunches(parsed, ideal, 0), withoutLaunches(parsed, free, 0);
  const absl::StatusOr<Profile> &all = withLaunches.of(job), &work = withoutLaunches.of(job);
  if (!all.ok() || !work.ok())
    return atItsLine(all.ok() ? work.status() : all.status(), parsed, job, cluster_);
  work_s_ = microSecondsOf(*work);
  launches_s_ = microSecondsOf(*all) - work_s_;
  update_s_ = work->once_s;
  isTrained_ = all->isTrained;
  isChain_ = all->isChain;
  once_s_ = all->once_s - work->once_s;
  for (const Piece &piece : all->pieces) {
    pieces_.push_back(piece.name);
    lasting_bytes_ += piece.lastingBytes;
    copy_bytes_ += piece.parameterBytes / (asked_.precision().compute() == F32 ? 1 : 2);
  }
  if (asked_.dist().pipeline() == 1)
    return absl::OkStatus();
  one.schedule = ZERO_BUBBLE;
  const Job split = withLossParts(jobOf(one), 1);
  // A loss in parts is all of the backward, however many they are.
  double forward = 1;
  if (asked_.graph().loss_chunks() != 1) {
    const absl::StatusOr<Profile> &inParts = withLaunches.of(withLossParts(split, 2));
    forward = inParts.ok() ? forwardPartOf(*inParts) : 0;
  }
  const absl::StatusOr<Profile> &splitAll = withLaunches.of(split), &splitWork = withoutLaunches.of(split);
  if (!splitAll.ok() || !splitWork.ok())
    return absl::OkStatus(); // and so has no stages
  there_s_ = thereSecondsOf(*splitWork);
  thereLaunches_s_ = thereSecondsOf(*splitAll) - there_s_;
  forward_ = std::min(forward, forwardPartOf(*splitAll));
  return absl::OkStatus();
}

double Bound::secondsOf(const Choice &choice) const {
  const double stages = double(choice.pipeline), microBatches = double(asked_.batch().global() / choice.micro);
  if (isChain_ && choice.pipeline * choice.chunks > int64_t(pieces_.size()))
    return std::numeric_limits<double>::infinity(); // the model has no such cut
  const double part = stages / double(choice.ranks());
  // An order of the job's own may split what it likes.
  const bool split = choice.schedule == ZERO_BUBBLE || !asked_.pipeline().schedule_file().empty();
  const double onRanks = leastStep({.stages = choice.pipeline,
                                    .chunks = choice.chunks,
                                    .split = split,
                                    .microBatches = microBatches,
                                    .through_s = work_s_ * part / microBatches + launches_s_,
                                    .there_s = there_s_ * part / microBatches + thereLaunches_s_,
                                    .forward = forward_,
                                    .once_s = update_s_ * part + once_s_,
                                    .transfer_s = std::min(machine_.node.latency_s, machine_.network.latency_s),
                                    .isChain = isChain_});
  return std::max(onRanks, (work_s_ + update_s_) / coresOf(choice)) + machine_.step_s;
}

// Ranks that compute at a time: no more than their nodes have cores for.
double Bound::coresOf(const Choice &choice) const {
  const double ranks = double(choice.ranks());
  const double nodes = std::ceil(ranks / double(machine_.node_ranks));
  return machine_.node_cores > 0 ? std::min(ranks, nodes * machine_.node_cores) : ranks;
}

double Bound::bytesOf(const Choice &choice) const {
  const double split = double(choice.expert * choice.context * choice.tensor * choice.pipeline);
  const double shares = double(choice.zero == 0 ? 1 : choice.group > 0 ? choice.group : choice.data);
  const bool copies = choice.zero < 3 && (choice.zero > 0 || asked_.precision().compute() != F32);
  return lasting_bytes_ / split / shares + (copies ? copy_bytes_ / split : 0);
}

} // namespace weft::compiler
