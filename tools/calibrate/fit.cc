#include "tools/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
#include "runtime/sim/simulate.h"

namespace weft::calibrate {
namespace {

constexpr double kLeastShare = 0.01;   // of a product's FLOPs, what behind it takes time that can be seen
constexpr double kLeastLaunch = 1e-9;  // 0 would ask for the default
// One that moves more does not live in the caches next to a core, or in a GPU's; and is no launch alone.
constexpr double kLargeBytes = 1 << 20, kLargeGpuBytes = 64 << 20;

double LargeBytes(const Cluster& cluster) { return cluster.device().kind() == "cuda" ? kLargeGpuBytes : kLargeBytes; }

bool IsProduct(const plan::KernelWork& work) { return work.family == "einsum"; }

// Digits beyond the fourth are noise.
double Rounded(double value) {
  double rounded = value;
  return absl::SimpleAtod(absl::StrFormat("%.4g", value), &rounded) ? rounded : value;
}

using Products = google::protobuf::RepeatedPtrField<ProductRate>;
using Kernels = google::protobuf::RepeatedPtrField<KernelRate>;

ProductRate& AddProduct(const plan::Product& shape, double flops_s, Products& to) {
  ProductRate& rate = *to.Add();
  rate.set_type(shape.type);
  rate.set_m(shape.m);
  rate.set_n(shape.n);
  rate.set_k(shape.k);
  rate.set_flops_s(Rounded(flops_s));
  rate.set_within(shape.within);
  return rate;
}

// The best rate.
double AddProducts(const std::vector<TimedKernel>& timed, Products& to) {
  std::map<std::tuple<std::string, int64_t, int64_t, int64_t>, std::pair<double, double>> shapes;  // FLOPs, seconds
  double best = 0;
  for (const TimedKernel& it : timed) {
    const plan::Product& at = it.work.product;
    auto& [flops, seconds] = shapes[{at.type, at.m, at.n, at.k}];
    flops += it.work.contraction_flops;
    seconds += it.seconds;
  }
  for (const auto& [shape, sums] : shapes) {
    const auto& [type, m, n, k] = shape;
    best = std::max(best, AddProduct({1, m, n, k, type}, sums.first / sums.second, to).flops_s());
  }
  return best;
}

void FitProducts(const Measured& measured, Cluster* cluster) {
  const double best = AddProducts(measured.products, *cluster->mutable_calibration()->mutable_product());
  if (best > 0) cluster->mutable_device()->set_contraction_flops(best);
}

void FitAttention(const Measured& measured, Cluster* cluster) {
  for (const TimedKernel& timed : measured.attention) {
    plan::Product shape = timed.work.product;
    shape.n = 0;  // there are as many keys as queries
    AddProduct(shape, timed.work.contraction_flops / timed.seconds, *cluster->mutable_calibration()->mutable_product());
  }
}

void FitMemory(const Measured& measured, Cluster* cluster) {
  std::vector<double> rates;
  for (const TimedKernel& timed : measured.kernels) {
    if (timed.work.bytes < LargeBytes(*cluster) || timed.work.contraction_flops > 0) continue;
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
    if (!IsProduct(work) || work.type != "f32" || work.flops < kLeastShare * work.contraction_flops) continue;
    if (cluster->device().kind() == "cuda" && work.bytes < kLargeGpuBytes) continue;
    plan::KernelWork product = work;
    product.flops = product.bytes = 0;
    flops += work.flops;
    seconds += timed.seconds - plan::KernelSeconds(machine, product);
  }
  if (flops > 0 && seconds > 0) cluster->mutable_device()->set_other_flops(Rounded(flops / seconds));
}

// But for what has a rate by its shape.
bool HasRateOfItsOwn(const plan::KernelWork& work, const Cluster& cluster) {
  const auto& shapes = cluster.calibration().product();
  return IsProduct(work) || std::any_of(shapes.begin(), shapes.end(), [&](const auto& it) {
           return !it.within().empty() && it.within() == work.product.within;
         });
}

void AddKernels(const std::vector<TimedKernel>& kernels, const Cluster& cluster, Kernels& to) {
  struct Sums {
    double bytes = 0, flops = 0, seconds = 0, logs = 0;
    int64_t count = 0;
  };
  using Family = std::pair<std::string, std::string>;  // the kernel's name, the element type
  std::map<std::pair<Family, int>, Sums> sums;         // and doublings
  std::map<Family, bool> multiplies;
  for (const TimedKernel& timed : kernels) {
    const plan::KernelWork& work = timed.work;
    if (HasRateOfItsOwn(work, cluster) || work.bytes <= 0) continue;
    const Family family{work.family, work.type};
    Sums& at = sums[{family, static_cast<int>(std::lround(std::log2(work.bytes)))}];
    at.bytes += work.bytes;
    at.flops += work.contraction_flops;
    at.seconds += timed.seconds;
    at.logs += std::log(work.bytes);
    ++at.count;
    const auto [it, is_new] = multiplies.try_emplace(family, work.contraction_flops > 0);
    if (!is_new) it->second = it->second && work.contraction_flops > 0;
  }
  for (const auto& [key, at] : sums) {
    KernelRate& rate = *to.Add();
    rate.set_family(key.first.first);
    rate.set_type(key.first.second);
    rate.set_bytes(Rounded(std::exp(at.logs / static_cast<double>(at.count))));
    rate.set_bytes_s(Rounded(at.bytes / at.seconds));
    if (multiplies[key.first]) rate.set_flops_s(Rounded(at.flops / at.seconds));
  }
}

void FitKernels(const Measured& measured, Cluster* cluster) {
  AddKernels(measured.kernels, *cluster, *cluster->mutable_calibration()->mutable_kernel());
}

// What acts of `busy` ranks take longer for want of cores.
double Share(const Cluster& cluster, int64_t busy) { return plan::ShareOfCore(plan::MachineOf(cluster), busy); }

// That so many ranks are worth beside each other.
double CoresOf(const Measured& measured) {
  const double copies = static_cast<double>(measured.copies);
  return std::clamp(copies / measured.longer, 1.0, copies);
}

void FitCores(const Measured& measured, Cluster* cluster) {
  if (measured.copies > 1) cluster->mutable_node()->set_cores(Rounded(CoresOf(measured)));
}

// All kernels so many times as long.
void Scale(double by, Measured& measured) {
  for (auto* kernels :
       {&measured.products, &measured.attention, &measured.kernels, &measured.far_products, &measured.far_kernels}) {
    for (TimedKernel& timed : *kernels) timed.seconds *= by;
  }
}

// What ranks take from each other is not a kernel's, or a step's: `cores` says it, and the simulator adds it.
Measured OfRankWithACore(Measured measured) {
  if (measured.copies < 2) return measured;
  plan::Machine machine;
  machine.node_cores = CoresOf(measured);
  Scale(plan::ShareOfCore(machine, measured.beside), measured);
  const double share = plan::ShareOfCore(machine, measured.copies);
  for (auto* steps : {&measured.small_steps, &measured.graph_steps}) {
    for (TimedStep& timed : *steps) timed.seconds *= share;
  }
  measured.plan_s *= share;
  return measured;
}

void FitFar(const Measured& measured, Cluster* cluster) {
  if (measured.far_bytes <= 0) return;
  Far& far = *cluster->mutable_calibration()->mutable_far();
  far.set_near_bytes(measured.near_bytes);
  far.set_bytes(measured.far_bytes);
  AddProducts(measured.far_products, *far.mutable_product());
  AddKernels(measured.far_kernels, *cluster, *far.mutable_kernel());
}

// What steps take beside their kernels.
struct Besides {
  double launch_s = 0;  // that grows with them
  double step_s = 0;
};

// Of two steps with different numbers of kernels: a line through both. None without two.
std::optional<Besides> BesidesOf(const std::vector<TimedStep>& steps, plan::Machine machine) {
  if (steps.size() != 2) return std::nullopt;
  machine.launch_s = machine.graph_launch_s = 0;
  double left[2], count[2];
  for (int i = 0; i < 2; ++i) {
    left[i] = steps[i].seconds;
    count[i] = static_cast<double>(steps[i].kernels.size());
    for (const plan::KernelWork& work : steps[i].kernels) left[i] -= plan::KernelSeconds(machine, work);
  }
  if (count[1] <= count[0]) return std::nullopt;
  const double more = std::clamp((left[1] - left[0]) / (count[1] - count[0]), 0.0, std::max(left[1], 0.0) / count[1]);
  return Besides{Rounded(std::max(more, kLeastLaunch)), Rounded(std::max(0.0, left[0] - more * count[0]))};
}

void FitSteps(const Measured& measured, Cluster* cluster) {
  const plan::Machine machine = plan::MachineOf(*cluster);
  if (const std::optional<Besides> begun = BesidesOf(measured.small_steps, machine)) {
    cluster->mutable_device()->set_launch_s(begun->launch_s);
    cluster->mutable_calibration()->set_step_s(begun->step_s);
  }
  // Steps are as they are run where nobody asks for anything else.
  if (const std::optional<Besides> replayed = BesidesOf(measured.graph_steps, machine)) {
    cluster->mutable_device()->set_graph_launch_s(replayed->launch_s);
    cluster->mutable_calibration()->set_step_s(replayed->step_s);
  }
}

void FitComputation(const Measured& measured, Cluster* cluster) {
  FitProducts(measured, cluster);
  FitAttention(measured, cluster);
  FitMemory(measured, cluster);
  FitOtherFlops(measured, cluster);
  FitKernels(measured, cluster);
  FitCores(measured, cluster);
  FitFar(measured, cluster);
  FitSteps(measured, cluster);
}

// How many times as long as `cluster` says a whole step has taken: in it a kernel finds other things in the caches than
// among kernels of its kind alone, and kernels that share a rate differ. 1 on a GPU, where it has not been looked at.
absl::StatusOr<double> LongerInAStep(const Measured& measured, const Cluster& cluster) {
  if (measured.plan == nullptr || measured.kernels.empty() || cluster.device().kind() == "cuda") return 1;
  WEFT_ASSIGN_OR_RETURN(const sim::Report said, sim::Simulate(*measured.plan, plan::MachineOf(cluster)));
  return said.step_s > 0 ? measured.plan_s / said.step_s : 1;
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

absl::Status Fit(const Measured& taken, Cluster* cluster) {
  Measured measured = OfRankWithACore(taken);
  Cluster alone = *cluster;
  FitComputation(measured, &alone);
  WEFT_ASSIGN_OR_RETURN(const double longer, LongerInAStep(measured, alone));
  Scale(longer, measured);
  FitComputation(measured, cluster);
  FitCollectives(measured, cluster);
  FitLink(measured, true, cluster);
  FitLink(measured, false, cluster);
  FitOverlap(measured.overlap, cluster);
  cluster->mutable_calibration()->set_reserve_bytes(measured.reserve_bytes);
  return absl::OkStatus();
}

}  // namespace weft::calibrate
