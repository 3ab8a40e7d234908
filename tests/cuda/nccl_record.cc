#include "tests/cuda/nccl_record.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/collective/nccl/communicator.h"
#include "runtime/executor/links.h"
#include "runtime/executor/program_spec.h"
#include "runtime/plan/layout.h"

namespace weft::tests {
namespace {

// A GPU that does nothing: what is moved does not matter here.
class NoGpu : public Gpu {
 public:
  const GpuProperties& properties() const override { return properties_; }
  absl::StatusOr<void*> Find(const std::string&, const std::string&, size_t, int64_t) override { return this; }
  absl::StatusOr<std::shared_ptr<void>> Allocate(size_t) override { return std::make_shared<char>(); }
  absl::StatusOr<std::shared_ptr<GpuAlarm>> CreateAlarm(std::function<absl::Status(const GpuAlarm&)>) override {
    return absl::UnimplementedError("no alarm");
  }
  absl::Status Launch(void*, const GpuGrid&, const void*, void*) override { return absl::OkStatus(); }
  absl::Status Copy(void*, const void*, size_t, void*) override { return absl::OkStatus(); }
  absl::Status Fill(void*, uint8_t, size_t, void*) override { return absl::OkStatus(); }
  absl::StatusOr<std::shared_ptr<void>> CreateEvent() override { return std::make_shared<char>(); }
  absl::Status Record(void*, void*) override { return absl::OkStatus(); }
  absl::Status Wait(void*, void*) override { return absl::OkStatus(); }
  absl::StatusOr<bool> Reached(void*) override { return true; }

 private:
  const GpuProperties properties_;
};

// The same number for the same name on all ranks, as an id.
class Numbers : public collective::NcclIds {
 public:
  explicit Numbers(std::vector<collective::NcclName>* names) : names_(*names) {}
  absl::StatusOr<std::vector<nccl::UniqueId>> Exchange(const std::vector<collective::NcclName>& names) override {
    std::vector<nccl::UniqueId> ids(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const auto [found, is_new] = numbers_.try_emplace(names[i].Key(), static_cast<int>(names_.size()));
      if (is_new) names_.push_back(names[i]);
      std::memcpy(ids[i].bytes, &found->second, sizeof(int));
    }
    return ids;
  }

 private:
  std::vector<collective::NcclName>& names_;
  std::map<std::string, int> numbers_;
};

// NCCL of one rank, which notes its calls.
class Recorder {
 public:
  Recorder() {
    using nccl::CallKind, nccl::Comm, nccl::kSuccess, nccl::Stream, nccl::Type;
    table_.GetErrorString = [](nccl::Result) { return "recorded"; };
    table_.GetLastError = [](Comm) { return ""; };
    table_.CommInitRankConfig = [this](Comm* comm, int, nccl::UniqueId id, int member, nccl::Config*) {
      int number = 0;
      std::memcpy(&number, id.bytes, sizeof(int));
      comms_.push_back(std::make_unique<NcclLaunch>(NcclLaunch{.comm = number, .member = member}));
      return *comm = comms_.back().get(), kSuccess;
    };
    table_.CommGetAsyncError = [](Comm, nccl::Result* error) { return *error = kSuccess, kSuccess; };
    table_.CommFinalize = table_.CommDestroy = table_.CommAbort = [](Comm) { return kSuccess; };
    table_.GroupStart = [this] { return group_.calls.clear(), kSuccess; };
    table_.GroupEnd = [this] {
      if (!group_.calls.empty()) launches.push_back(group_);
      return kSuccess;
    };
    const auto reducing = [this](CallKind kind) {
      return [this, kind](const void*, void*, size_t count, Type type, nccl::Reduction reduction, Comm comm, Stream) {
        return Add({.kind = kind, .count = count, .type = type, .reduction = reduction}, comm);
      };
    };
    table_.AllReduce = reducing(CallKind::kAllReduce);
    table_.ReduceScatter = reducing(CallKind::kReduceScatter);
    table_.AllGather = [this](const void*, void*, size_t count, Type type, Comm comm, Stream) {
      return Add({.kind = CallKind::kAllGather, .count = count, .type = type}, comm);
    };
    table_.Send = [this](const void*, size_t count, Type type, int peer, Comm comm, Stream) {
      return Add({.kind = CallKind::kSend, .count = count, .type = type, .peer = peer}, comm);
    };
    table_.Recv = [this](void*, size_t count, Type type, int peer, Comm comm, Stream) {
      return Add({.kind = CallKind::kRecv, .count = count, .type = type, .peer = peer}, comm);
    };
  }
  const nccl::Nccl& table() const { return table_; }

  std::vector<NcclLaunch> launches;  // so far

 private:
  nccl::Result Add(const nccl::Call& call, nccl::Comm comm) {
    const auto* const it = static_cast<const NcclLaunch*>(comm);
    group_.comm = it->comm;
    group_.member = it->member;
    group_.calls.push_back(call);
    return nccl::kSuccess;
  }

  nccl::Nccl table_;
  std::vector<std::unique_ptr<NcclLaunch>> comms_;  // without calls
  NcclLaunch group_;
};

absl::StatusOr<NcclRank> RecordRank(const plan::Program& program, int64_t index, int ranks, Numbers& numbers) {
  NcclRank made{.rank = program.placement->ranks(static_cast<int>(index))};
  const executor::RankPlace place{&program, index, made.rank, plan::Coordinates(*program.placement, index)};
  NoGpu gpu;
  Recorder recorder;
  collective::NcclCommunicator communicator(
      {.nccl = &recorder.table(), .gpu = &gpu, .ids = &numbers, .rank = made.rank, .size = ranks});
  const std::vector<int> channels = executor::ChannelsOf(*program.stage);
  std::vector<executor::ActorOperation> operations;
  for (int a = 0; a < program.stage->actors_size(); ++a) {
    auto operation = executor::OperationOf(place, program.actor(a), channels[a], communicator);
    if (!operation.ok()) return operation.status();
    operations.push_back(*std::move(operation));
  }
  if (absl::Status status = communicator.Connect(); !status.ok()) return status;
  made.spec = executor::ProgramSpecOf(program, made.rank);
  made.conditions = actor::ConditionsOf(made.spec);
  for (size_t s = 0; s < made.spec.streams.size(); ++s) {
    std::vector<NcclAct>& acts = made.streams.emplace_back();
    for (actor::Cursor cursor(made.spec, static_cast<int>(s)); !cursor.done(); cursor.Advance()) {
      acts.push_back({.actor = cursor.actor(), .micro_batch = cursor.micro_batch()});
      const executor::ActorOperation& it = operations[cursor.actor()];
      if (it.operation == nullptr) continue;
      const std::vector<const void*> inputs(it.inputs.size(), nullptr);
      std::vector<void*> outputs(it.outputs.size(), nullptr);
      recorder.launches.clear();
      if (absl::Status status = it.operation->Run(inputs, absl::MakeSpan(outputs), &s); !status.ok()) return status;
      acts.back().launches = recorder.launches;
    }
  }
  return made;
}

// How a step goes: what has been reached.
class Walk {
 public:
  explicit Walk(const NcclRecord& record) : record_(record) {
    for (const auto& comm : record.comms) arrived_.emplace_back(comm.ranks.size(), 0);
    for (const NcclRank& rank : record.ranks) {
      fired_.emplace_back(rank.spec.actors.size(), 0);
      heads_.emplace_back(rank.streams.size());
    }
  }

  // True if any stream has moved.
  bool Sweep() {
    bool moved = false;
    for (size_t r = 0; r < heads_.size(); ++r) {
      for (size_t s = 0; s < heads_[r].size(); ++s) {
        while (Advance(r, s)) moved = true;
      }
    }
    return moved;
  }

  // The streams that are not at their end.
  std::vector<std::string> Stuck() const {
    std::vector<std::string> lines;
    for (size_t r = 0; r < heads_.size(); ++r) {
      for (size_t s = 0; s < heads_[r].size(); ++s) {
        const NcclRank& rank = record_.ranks[r];
        const Head& head = heads_[r][s];
        if (head.act == rank.streams[s].size()) continue;
        const NcclAct& act = rank.streams[s][head.act];
        lines.push_back(absl::StrCat(
            "rank ", rank.rank, ", stream ", rank.spec.streams[s].name, ": actor `", rank.spec.actors[act.actor].name,
            "`, micro-batch ", act.micro_batch,
            head.waits ? absl::StrCat(" at ", record_.comms[act.launches[head.launch].comm].title) : " has not begun"));
      }
    }
    return lines;
  }

 private:
  struct Head {
    size_t act = 0, launch = 0;
    bool waits = false;  // has come to its launch
  };

  // One launch, or the end of an act.
  bool Advance(size_t r, size_t s) {
    const NcclRank& rank = record_.ranks[r];
    Head& head = heads_[r][s];
    if (head.act == rank.streams[s].size()) return false;
    const NcclAct& act = rank.streams[s][head.act];
    const auto fired = [&](int peer) { return fired_[r][peer]; };
    if (actor::Unmet(rank.conditions[act.actor], 0, act.micro_batch, fired) != nullptr) return false;
    if (head.launch < act.launches.size()) {
      const NcclLaunch& launch = act.launches[head.launch];
      int64_t& mine = arrived_[launch.comm][launch.member];
      if (!head.waits) ++mine;
      const bool came = !head.waits;
      head.waits = true;
      const std::vector<int64_t>& all = arrived_[launch.comm];
      if (std::any_of(all.begin(), all.end(), [&](int64_t it) { return it < mine; })) return came;
      head.waits = false;
      ++head.launch;
      return true;
    }
    ++fired_[r][act.actor];
    ++head.act;
    head.launch = 0;
    return true;
  }

  const NcclRecord& record_;
  std::vector<std::vector<int64_t>> arrived_;  // groups, by communicator and member
  std::vector<std::vector<int64_t>> fired_;    // acts, by rank and actor
  std::vector<std::vector<Head>> heads_;
};

}  // namespace

int64_t NcclRecord::launches() const {
  int64_t count = 0;
  for (const NcclRank& rank : ranks) {
    for (const auto& stream : rank.streams) {
      for (const NcclAct& act : stream) count += static_cast<int64_t>(act.launches.size());
    }
  }
  return count;
}

absl::StatusOr<NcclRecord> RecordNccl(const plan::Plan& plan) {
  NcclRecord record;
  Numbers numbers(&record.comms);
  int ranks = 0;
  for (const plan::Stage& stage : plan.stages()) {
    for (int rank : plan.placements(stage.placement()).ranks()) ranks = std::max(ranks, rank + 1);
  }
  const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
  for (const plan::Program& program : programs) {
    for (int64_t i = 0; i < program.placement->ranks_size(); ++i) {
      absl::StatusOr<NcclRank> rank = RecordRank(program, i, ranks, numbers);
      if (!rank.ok()) return rank.status();
      record.ranks.push_back(*std::move(rank));
    }
  }
  return record;
}

absl::Status CheckCallsMeet(const NcclRecord& record) {
  // By communicator and member: its groups, and the stream that has them.
  std::vector<std::vector<std::vector<const nccl::CallGroup*>>> groups;
  for (const auto& comm : record.comms) groups.emplace_back(comm.ranks.size());
  for (const NcclRank& rank : record.ranks) {
    std::map<int, size_t> stream_of;
    for (size_t s = 0; s < rank.streams.size(); ++s) {
      for (const NcclAct& act : rank.streams[s]) {
        for (const NcclLaunch& launch : act.launches) {
          groups[launch.comm][launch.member].push_back(&launch.calls);
          if (stream_of.try_emplace(launch.comm, s).first->second != s) {
            return absl::InternalError(absl::StrCat("rank ", rank.rank, ": ", record.comms[launch.comm].title,
                                                    ": expected one stream, got two"));
          }
        }
      }
    }
  }
  for (size_t c = 0; c < groups.size(); ++c) {
    const std::vector<int>& ranks = record.comms[c].ranks;
    for (size_t a = 0; a < ranks.size(); ++a) {
      for (size_t b = a + 1; b < ranks.size(); ++b) {
        const auto &mine = groups[c][a], &theirs = groups[c][b];
        for (size_t i = 0; i < std::max(mine.size(), theirs.size()); ++i) {
          const std::string text = i < mine.size() ? nccl::TextOf(*mine[i]) : "nothing";
          const std::string other = i < theirs.size() ? nccl::TextOf(*theirs[i]) : "nothing";
          if (i < mine.size() && i < theirs.size() &&
              nccl::Meet(*mine[i], static_cast<int>(a), *theirs[i], static_cast<int>(b))) {
            continue;
          }
          return absl::InternalError(absl::StrCat(record.comms[c].title, ", group #", i + 1, ": rank ", ranks[a],
                                                  " issues ", text, ", rank ", ranks[b], " issues ", other));
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNoDeadlock(const NcclRecord& record) {
  Walk walk(record);
  while (walk.Sweep()) {
  }
  const std::vector<std::string> stuck = walk.Stuck();
  return stuck.empty() ? absl::OkStatus() : absl::InternalError(absl::StrJoin(stuck, "\n"));
}

}  // namespace weft::tests
