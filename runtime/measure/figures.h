// The figures by which plans are compared: one place computes them, whoever shows them.
#ifndef WEFT_RUNTIME_MEASURE_FIGURES_H_
#define WEFT_RUNTIME_MEASURE_FIGURES_H_

#include <cstdint>
#include <optional>

#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// Of one step. What is not known is absent.
struct Figures {
  int64_t devices = 0;  // ranks, over all stages
  double step_s = 0;
  // Absent for a graph that reads no tokens, and for a step of no length.
  std::optional<double> tokens_per_s;
  std::optional<double> tokens_per_s_device;
  // Model FLOPs utilization (Chowdhery et al., "PaLM", 2022): the header's flops_per_step, which do not count what is
  // computed again, over what all devices would do in the step at the cluster's `device.contraction_flops`. So it is
  // a share of a peak where the cluster states a peak.
  std::optional<double> mfu;
  double bubble_fraction = 0;
  double exposed_comm_s = 0;
  int64_t peak_bytes = 0;  // of the rank that allocates most
  // What it leaves of the memory that a plan may use (PlanBytesOf), and as a share of that; negative if the plan does
  // not fit. Absent for a cluster that does not say its memory.
  std::optional<int64_t> headroom_bytes;
  std::optional<double> headroom_fraction;
};

// Of a plan whose step is predicted to go like this on this cluster, which may be another one than the plan's own.
Figures FiguresOf(const Plan& plan, const Prediction& prediction, const Cluster& cluster);

// By the plan's own prediction, for its own cluster.
Figures FiguresOf(const Plan& plan);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_MEASURE_FIGURES_H_
