#include "tools/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "runtime/plan/cluster.h"

namespace weft::calibrate {
namespace {

constexpr double kSmallBytes = 2048;     // a kernel that moves no more takes as long as it takes to begin one
constexpr double kLeastShare = 0.01;     // of a product's FLOPs, what behind it takes time that can be seen
constexpr double kLeastLaunch = 1e-9;    // 0 would ask for the default
constexpr double kLargeBytes = 1 << 20;  // one that moves more does not live in the caches next to a core

bool IsProduct(const plan::KernelWork& work) { return work.family == "einsum"; }

// Digits beyond the fourth are noise.
double Rounded(double value) {
  double rounded = value;
  return absl::SimpleAtod(absl::StrFormat("%.4g", value), &rounded) ? rounded : value;
}

void FitProducts(const Measured& measured, Cluster* cluster) {
  std::map<std::tuple<std::string, int64_t, int64_t, int64_t>, std::pair<double, double>> shapes;  // FLOPs, seconds
  double best = 0;
  for (const TimedKernel& timed : measured.products) {
    const plan::Product& at = timed.work.product;
    auto& [flops, seconds] = shapes[{at.type, at.m, at.n, at.k}];
    flops += timed.work.contraction_flops;
    seconds += timed.seconds;
  }
  for (const auto& [shape, sums] : shapes) {
    ProductRate& rate = *cluster->mutable_calibration()->add_product();
    rate.set_type(std::get<0>(shape));
    rate.set_m(std::get<1>(shape));
    rate.set_n(std::get<2>(shape));
    rate.set_k(std::get<3>(shape));
    rate.set_flops_s(Rounded(sums.first / sums.second));
    best = std::max(best, rate.flops_s());
  }
  if (best > 0) cluster->mutable_device()->set_contraction_flops(best);
}

void FitMemory(const Measured& measured, Cluster* cluster) {
  std::vector<double> rates;
  for (const TimedKernel& timed : measured.kernels) {
    if (timed.work.bytes < kLargeBytes || timed.work.contraction_flops > 0) continue;
    rates.push_back(timed.work.bytes / timed.seconds);
  }
  if (rates.empty()) return;
  // Those that only move, and do not compute, are the fastest.
  std::sort(rates.begin(), rates.end());
  cluster->mutable_device()->set_memory_bytes_s(Rounded(rates[rates.size() * 9 / 10]));
}

// What is computed behind products: after those have their rates.
void FitOtherFlops(const Measured& measured, Cluster* cluster) {
  plan::Machine machine = plan::MachineOf(*cluster);
  machine.launch_s = 0;
  double flops = 0, seconds = 0;
  for (const TimedKernel& timed : measured.kernels) {
    const plan::KernelWork& work = timed.work;
    // Of a bias behind a product nothing would be seen.
    if (!IsProduct(work) || timed.narrow || work.flops < kLeastShare * work.contraction_flops) continue;
    plan::KernelWork product = work;
    product.flops = product.bytes = 0;
    flops += work.flops;
    seconds += timed.seconds - plan::KernelSeconds(machine, product);
  }
  if (flops > 0 && seconds > 0) cluster->mutable_device()->set_other_flops(Rounded(flops / seconds));
}

// A family has one rate for a size, whatever the element type: that of float32 where there is one. What converts its
// elements on the way is slower on CPUs.
void FitKernels(const Measured& measured, Cluster* cluster) {
  std::set<std::string> in_float;
  for (const TimedKernel& timed : measured.kernels) {
    if (!timed.narrow) in_float.insert(timed.work.family);
  }
  struct Sums {
    double bytes = 0, flops = 0, seconds = 0, logs = 0;
    int64_t count = 0;
  };
  std::map<std::pair<std::string, int>, Sums> sums;  // by family and doublings
  std::map<std::string, bool> multiplies;
  for (const TimedKernel& timed : measured.kernels) {
    const plan::KernelWork& work = timed.work;
    if (IsProduct(work) || work.bytes <= 0) continue;
    if (timed.narrow && in_float.count(work.family) > 0) continue;
    Sums& at = sums[{work.family, static_cast<int>(std::lround(std::log2(work.bytes)))}];
    at.bytes += work.bytes;
    at.flops += work.contraction_flops;
    at.seconds += timed.seconds;
    at.logs += std::log(work.bytes);
    ++at.count;
    const auto [it, is_new] = multiplies.try_emplace(work.family, work.contraction_flops > 0);
    if (!is_new) it->second = it->second && work.contraction_flops > 0;
  }
  for (const auto& [key, at] : sums) {
    KernelRate& rate = *cluster->mutable_calibration()->add_kernel();
    rate.set_family(key.first);
    rate.set_bytes(Rounded(std::exp(at.logs / static_cast<double>(at.count))));
    rate.set_bytes_s(Rounded(at.bytes / at.seconds));
    if (multiplies[key.first]) rate.set_flops_s(Rounded(at.flops / at.seconds));
  }
}

// Of two steps with different numbers of kernels, what is left beside these: a line through both.
void FitSteps(const Measured& measured, Cluster* cluster) {
  if (measured.small_steps.size() != 2) return;
  plan::Machine machine = plan::MachineOf(*cluster);
  machine.launch_s = 0;
  double left[2], count[2];
  for (int i = 0; i < 2; ++i) {
    const TimedStep& step = measured.small_steps[i];
    left[i] = step.seconds;
    count[i] = static_cast<double>(step.kernels.size());
    for (const plan::KernelWork& work : step.kernels) left[i] -= plan::KernelSeconds(machine, work);
  }
  if (count[1] <= count[0]) return;
  const double more = std::clamp((left[1] - left[0]) / (count[1] - count[0]), 0.0, std::max(left[1], 0.0) / count[1]);
  cluster->mutable_device()->set_launch_s(Rounded(std::max(more, kLeastLaunch)));
  cluster->mutable_calibration()->set_step_s(Rounded(std::max(0.0, left[0] - more * count[0])));
}

// What acts of `busy` ranks take longer for want of cores.
double Share(const Cluster& cluster, int64_t busy) { return plan::ShareOfCore(plan::MachineOf(cluster), busy); }

void FitCores(const Measured& measured, Cluster* cluster) {
  if (measured.copies < 2 || measured.step_alone_s <= 0) return;
  const double copies = static_cast<double>(measured.copies);
  const double cores = copies * measured.step_alone_s / measured.step_beside_s;
  cluster->mutable_node()->set_cores(Rounded(std::clamp(cores, 1.0, copies)));
}

void FitCollectives(const Measured& measured, Cluster* cluster) {
  for (const plan::CollectiveTime& at : measured.collectives) {
    CollectiveTime& time = *cluster->mutable_calibration()->add_collective();
    time.set_kind(NameOf(at.kind));
    time.set_on_node(at.on_node);
    time.set_nodes(at.nodes);
    time.set_bytes(at.bytes);
    time.set_seconds(Rounded(at.seconds * Share(*cluster, at.on_node)));
  }
}

// The shortest is the latency, the others say the bandwidth.
void FitLink(const Measured& measured, bool one_node, Cluster* cluster) {
  double latency = HUGE_VAL, bytes = 0, seconds = 0;
  for (const TimedTransfer& at : measured.transfers) {
    if (at.one_node == one_node) latency = std::min(latency, at.seconds);
  }
  if (latency == HUGE_VAL) return;
  for (const TimedTransfer& at : measured.transfers) {
    if (at.one_node != one_node || at.seconds < 2 * latency) continue;
    bytes += at.bytes;
    seconds += at.seconds - latency;
  }
  if (bytes <= 0) return;
  if (one_node) {
    cluster->mutable_node()->set_latency_s(Rounded(latency));
    cluster->mutable_node()->set_link_bytes_s(Rounded(bytes / seconds));
  } else {
    cluster->mutable_network()->set_latency_s(Rounded(latency));
    cluster->mutable_network()->set_link_bytes_s(Rounded(bytes / seconds));
  }
}

void FitOverlap(const TimedOverlap& overlap, Cluster* cluster) {
  if (overlap.ranks < 1 || overlap.product_alone_s <= 0 || overlap.collective_alone_s <= 0) return;
  // Two acts a rank, where there was one before.
  const double cores = Share(*cluster, overlap.ranks) / Share(*cluster, 2 * overlap.ranks);
  const auto slowdown = [&](double alone, double beside) { return Rounded(std::max(1.0, beside / alone / cores)); };
  Overlap& out = *cluster->mutable_calibration()->mutable_overlap();
  out.set_product_slowdown(slowdown(overlap.product_alone_s, overlap.product_beside_s));
  out.set_collective_slowdown(slowdown(overlap.collective_alone_s, overlap.collective_beside_s));
}

}  // namespace

void Fit(const Measured& measured, Cluster* cluster) {
  FitProducts(measured, cluster);
  FitMemory(measured, cluster);
  FitOtherFlops(measured, cluster);
  FitKernels(measured, cluster);
  FitSteps(measured, cluster);
  FitCores(measured, cluster);
  FitCollectives(measured, cluster);
  FitLink(measured, true, cluster);
  FitLink(measured, false, cluster);
  FitOverlap(measured.overlap, cluster);
  cluster->mutable_calibration()->set_reserve_bytes(measured.reserve_bytes);
}

}  // namespace weft::calibrate
