#include "runtime/measure/figures.h"

#include <algorithm>

#include "runtime/plan/cluster.h"

namespace weft::plan {

Figures FiguresOf(const Plan& plan, const Prediction& prediction, const Cluster& cluster) {
  Figures figures;
  for (const Stage& stage : plan.stages()) {
    figures.devices += plan.placements(stage.placement()).ranks_size();
    figures.peak_bytes = std::max<int64_t>(figures.peak_bytes, stage.arena_bytes());
  }
  figures.step_s = prediction.step_s();
  figures.bubble_fraction = prediction.bubble_fraction();
  figures.exposed_comm_s = prediction.exposed_comm_s();
  const double device_s = figures.step_s * static_cast<double>(figures.devices);
  if (device_s > 0 && plan.header().tokens_per_step() > 0) {
    const auto tokens = static_cast<double>(plan.header().tokens_per_step());
    figures.tokens_per_s = tokens / figures.step_s;
    figures.tokens_per_s_device = tokens / device_s;
  }
  const double flops = plan.header().flops_per_step();
  if (const double rate = cluster.device().contraction_flops(); device_s > 0 && flops > 0 && rate > 0) {
    figures.mfu = flops / (device_s * rate);
  }
  if (cluster.device().memory_bytes() > 0) {
    const int64_t memory = PlanBytesOf(cluster);
    figures.headroom_bytes = memory - figures.peak_bytes;
    figures.headroom_fraction = static_cast<double>(*figures.headroom_bytes) / static_cast<double>(memory);
  }
  return figures;
}

Figures FiguresOf(const Plan& plan) { return FiguresOf(plan, plan.prediction(), plan.header().cluster()); }

}  // namespace weft::plan
