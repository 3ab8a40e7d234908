// What a calibration measures, before it is a cluster.
#ifndef WEFT_TOOLS_CALIBRATE_MEASURED_H_
#define WEFT_TOOLS_CALIBRATE_MEASURED_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/cost.h"
#include "runtime/plan/plan.pb.h"

namespace weft::calibrate {

struct TimedKernel {
  plan::KernelWork work;
  double seconds = 0;
};

// A message from one rank to another.
struct TimedTransfer {
  bool one_node = true;
  double bytes = 0;
  double seconds = 0;
};

// Steps of a plan of one rank, with the kernels that it runs in one.
struct TimedStep {
  std::vector<plan::KernelWork> kernels;
  double seconds = 0;
};

// What kernels and collectives of the same ranks take alone, and side by side.
struct TimedOverlap {
  int64_t ranks = 0;  // on a node; 0: not measured
  double product_alone_s = 0, product_beside_s = 0;
  double collective_alone_s = 0, collective_beside_s = 0;
};

// Kernels and steps were run by ranks side by side, and the slowest counts: ranks that exchange something wait for it.
struct Measured {
  std::vector<TimedKernel> products;   // of a grid of shapes, an entry for each way the operands may lie
  std::vector<TimedKernel> attention;  // of a grid of lengths and sizes of heads
  std::vector<TimedKernel> kernels;    // of plans
  // Products and kernels once more, where each has to go through far_bytes between two uses of a tensor and not through
  // near_bytes; 0: not measured.
  std::vector<TimedKernel> far_products, far_kernels;
  double near_bytes = 0, far_bytes = 0;
  int64_t beside = 1;  // ranks that ran all of these
  std::vector<plan::CollectiveTime> collectives;
  std::vector<TimedTransfer> transfers;
  std::vector<TimedStep> small_steps;  // two, of different numbers of kernels, begun one by one
  std::vector<TimedStep> graph_steps;  // the same with graphs that are replayed; none where there are none
  int64_t copies = 1;                  // ranks that ran these, and the next
  const plan::Plan* plan = nullptr;    // a larger one, of one rank; not owned; null: not measured
  double plan_s = 0;                   // seconds of its step
  double longer = 1;                   // times as long as alone a step takes such ranks on average
  TimedOverlap overlap;
  int64_t reserve_bytes = 0;
};

}  // namespace weft::calibrate

#endif  // WEFT_TOOLS_CALIBRATE_MEASURED_H_
