#include "runtime/actor/run_loop.h"

#include "absl/strings/str_cat.h"

namespace weft::actor {
namespace {

// The words of a stream in those of its program; null if they have no room for it.
std::atomic<int64_t>* StatusWordsOf(const ProgramSpec& spec, int stream) {
  const size_t begin = static_cast<size_t>(stream) * StreamStatus::kWords;
  return begin + StreamStatus::kWords <= spec.status_words.size() ? &spec.status_words[begin] : nullptr;
}

}  // namespace

RunLoop::RunLoop(const ProgramSpec& spec, int stream, std::vector<ActorState>& states, Fault& fault)
    : spec_(spec),
      stream_(stream),
      states_(states),
      fault_(fault),
      bell_(spec.spins),
      words_(StatusWordsOf(spec, stream) != nullptr ? StatusWordsOf(spec, stream) : own_) {}

absl::Status RunLoop::Step(int64_t before, int64_t step) {
  before_ = before;
  Say(StreamStatus::kStep, step);
  absl::Status status;
  for (Cursor cursor(spec_, stream_); !cursor.done() && status.ok(); cursor.Advance()) {
    status = Fire(cursor.actor(), {.step = step, .micro_batch = cursor.micro_batch()});
  }
  Say(StreamStatus::kActor, 0);
  return status;
}

absl::Status RunLoop::Fire(int actor, const ActIndex& act) {
  ActorState& state = states_[actor];
  Say(StreamStatus::kMicroBatch, act.micro_batch);
  Say(StreamStatus::kActor, actor + 1);
  const auto fired = [this](int peer) { return Fired(peer); };
  while (const Condition* unmet = Unmet(state.conditions, before_, act.micro_batch, fired)) {
    if (!Await(*unmet, act.micro_batch)) return fault_.status();
  }
  if (fault_.raised()) return fault_.status();
  const int64_t begin_ns = trace::NowNs();
  if (absl::Status status = spec_.actors[actor].work->Run(act); !status.ok()) {
    Fail(actor, act, status);
    return fault_.status();
  }
  const int64_t end_ns = trace::NowNs();
  state.busy_ns += end_ns - begin_ns;
  if (track_ != nullptr) {
    track_->Add({.name = actor,
                 .micro_batch = static_cast<int32_t>(act.micro_batch),
                 .step = act.step,
                 .begin_ns = begin_ns,
                 .end_ns = end_ns});
  }
  // One store publishes every register the actor writes and returns the
  // credits of those it reads.
  state.fired.store(state.fired.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  for (Bell* bell : state.bells) bell->Ring();
  acts_.store(acts_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return absl::OkStatus();
}

bool RunLoop::Await(const Condition& condition, int64_t micro_batch) {
  waits_for_.store(&condition, std::memory_order_release);
  Say(StreamStatus::kWaits, 1);
  const int64_t needed = condition.Needed(before_, micro_batch);
  bell_.Wait([&] { return Fired(condition.peer) >= needed || fault_.raised(); });
  Say(StreamStatus::kWaits, 0);
  waits_for_.store(nullptr, std::memory_order_release);
  return Fired(condition.peer) >= needed;
}

void RunLoop::Fail(int actor, const ActIndex& act, const absl::Status& error) {
  fault_.Raise(absl::Status(error.code(), absl::StrCat(spec_.where, ": ", actor::NameOfAct(spec_.actors[actor], act),
                                                       ": ", error.message())));
}

std::string RunLoop::NameOfAct() const {
  const int64_t index = Said(StreamStatus::kActor) - 1;
  if (index < 0) return "";
  return actor::NameOfAct(spec_.actors[index],
                          {.step = Said(StreamStatus::kStep), .micro_batch = Said(StreamStatus::kMicroBatch)});
}

std::string RunLoop::Waits() const {
  const int64_t index = Said(StreamStatus::kActor) - 1;
  if (index < 0) return Left();
  if (waits_for_.load(std::memory_order_acquire) != nullptr) return "";
  const std::string waiting = spec_.actors[index].work->Waiting();
  return waiting.empty() ? "" : absl::StrCat(NameOfAct(), " waits for ", waiting);
}

// All acts have returned; a GPU may still work for them.
std::string RunLoop::Left() const {
  for (const Actor& actor : spec_.actors) {
    if (actor.stream != stream_ || actor.work == nullptr) continue;
    const std::string left = actor.work->Left();
    if (!left.empty()) return absl::StrCat("actor `", actor.name, "` waits for ", left);
  }
  return "";
}

std::string RunLoop::Describe() const {
  const int64_t index = Said(StreamStatus::kActor) - 1;
  if (index < 0) return Left();
  const std::string act = NameOfAct();
  if (const Condition* c = waits_for_.load(std::memory_order_acquire)) {
    const Actor& peer = spec_.actors[c->peer];
    return absl::StrCat(act, " waits for ", c->credit ? "a free slot of register `" : "register `",
                        spec_.registers[c->reg].name, c->credit ? "`, which `" : "` of `", peer.name,
                        c->credit ? "` has not read, on stream `" : "` on stream `", spec_.streams[peer.stream].name,
                        "`");
  }
  const std::string waiting = spec_.actors[index].work->Waiting();
  return waiting.empty() ? absl::StrCat(act, " runs") : absl::StrCat(act, " waits for ", waiting);
}

}  // namespace weft::actor
