#include "runtime/sim/clock.h"

#include "runtime/actor/conditions.h"
#include "runtime/executor/program_spec.h"
#include "runtime/semantics/execution.h"
#include "runtime/sim/under_way.h"

namespace weft::sim {
namespace {

// One stream of a stage: the act it stands at, and whether that one is under way.
struct Stream {
  actor::Cursor cursor;
  bool busy = false;
};

// The representative rank of a stage.
struct Rank {
  actor::ProgramSpec spec;
  std::vector<std::vector<actor::Condition>> conditions;  // an actor each
  std::vector<int64_t> fired;                             // an actor each
  std::vector<Stream> streams;                            // point into spec
};

class Clock {
 public:
  Clock(absl::Span<const plan::Program> programs, const Costs& costs, const plan::Machine& machine)
      : programs_(programs),
        costs_(costs),
        ranks_(programs.size()),
        ends_(plan::EndsOf(programs)),
        under_way_(programs, machine) {
    for (size_t s = 0; s < ranks_.size(); ++s) {
      const plan::Program& program = programs[s];
      Rank& rank = ranks_[s];
      rank.spec = executor::ProgramSpecOf(program, program.placement->ranks(0));
      rank.conditions = actor::ConditionsOf(rank.spec);
      rank.fired.assign(rank.spec.actors.size(), 0);
      for (size_t i = 0; i < rank.spec.streams.size(); ++i) {
        rank.streams.push_back({actor::Cursor(rank.spec, static_cast<int>(i))});
      }
    }
  }

  absl::StatusOr<std::vector<TimedAct>> Run() {
    for (size_t s = 0; s < ranks_.size(); ++s) BeginAll(static_cast<int32_t>(s), 0, -1);
    while (!under_way_.empty()) {
      const UnderWay::RunningAct ending = under_way_.Pop();
      End(ending);
      BeginAll(ending.stage, ending.end_s, static_cast<int32_t>(acts_.size()) - 1);
    }
    for (const Rank& rank : ranks_) {
      for (const Stream& stream : rank.streams) {
        if (stream.cursor.done()) continue;
        const absl::Status blocked = Blocked();
        return blocked.ok() ? absl::InternalError("blocked where the verifier is not") : blocked;
      }
    }
    return std::move(acts_);
  }

 private:
  // Ends an act: publishes what it wrote and returns the credits of what it read.
  void End(const UnderWay::RunningAct& ending) {
    Rank& rank = ranks_[ending.stage];
    Stream& stream = rank.streams[ending.stream];
    acts_.push_back(
        {ending.stage, stream.cursor.actor(), stream.cursor.micro_batch(), ending.begin_s, ending.end_s, ending.cause});
    ++rank.fired[stream.cursor.actor()];
    stream.busy = false;
    stream.cursor.Advance();
  }

  // Begins what may begin on a stage, now that one of its acts has ended.
  void BeginAll(int32_t s, double now, int32_t cause) {
    for (int32_t i = 0; i < static_cast<int32_t>(ranks_[s].streams.size()); ++i) {
      if (!Ready(s, i)) continue;
      const plan::Actor& actor = programs_[s].actor(ranks_[s].streams[i].cursor.actor());
      if (actor.end_case() == plan::Actor::END_NOT_SET) {
        Begin(s, i, now, cause);
        continue;
      }
      const auto [peer, stream] = PeerOf(actor);
      if (!Meets(s, i, actor, peer, stream)) continue;
      Begin(s, i, now, cause);
      Begin(peer, stream, now, cause);
    }
  }

  // Whether the act at the head of a stream may begin, but for its peer.
  bool Ready(int32_t s, int32_t i) const {
    const Rank& rank = ranks_[s];
    const Stream& stream = rank.streams[i];
    if (stream.busy || stream.cursor.done()) return false;
    const auto fired = [&](int peer) { return rank.fired[peer]; };
    return actor::Unmet(rank.conditions[stream.cursor.actor()], 0, stream.cursor.micro_batch(), fired) == nullptr;
  }

  // Stage and stream of the other end of a transfer.
  std::pair<int32_t, int32_t> PeerOf(const plan::Actor& actor) const {
    const bool sends = actor.end_case() == plan::Actor::kSend;
    const int32_t t = sends ? actor.send() : actor.receive();
    const plan::Transfer& transfer = programs_[0].plan->transfers(t);
    const int32_t stage = sends ? transfer.target_stage() : transfer.source_stage();
    return {stage, programs_[stage].actor(sends ? ends_[t].receiver : ends_[t].sender).stream()};
  }

  // Whether the other end is ready too, for the same micro-batch.
  bool Meets(int32_t s, int32_t i, const plan::Actor& actor, int32_t peer, int32_t stream) const {
    if (!Ready(peer, stream)) return false;
    const actor::Cursor& here = ranks_[s].streams[i].cursor;
    const actor::Cursor& there = ranks_[peer].streams[stream].cursor;
    const bool sends = actor.end_case() == plan::Actor::kSend;
    const plan::TransferEnds& ends = ends_[sends ? actor.send() : actor.receive()];
    return there.actor() == (sends ? ends.receiver : ends.sender) && there.micro_batch() == here.micro_batch();
  }

  void Begin(int32_t s, int32_t i, double now, int32_t cause) {
    Stream& stream = ranks_[s].streams[i];
    stream.busy = true;
    const plan::Actor& actor = programs_[s].actor(stream.cursor.actor());
    const bool sends = actor.end_case() == plan::Actor::kSend;
    const bool below = plan::MovesTiers(actor) || plan::TierOfWork(programs_[s], stream.cursor.actor()) > 0;
    under_way_.Add({.stage = s,
                    .stream = i,
                    .begin_s = now,
                    .end_s = now + costs_[s][stream.cursor.actor()].seconds,
                    .cause = cause,
                    .computes = !sends && !below,
                    .kernels = actor.kernels_size() > 0 && !below,
                    .collective = actor.collectives_size() > 0,
                    .paced_by = sends ? programs_[0].plan->transfers(actor.send()).target_stage() : s});
  }

  // The verifier's execution finds the same block, and names its cycle.
  absl::Status Blocked() const {
    return plan::Execute(programs_, [](const plan::Act&) { return absl::OkStatus(); });
  }

  const absl::Span<const plan::Program> programs_;
  const Costs& costs_;
  std::vector<Rank> ranks_;
  const std::vector<plan::TransferEnds> ends_;
  UnderWay under_way_;
  std::vector<TimedAct> acts_;
};

}  // namespace

absl::StatusOr<std::vector<TimedAct>> RunStep(absl::Span<const plan::Program> programs, const Costs& costs,
                                              const plan::Machine& machine) {
  return Clock(programs, costs, machine).Run();
}

}  // namespace weft::sim
