// What a step of a plan will take, without a machine that could run it.
#ifndef WEFT_RUNTIME_SIM_SIMULATE_H_
#define WEFT_RUNTIME_SIM_SIMULATE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/sim/clock.h"

namespace weft::sim {

// One rank of a stage in a step.
struct StageReport {
  double compute_s = 0;        // in which a compute stream runs kernels; the mean of several
  double communication_s = 0;  // of its collectives and transfers, added up
  double exposed_comm_s = 0;   // in which a compute stream waits for communication of its rank that is under way
  // In which it waits for anything else: another stage, an act that comes first, what a step takes besides its acts.
  double waiting_s = 0;
  double sent_bytes = 0;
  int64_t peak_bytes = 0;  // what the rank allocates
};

struct Report {
  double step_s = 0;
  // Share of the step in which compute streams run no kernel, over all stages.
  double bubble_fraction = 0;
  // The means over all compute streams, of what the stages say. A stream that runs no
  // kernel waits for an act, which waited for another, and so on. The part of this
  // chain that was communication of the stream's own rank, under way, is exposed; so
  // it is never more than the rank communicates. Computing, and communication among
  // other ranks, is waited for.
  double exposed_comm_s = 0;
  double waiting_s = 0;
  std::vector<StageReport> stages;
  std::vector<TimedAct> acts;  // in the order of their ends
  // An act each: its part of exposed_comm_s, which is their sum; 0 for what computes.
  std::vector<double> exposed_s;
};

struct Options {
  bool unit_times = false;  // see UnitCostsOf(); seconds are units then
};

// Of a validated plan. kFailedPrecondition if it blocks. Takes time in
// proportion to the acts of a step on one rank of each stage. Any thread.
absl::StatusOr<Report> Simulate(const plan::Plan& plan, const plan::Machine& machine, const Options& options = {});

// A report as a plan's prediction.
plan::Prediction PredictionOf(const Report& report);

// What a report says to the plan: its prediction, and the stages' part of it.
void SetPrediction(const Report& report, plan::Plan* plan);

}  // namespace weft::sim

#endif  // WEFT_RUNTIME_SIM_SIMULATE_H_
