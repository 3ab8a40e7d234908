#include "runtime/semantics/execution.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/names.h"
#include "runtime/plan/tiles.h"

namespace weft::plan {
namespace {

using Clock = std::vector<int32_t>;

void Join(absl::Span<const int32_t> from, int32_t* into) {
  for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

// Where a stream stands.
struct StreamCursor {
  int stage = 0;
  const Stream* stream = nullptr;
  int run = 0;
  int64_t repeat = 0;
  int actor = 0;  // place in the run's list
  int32_t position = 0;
  Clock clock;  // of the last act, itself included

  // Steps over runs without actors.
  void Settle() {
    while (run < stream->runs_size() && actor >= stream->runs(run).actors_size()) {
      actor = 0;
      if (stream->runs(run).actors_size() == 0 || ++repeat >= stream->runs(run).repeat()) {
        repeat = 0;
        ++run;
      }
    }
  }
  bool done() const { return run >= stream->runs_size(); }
  int32_t head() const { return stream->runs(run).actors(actor); }
  int64_t micro_batch() const { return MicroBatchOf(stream->runs(run), actor, repeat); }
  void Advance() {
    ++actor;
    ++position;
    Settle();
  }
};

// What stops an act: `actor` has to fire for `micro_batch` first.
struct Wait {
  int stage = -1;  // -1: nothing stops it
  int32_t actor = 0;
  int64_t micro_batch = 0;
};

// Streams that may be able to go on, in their order.
class Awake {
 public:
  static constexpr size_t kNone = -1;
  explicit Awake(size_t streams = 0) : streams_(streams), words_(streams / 64 + 1, 0) {
    for (size_t s = 0; s < streams; ++s) Add(s);
  }

  void Add(size_t s) { words_[s / 64] |= uint64_t{1} << s % 64; }
  void Remove(size_t s) { words_[s / 64] &= ~(uint64_t{1} << s % 64); }
  // The first one that is not before `from`.
  size_t Next(size_t from) const {
    if (from >= streams_) return kNone;
    uint64_t word = words_[from / 64] >> from % 64 << from % 64;
    for (size_t w = from / 64; true; word = words_[w]) {
      if (word != 0) return w * 64 + std::countr_zero(word);
      if (++w == words_.size()) return kNone;
    }
  }

 private:
  size_t streams_;
  std::vector<uint64_t> words_;
};

class Interpreter {
 public:
  explicit Interpreter(absl::Span<const Program> programs) : programs_(programs), ends_(EndsOf(programs)) {
    for (const Program& program : programs) {
      base_.push_back(static_cast<int>(cursors_.size()));
      for (const Stream& stream : program.stage->streams()) {
        StreamCursor cursor;
        cursor.stage = program.index;
        cursor.stream = &stream;
        cursor.Settle();
        cursors_.push_back(std::move(cursor));
      }
      fired_.emplace_back(program.stage->actors_size(), 0);
    }
    for (StreamCursor& cursor : cursors_) cursor.clock.assign(cursors_.size(), 0);
    if (!programs.empty()) AddTransfers();
    registers_.resize(programs.size());
    needs_.resize(programs.size());
    parts_.resize(programs.size());
    for (const Program& program : programs) {
      AddRegisters(program);
      for (int32_t a = 0; a < program.stage->actors_size(); ++a) AddPart(program, a);
    }
    awake_ = Awake(cursors_.size());
    sleepers_.resize(cursors_.size());
  }

  // Each stream runs until it blocks, in turn.
  absl::Status Run(const Visit& visit) {
    size_t s = awake_.Next(0);
    while (s != Awake::kNone) {
      while (MayFire(s)) {
        if (absl::Status status = Fire(s, visit); !status.ok()) return status;
      }
      s = awake_.Next(s + 1);
      if (s == Awake::kNone) s = awake_.Next(0);
    }
    for (size_t s = 0; s < cursors_.size(); ++s) {
      if (!cursors_[s].done()) return Blocked(s);
    }
    return absl::OkStatus();
  }

 private:
  // Clocks of one register: of the act that filled a slot, and joined over the
  // acts that emptied it; slots after slots. Empty if writer and readers are on
  // one stream, whose own clock never goes back and says it all.
  struct Register {
    Clock filled, emptied;
  };
  // What an act needs of the registers: that `actor` has fired for micro-batch
  // `shift`, counted from the act's own unless it is absolute.
  struct Need {
    int32_t actor = 0;
    int32_t buffer = 0;
    int64_t shift = 0;
    bool absolute = false;
    bool slot = false;  // a free slot to write, not a full one to read
  };
  // A register whose clocks an act reads or writes.
  struct Link {
    int32_t buffer = 0;
    int32_t slots = 1;  // the micro-batch says which one, if they are several
    int32_t slot = 0;   // the one, if not
  };
  // What an actor does, found once: to look into the plan once an act would take
  // longer than the act.
  struct Part {
    int32_t needs = 0, last_need = 0;         // in needs_
    int32_t reads = 0, writes = 0, last = 0;  // in links_: reads, then writes
    int32_t stream = 0;                       // of the stage
    int32_t transfer = -1;
    bool sends = false, receives = false, micro = false;
  };
  // A stream that sleeps until an actor has fired for a micro-batch.
  struct Sleeper {
    int32_t actor = 0;
    int64_t micro_batch = 0;
    size_t stream = 0;
  };

  void AddRegisters(const Program& program) {
    std::vector<Register>& registers = registers_[program.index];
    registers.resize(program.root.size());
    for (size_t b = 0; b < registers.size(); ++b) {
      const int32_t writer = program.writer[b];
      const auto elsewhere = [&](int32_t reader) {
        return writer < 0 || program.actor(reader).stream() != program.actor(writer).stream();
      };
      if (std::none_of(program.readers[b].begin(), program.readers[b].end(), elsewhere)) continue;
      registers[b].filled.assign(program.buffer(b).slots() * cursors_.size(), 0);
      registers[b].emptied = registers[b].filled;
    }
  }

  void AddPart(const Program& program, int32_t a) {
    const Actor& actor = program.actor(a);
    Part part;
    part.stream = actor.stream();
    part.micro = program.micro(a);
    part.sends = actor.end_case() == Actor::kSend;
    part.receives = actor.end_case() == Actor::kReceive;
    if (part.sends || part.receives) part.transfer = part.sends ? actor.send() : actor.receive();
    std::vector<Need>& needs = needs_[program.index];
    part.needs = static_cast<int32_t>(needs.size());
    AddNeeds(program, a, needs);
    part.last_need = static_cast<int32_t>(needs.size());
    part.reads = static_cast<int32_t>(links_.size());
    for (int32_t b : actor.reads()) AddLink(program, a, b);
    part.writes = static_cast<int32_t>(links_.size());
    for (int32_t b : actor.writes()) AddLink(program, a, b);
    part.last = static_cast<int32_t>(links_.size());
    parts_[program.index].push_back(part);
  }

  void AddLink(const Program& program, int32_t a, int32_t b) {
    if (registers_[program.index][b].filled.empty()) return;
    const bool by_micro_batch = program.micro(a) && program.slots[b] > 1;
    links_.push_back({b, by_micro_batch ? program.slots[b] : 1, static_cast<int32_t>(program.SlotOf(a, b, 0))});
  }

  static void AddNeeds(const Program& program, int32_t a, std::vector<Need>& needs) {
    for (int32_t b : program.actor(a).reads()) {
      const int32_t writer = program.writer[b];
      if (program.micro(a) && program.micro(writer)) {
        needs.push_back({writer, b, 0, false, false});
      } else {
        needs.push_back({writer, b, program.micro(writer) ? program.micro_batches - 1 : 0, true, false});
      }
    }
    for (int32_t b : program.actor(a).writes()) {
      for (int32_t reader : program.readers[b]) {
        if (!program.micro(a) || !program.micro(reader)) continue;  // a slot of its own
        needs.push_back({reader, b, -int64_t{program.buffer(b).slots()}, false, true});
      }
    }
  }

  void AddTransfers() {
    sent_.assign(ends_.size(), Clock(cursors_.size(), 0));
    for (const Transfer& transfer : programs_[0].plan->transfers()) {
      straight_.push_back(IsStraight(*programs_[0].plan, transfer));
    }
  }

  int StreamOf(int stage, int32_t actor) const { return base_[stage] + parts_[stage][actor].stream; }
  const Part& PartOf(const StreamCursor& cursor) const { return parts_[cursor.stage][cursor.head()]; }
  int64_t MicroBatchOf(const StreamCursor& cursor) const { return PartOf(cursor).micro ? cursor.micro_batch() : 0; }

  // Registers alone: what the other end of a transfer does is WaitOf's. `need`,
  // if not null, becomes the one that is not met.
  Wait RegisterWaitOf(const StreamCursor& cursor, const Need** need = nullptr) const {
    const std::vector<int64_t>& fired = fired_[cursor.stage];
    const int64_t i = cursor.micro_batch();
    const Part& part = PartOf(cursor);
    const absl::Span<const Need> all(needs_[cursor.stage]);
    for (const Need& next : all.subspan(part.needs, part.last_need - part.needs)) {
      const int64_t needed = next.shift + (next.absolute ? 0 : i);
      if (fired[next.actor] > needed) continue;
      if (need != nullptr) *need = &next;
      return {cursor.stage, next.actor, needed};
    }
    return {};
  }

  // The other end of the head's transfer: its stage and actor, stage -1 if none.
  Wait PeerOf(const StreamCursor& cursor) const {
    const Part& part = PartOf(cursor);
    if (part.transfer < 0) return {};
    const Transfer& transfer = programs_[0].plan->transfers(part.transfer);
    const TransferEnds& ends = ends_[part.transfer];
    return {part.sends ? transfer.target_stage() : transfer.source_stage(), part.sends ? ends.receiver : ends.sender,
            MicroBatchOf(cursor)};
  }

  // True if the stream has come to the peer's act.
  bool IsAt(const StreamCursor& cursor, const Wait& act) const {
    return !cursor.done() && cursor.head() == act.actor && MicroBatchOf(cursor) == act.micro_batch;
  }

  Wait WaitOf(const StreamCursor& cursor) const {
    const Wait wait = RegisterWaitOf(cursor);
    if (wait.stage >= 0) return wait;
    const Wait peer = PeerOf(cursor);
    if (peer.stage < 0) return peer;
    if (PartOf(cursor).receives) {
      // Having fired, a sender waits for nobody any more.
      return fired_[peer.stage][peer.actor] > peer.micro_batch ? Wait() : peer;
    }
    const StreamCursor& other = cursors_[StreamOf(peer.stage, peer.actor)];
    return IsAt(other, peer) && RegisterWaitOf(other).stage < 0 ? Wait() : peer;
  }

  // If not, the stream sleeps until what stops it has changed.
  bool MayFire(size_t s) {
    if (!cursors_[s].done()) {
      Wait wait = WaitOf(cursors_[s]);
      if (wait.stage < 0) return true;
      const size_t there = StreamOf(wait.stage, wait.actor);
      // A receiver that is there but waits itself.
      if (PartOf(cursors_[s]).sends && wait.stage != cursors_[s].stage && IsAt(cursors_[there], wait)) {
        const Wait further = RegisterWaitOf(cursors_[there]);
        if (further.stage >= 0) wait = further;
      }
      sleepers_[StreamOf(wait.stage, wait.actor)].push_back({wait.actor, wait.micro_batch, s});
    }
    awake_.Remove(s);
    return false;
  }

  // After an act of a stream: it has fired, or what comes next is there.
  void Wake(size_t s, int32_t actor) {
    std::vector<Sleeper>& sleepers = sleepers_[s];
    const StreamCursor& cursor = cursors_[s];
    for (size_t i = 0; i < sleepers.size();) {
      const Sleeper& sleeper = sleepers[i];
      const bool fired = sleeper.actor == actor && fired_[cursor.stage][actor] > sleeper.micro_batch;
      if (fired || IsAt(cursor, {cursor.stage, sleeper.actor, sleeper.micro_batch})) {
        awake_.Add(sleeper.stream);
        sleepers[i] = sleepers.back();
        sleepers.pop_back();
      } else {
        ++i;
      }
    }
  }

  absl::Status Fire(int s, const Visit& visit) {
    StreamCursor& cursor = cursors_[s];
    const Part& part = PartOf(cursor);
    Act act{cursor.stage, cursor.head(), MicroBatchOf(cursor), s, cursor.position, {}};
    Gather(part, act, cursor.clock);
    act.before = cursor.clock;
    if (absl::Status status = visit(act); !status.ok()) return status;
    cursor.clock[s] = act.position + 1;
    Spread(part, act, cursor.clock);
    ++fired_[act.stage][act.actor];
    cursor.Advance();
    if (!sleepers_[s].empty()) Wake(s, act.actor);
    return absl::OkStatus();
  }

  absl::Span<const Link> ReadsOf(const Part& part) const {
    return absl::MakeSpan(links_).subspan(part.reads, part.writes - part.reads);
  }
  absl::Span<const Link> WritesOf(const Part& part) const {
    return absl::MakeSpan(links_).subspan(part.writes, part.last - part.writes);
  }
  absl::Span<int32_t> SlotOf(const Link& link, const Act& act, Clock& clock) const {
    const int64_t slot = link.slots > 1 ? act.micro_batch % link.slots : link.slot;
    return absl::MakeSpan(clock).subspan(slot * cursors_.size(), cursors_.size());
  }

  // Joins what has to end before the act into its stream's clock.
  void Gather(const Part& part, const Act& act, Clock& clock) {
    std::vector<Register>& registers = registers_[act.stage];
    for (const Link& link : ReadsOf(part)) Join(SlotOf(link, act, registers[link.buffer].filled), clock.data());
    for (const Link& link : WritesOf(part)) {
      const absl::Span<int32_t> emptied = SlotOf(link, act, registers[link.buffer].emptied);
      Join(emptied, clock.data());
      std::fill(emptied.begin(), emptied.end(), 0);
    }
    if (part.receives && straight_[part.transfer]) Join(sent_[part.transfer], clock.data());
  }

  // Tells those that wait for the act what has ended with it.
  void Spread(const Part& part, const Act& act, const Clock& clock) {
    std::vector<Register>& registers = registers_[act.stage];
    for (const Link& link : WritesOf(part)) {
      std::copy(clock.begin(), clock.end(), SlotOf(link, act, registers[link.buffer].filled).begin());
    }
    for (const Link& link : ReadsOf(part)) {
      if (part.micro) Join(clock, SlotOf(link, act, registers[link.buffer].emptied).data());
    }
    if (part.sends) sent_[part.transfer] = clock;
  }

  // Every stream that has not ended waits for an act of one that has not ended
  // either, so that following the waits comes to a cycle.
  absl::Status Blocked(int s) const {
    std::vector<int> order(cursors_.size(), -1);
    std::vector<int> path;
    while (order[s] < 0) {
      order[s] = static_cast<int>(path.size());
      path.push_back(s);
      const Wait wait = WaitOf(cursors_[s]);
      s = StreamOf(wait.stage, wait.actor);
    }
    std::vector<std::string> waits;
    for (size_t i = order[s]; i < path.size(); ++i) waits.push_back(Explain(cursors_[path[i]]));
    return absl::FailedPreconditionError(absl::StrCat("blocked: ", absl::StrJoin(waits, "; ")));
  }

  // What a wait is for.
  std::string WhyText(const StreamCursor& cursor, const Wait& wait) const {
    const Program& program = programs_[cursor.stage];
    const std::string act = ActText(programs_[wait.stage].actor(wait.actor), wait.micro_batch);
    const Need* need = nullptr;
    if (RegisterWaitOf(cursor, &need); need != nullptr) {
      return absl::StrCat(act, need->slot ? " to free a slot of register `" : " to fill register `",
                          program.buffer(need->buffer).name(), "`");
    }
    return absl::StrCat(act, program.actor(cursor.head()).end_case() == Actor::kSend ? " to receive" : " to send");
  }

  std::string Explain(const StreamCursor& cursor) const {
    const Wait wait = WaitOf(cursor);
    const Program& program = programs_[cursor.stage];
    std::string text =
        absl::StrCat(ActText(program.actor(cursor.head()), MicroBatchOf(cursor)), " on stream `", cursor.stream->name(),
                     "` of stage ", cursor.stage, " waits for ", WhyText(cursor, wait));
    const StreamCursor& other = cursors_[StreamOf(wait.stage, wait.actor)];
    if (other.head() == wait.actor && MicroBatchOf(other) == wait.micro_batch) return text;
    return absl::StrCat(text, ", which comes after ",
                        ActText(programs_[other.stage].actor(other.head()), MicroBatchOf(other)));
  }

  const absl::Span<const Program> programs_;
  std::vector<int> base_;  // a stage each: its first stream
  std::vector<StreamCursor> cursors_;
  std::vector<std::vector<int64_t>> fired_;       // stage, actor: how many acts
  std::vector<std::vector<Register>> registers_;  // stage, buffer
  std::vector<std::vector<Need>> needs_;          // a stage each
  std::vector<Link> links_;
  std::vector<std::vector<Part>> parts_;  // stage, actor
  const std::vector<TransferEnds> ends_;
  // A transfer each: the clock of its last send; the receive follows at once.
  std::vector<Clock> sent_;
  std::vector<bool> straight_;  // a transfer each
  Awake awake_;
  std::vector<std::vector<Sleeper>> sleepers_;  // by the stream that wakes them
};

}  // namespace

absl::Status Execute(absl::Span<const Program> programs, const Visit& visit) {
  return Interpreter(programs).Run(visit);
}

}  // namespace weft::plan
