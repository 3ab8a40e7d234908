#include "runtime/sim/simulate.h"

#include <algorithm>

#include "runtime/plan/program.h"

namespace weft::sim {
namespace {

// Adds up what the acts of a step mean.
class Reporter {
 public:
  Reporter(absl::Span<const plan::Program> programs, const Costs& costs, Report* report)
      : programs_(programs), costs_(costs), report_(*report) {}

  void Run() {
    for (const plan::Program& program : programs_) {
      StageReport& stage = report_.stages.emplace_back();
      stage.peak_bytes = program.stage->arena_bytes();
      streams_.emplace_back(program.stage->streams_size());
    }
    report_.exposed_s.assign(report_.acts.size(), 0);
    for (size_t a = 0; a < report_.acts.size(); ++a) Add(static_cast<int32_t>(a));
    double busy = 0;
    int64_t count = 0;
    for (size_t s = 0; s < programs_.size(); ++s) {
      int64_t here = 0;
      for (int i = 0; i < programs_[s].stage->streams_size(); ++i) {
        if (KindOf(s, i) != plan::Stream::COMPUTE) continue;
        ++here;
        if (!report_.acts.empty()) Idle(s, i, report_.step_s, static_cast<int32_t>(report_.acts.size()) - 1);
      }
      busy += report_.stages[s].compute_s;
      report_.exposed_comm_s += report_.stages[s].exposed_comm_s;
      report_.waiting_s += report_.stages[s].waiting_s;
      count += here;
      if (here > 1) report_.stages[s].compute_s /= static_cast<double>(here);
      if (here > 1) report_.stages[s].exposed_comm_s /= static_cast<double>(here);
      if (here > 1) report_.stages[s].waiting_s /= static_cast<double>(here);
    }
    if (count > 0) report_.exposed_comm_s /= static_cast<double>(count);
    if (count > 0) report_.waiting_s /= static_cast<double>(count);
    for (double& seconds : report_.exposed_s) seconds /= static_cast<double>(std::max<int64_t>(count, 1));
    const double whole = report_.step_s * static_cast<double>(count);
    // Rounding may leave a little less than nothing.
    if (whole > 0) report_.bubble_fraction = std::max(0.0, 1 - busy / whole);
  }

 private:
  plan::Stream::Kind KindOf(size_t stage, int stream) const { return programs_[stage].stage->streams(stream).kind(); }
  int StreamOf(const TimedAct& act) const { return programs_[act.stage].actor(act.actor).stream(); }
  // A collective, an end of a transfer, a copy from or to a tier, or what the host does there, on whatever stream.
  bool Communicates(const TimedAct& act) const {
    const plan::Actor& actor = programs_[act.stage].actor(act.actor);
    return actor.kernels_size() == 0 || plan::MovesTiers(actor) ||
           plan::TierOfWork(programs_[act.stage], act.actor) > 0;
  }

  // A collective of this stage, or a transfer that it sends or receives: both ends of one take the same time.
  bool IsOwn(size_t stage, const TimedAct& act) const {
    const plan::Actor& actor = programs_[act.stage].actor(act.actor);
    if (actor.end_case() == plan::Actor::END_NOT_SET) return Communicates(act) && act.stage == static_cast<int>(stage);
    const bool sends = actor.end_case() == plan::Actor::kSend;
    const plan::Transfer& transfer = programs_[0].plan->transfers(sends ? actor.send() : actor.receive());
    return transfer.source_stage() == static_cast<int>(stage) || transfer.target_stage() == static_cast<int>(stage);
  }

  // Acts of a stream come in its order, as it has one at a time.
  void Add(int32_t index) {
    const TimedAct& act = report_.acts[index];
    StageReport& stage = report_.stages[act.stage];
    const int stream = StreamOf(act);
    report_.step_s = std::max(report_.step_s, act.end_s);
    stage.sent_bytes += costs_[act.stage][act.actor].sent_bytes;
    if (Communicates(act)) stage.communication_s += act.end_s - act.begin_s;
    if (Communicates(act) || KindOf(act.stage, stream) != plan::Stream::COMPUTE) return;
    stage.compute_s += act.end_s - act.begin_s;
    Idle(act.stage, stream, act.begin_s, act.cause);
    streams_[act.stage][stream] = act.end_s;
  }

  // The stream did not compute until `end`, when the end of `cause` woke it.
  void Idle(size_t stage, int stream, double end, int32_t cause) {
    const double begin = streams_[stage][stream];
    while (cause >= 0 && end > begin) {
      const TimedAct& act = report_.acts[cause];
      const double since = std::max(act.begin_s, begin);
      StageReport& report = report_.stages[stage];
      const bool own = IsOwn(stage, act);
      (own ? report.exposed_comm_s : report.waiting_s) += end - since;
      if (own) report_.exposed_s[cause] += end - since;
      end = since;
      cause = act.cause;
    }
  }

  const absl::Span<const plan::Program> programs_;
  const Costs& costs_;
  Report& report_;
  std::vector<std::vector<double>> streams_;  // stage, stream: when it last ended computing
};

// What a step takes besides its acts: every stream waits for it.
void AddConstant(double seconds, Report& report) {
  const double busy = (1 - report.bubble_fraction) * report.step_s;
  report.step_s += seconds;
  report.waiting_s += seconds;
  for (StageReport& stage : report.stages) stage.waiting_s += seconds;
  if (seconds > 0) report.bubble_fraction = 1 - busy / report.step_s;
}

}  // namespace

absl::StatusOr<Report> Simulate(const plan::Plan& plan, const plan::Machine& machine, const Options& options) {
  const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
  const Costs costs = options.unit_times ? UnitCostsOf(programs) : CostsOf(programs, machine);
  absl::StatusOr<std::vector<TimedAct>> acts = RunStep(programs, costs, options.unit_times ? plan::Machine() : machine);
  if (!acts.ok()) return acts.status();
  Report report;
  report.acts = *std::move(acts);
  Reporter(programs, costs, &report).Run();
  if (!options.unit_times) AddConstant(machine.step_s, report);
  return report;
}

plan::Prediction PredictionOf(const Report& report) {
  plan::Prediction prediction;
  prediction.set_step_s(report.step_s);
  prediction.set_bubble_fraction(report.bubble_fraction);
  prediction.set_exposed_comm_s(report.exposed_comm_s);
  for (const StageReport& stage : report.stages) {
    prediction.set_compute_s(std::max(prediction.compute_s(), stage.compute_s));
    prediction.set_communication_s(std::max(prediction.communication_s(), stage.communication_s));
    prediction.set_communication_bytes(std::max(prediction.communication_bytes(), stage.sent_bytes));
  }
  return prediction;
}

void SetPrediction(const Report& report, plan::Plan* plan) {
  *plan->mutable_prediction() = PredictionOf(report);
  for (size_t s = 0; s < report.stages.size(); ++s) {
    plan->mutable_stages(static_cast<int>(s))->set_predicted_compute_s(report.stages[s].compute_s);
  }
}

}  // namespace weft::sim
