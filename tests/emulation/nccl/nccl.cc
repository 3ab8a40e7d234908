#include "tests/emulation/nccl/nccl.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/collective/reduce.h"
#include "runtime/collective/spec.h"
#include "tests/emulation/nccl/calls.h"

namespace weft::nccl {
namespace {

// How often a call that has ended is said to be in progress.
constexpr int kPolls = 2;

struct Clique;

// A communicator's handle.
struct Member {
  Clique* clique = nullptr;
  int rank = 0;
  bool ended = false;
  int polls = 0;  // how often it is still in progress
  Result error = kSuccess;
  std::string text;
  std::vector<CallGroup> groups;  // issued
  size_t arrived = 0;             // groups that its stream has reached
};

struct Clique {
  std::vector<std::unique_ptr<Member>> members;  // null: has not come
  size_t done = 0;                               // groups whose data have moved
  bool failed = false;
  bool complete() const {
    return std::all_of(members.begin(), members.end(), [](const auto& it) { return it != nullptr; });
  }
};

void Move(const Clique& clique, size_t g) {
  const size_t n = clique.members.size();
  const CallGroup& first = clique.members[0]->groups[g];
  for (size_t c = 0; c < first.size(); ++c) {
    if (first[c].point_to_point()) continue;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const auto& member : clique.members) {
      inputs.push_back(member->groups[g][c].from);
      outputs.push_back(member->groups[g][c].to);
    }
    const Call& call = first[c];
    if (call.kind == CallKind::kAllGather) {
      for (void* output : outputs) {
        for (size_t k = 0; k < n; ++k) {
          std::memcpy(static_cast<char*>(output) + k * call.bytes(), inputs[k], call.bytes());
        }
      }
      continue;
    }
    const auto reduction = call.reduction == kMax ? collective::Reduction::kMax : collective::Reduction::kSum;
    const auto reduce = *collective::ReducerFor(TypeFrom(call.type), reduction);
    const auto count = static_cast<int64_t>(call.count);
    if (call.kind == CallKind::kAllReduce) {
      reduce(inputs.data(), static_cast<int>(n), 0, outputs.data(), static_cast<int>(n), 0, count);
      continue;
    }
    for (size_t m = 0; m < n; ++m) {
      reduce(inputs.data(), static_cast<int>(n), static_cast<int64_t>(m * call.bytes()), &outputs[m], 1, 0, count);
    }
  }
  for (const auto& sender : clique.members) {
    std::map<int, size_t> sent;  // to each peer
    for (const Call& call : sender->groups[g]) {
      if (call.kind != CallKind::kSend) continue;
      size_t nth = sent[call.peer]++;
      for (const Call& other : clique.members[call.peer]->groups[g]) {
        if (other.kind != CallKind::kRecv || other.peer != sender->rank || nth-- != 0) continue;
        std::memcpy(other.to, call.from, call.bytes());
        break;
      }
    }
  }
}

// Of this thread, between ncclGroupStart and ncclGroupEnd.
struct Open {
  int depth = 0;
  Member* member = nullptr;
  Stream stream = nullptr;
  CallGroup calls;
  std::vector<Member*> aborted;
};
thread_local Open open_group;
thread_local std::string last_error;

}  // namespace

struct EmulatedNccl::State {
  explicit State(cuda::EmulatedDriver* it) : driver(*it) {}
  cuda::EmulatedDriver& driver;
  mutable std::mutex mutex;  // guards everything
  std::condition_variable changed;
  uint64_t ids = 0;
  std::map<std::string, std::unique_ptr<Clique>> cliques;
  std::map<std::string, Result> failing;
  std::vector<int> most_ctas;
  std::vector<std::string> complaints;
  int64_t groups = 0;

  void Complain(const std::string& what) {
    std::fprintf(stderr, "emulated NCCL: %s\n", what.c_str());
    complaints.push_back(what);
  }

  Result Failing(const std::string& call) {
    const auto found = failing.find(call);
    return found == failing.end() ? kSuccess : found->second;
  }

  Result Init(Comm* comm, int size, const UniqueId& id, int rank, const Config* config) {
    std::lock_guard<std::mutex> lock(mutex);
    if (const Result result = Failing("CommInitRankConfig"); result != kSuccess) return result;
    if (config == nullptr || config->magic != Config().magic || config->blocking != 0) return kInvalidArgument;
    most_ctas.push_back(config->max_ctas);
    std::unique_ptr<Clique>& clique = cliques[std::string(id.bytes, sizeof(id.bytes))];
    if (clique == nullptr) {
      clique = std::make_unique<Clique>();
      clique->members.resize(size);
    }
    if (clique->members.size() != static_cast<size_t>(size) || rank < 0 || rank >= size || clique->members[rank]) {
      Complain(absl::StrCat("ncclCommInitRankConfig: rank ", rank, " of ", size, " does not fit the id"));
      return kInvalidUsage;
    }
    clique->members[rank] = std::make_unique<Member>(Member{.clique = clique.get(), .rank = rank});
    *comm = clique->members[rank].get();
    return kInProgress;
  }

  Result AsyncError(Comm comm, Result* error) {
    std::lock_guard<std::mutex> lock(mutex);
    auto* const it = static_cast<Member*>(comm);
    if (it->ended) {
      Complain("ncclCommGetAsyncError: the communicator has ended");
      return kInvalidArgument;
    }
    *error = it->error;
    if (it->error == kSuccess && (!it->clique->complete() || it->polls > 0)) {
      if (it->polls > 0) --it->polls;
      *error = kInProgress;
    }
    return kSuccess;
  }

  Result End(Comm comm, const char* call) {
    std::lock_guard<std::mutex> lock(mutex);
    auto* const it = static_cast<Member*>(comm);
    if (it->ended) Complain(absl::StrCat(call, ": the communicator has ended"));
    it->ended = true;
    changed.notify_all();
    return kSuccess;
  }

  // What is in the stream ends first: of a communicator by itself at once, of several when all are told.
  Result Abort(Comm comm) {
    const Result result = End(comm, "ncclCommAbort");
    open_group.aborted.push_back(static_cast<Member*>(comm));
    return open_group.depth == 0 ? AwaitAborted() : result;
  }

  Result AwaitAborted() {
    std::unique_lock<std::mutex> lock(mutex);
    for (const Member* it : std::exchange(open_group.aborted, {})) {
      changed.wait(lock, [it] { return it->arrived == it->groups.size(); });
    }
    return kSuccess;
  }

  Result Add(const Call& call, Comm comm, Stream stream) {
    Open& open = open_group;
    auto* const member = static_cast<Member*>(comm);
    if (open.depth == 0 || (open.member != nullptr && (open.member != member || open.stream != stream))) {
      std::lock_guard<std::mutex> lock(mutex);
      Complain(absl::StrCat(call.ToString(), ": expected a group of one communicator and stream"));
      return kInvalidUsage;
    }
    const size_t n = member->clique->members.size();
    const size_t from = call.bytes() * (call.kind == CallKind::kReduceScatter ? n : 1);
    const size_t to = call.bytes() * (call.kind == CallKind::kAllGather ? n : 1);
    if ((call.from != nullptr && !driver.Holds(call.from, from)) ||
        (call.to != nullptr && !driver.Holds(call.to, to))) {
      std::lock_guard<std::mutex> lock(mutex);
      Complain(absl::StrCat(call.ToString(), ": expected device memory of this GPU"));
      return kInvalidArgument;
    }
    open.member = member;
    open.stream = stream;
    open.calls.push_back(call);
    return kSuccess;
  }

  Result GroupEnd() {
    if (open_group.depth == 1) AwaitAborted();
    Open open;
    std::swap(open, open_group);
    if (open.depth != 1) return kInvalidUsage;
    if (open.member == nullptr) return kSuccess;
    Member* const member = open.member;
    size_t number = 0;
    {
      std::lock_guard<std::mutex> lock(mutex);
      ++groups;
      if (member->ended) {
        Complain("ncclGroupEnd: the communicator has ended");
        return kInvalidArgument;
      }
      number = member->groups.size();
      member->groups.push_back(std::move(open.calls));
      Compare(*member, number);
      member->polls = kPolls;
    }
    const cuda::Result enqueued =
        driver.Enqueue("ncclGroupEnd", open.stream, 0, [this, member, number] { return Execute(*member, number); });
    return enqueued == cuda::kSuccess ? kInProgress : kUnhandledCudaError;
  }

  // With what others have issued as their group of this number.
  void Compare(const Member& member, size_t number) {
    Clique& clique = *member.clique;
    if (clique.failed) return;
    for (const auto& other : clique.members) {
      if (other == nullptr || other.get() == &member || other->groups.size() <= number) continue;
      const CallGroup &mine = member.groups[number], &theirs = other->groups[number];
      if (Meet(mine, member.rank, theirs, other->rank)) continue;
      const std::string text =
          absl::StrCat("call #", number + 1, " of a communicator of ", clique.members.size(), ": member ", member.rank,
                       " issued ", TextOf(mine), "; member ", other->rank, " issued ", TextOf(theirs));
      Complain(text);
      clique.failed = true;
      for (const auto& it : clique.members) {
        it->error = kInvalidUsage;
        it->text = text;
      }
      changed.notify_all();
      return;
    }
  }

  // On the thread of the emulated stream.
  std::string Execute(Member& member, size_t number) {
    std::unique_lock<std::mutex> lock(mutex);
    Clique& clique = *member.clique;
    member.arrived = number + 1;
    changed.notify_all();
    const bool all =
        std::all_of(clique.members.begin(), clique.members.end(), [&](const auto& it) { return it->arrived > number; });
    if (all && !clique.failed) {
      Move(clique, number);
      clique.done = number + 1;
      changed.notify_all();
    }
    changed.wait(lock, [&] { return clique.done > number || member.ended || clique.failed; });
    return "";
  }
};

EmulatedNccl::EmulatedNccl(cuda::EmulatedDriver* driver) : state_(std::make_unique<State>(driver)) {
  State* const s = state_.get();
  nccl_.GetVersion = [](int* version) { return *version = 22809, kSuccess; };
  nccl_.GetErrorString = [](Result result) {
    const char* const texts[] = {"no error",         "unhandled cuda error", "unhandled system error", "internal error",
                                 "invalid argument", "invalid usage",        "remote process exited",  "in progress"};
    return texts[result];
  };
  nccl_.GetLastError = [s](Comm comm) {
    std::lock_guard<std::mutex> lock(s->mutex);
    last_error = static_cast<Member*>(comm)->text;
    return last_error.c_str();
  };
  nccl_.GetUniqueId = [s](UniqueId* id) {
    std::lock_guard<std::mutex> lock(s->mutex);
    if (const Result result = s->Failing("GetUniqueId"); result != kSuccess) return result;
    *id = {};
    std::snprintf(id->bytes, sizeof(id->bytes), "emulated %llu", static_cast<unsigned long long>(++s->ids));
    return kSuccess;
  };
  nccl_.CommInitRankConfig = [s](Comm* comm, int size, UniqueId id, int rank, Config* config) {
    return s->Init(comm, size, id, rank, config);
  };
  nccl_.CommGetAsyncError = [s](Comm comm, Result* error) { return s->AsyncError(comm, error); };
  nccl_.CommFinalize = [](Comm) { return kSuccess; };
  nccl_.CommDestroy = [s](Comm comm) { return s->End(comm, "ncclCommDestroy"); };
  nccl_.CommAbort = [s](Comm comm) { return s->Abort(comm); };
  nccl_.GroupStart = [] { return ++open_group.depth, kSuccess; };
  nccl_.GroupEnd = [s] { return s->GroupEnd(); };
  const auto reducing = [s](CallKind kind) {
    return
        [s, kind](const void* from, void* to, size_t count, Type type, Reduction reduction, Comm comm, Stream stream) {
          return s->Add({kind, count, type, reduction, -1, static_cast<const char*>(from), static_cast<char*>(to)},
                        comm, stream);
        };
  };
  nccl_.AllReduce = reducing(CallKind::kAllReduce);
  nccl_.ReduceScatter = reducing(CallKind::kReduceScatter);
  nccl_.AllGather = [s](const void* from, void* to, size_t count, Type type, Comm comm, Stream stream) {
    return s->Add({CallKind::kAllGather, count, type, kSum, -1, static_cast<const char*>(from), static_cast<char*>(to)},
                  comm, stream);
  };
  nccl_.Send = [s](const void* from, size_t count, Type type, int peer, Comm comm, Stream stream) {
    return s->Add({CallKind::kSend, count, type, kSum, peer, static_cast<const char*>(from), nullptr}, comm, stream);
  };
  nccl_.Recv = [s](void* to, size_t count, Type type, int peer, Comm comm, Stream stream) {
    return s->Add({CallKind::kRecv, count, type, kSum, peer, nullptr, static_cast<char*>(to)}, comm, stream);
  };
}

EmulatedNccl::~EmulatedNccl() = default;

std::vector<std::string> EmulatedNccl::complaints() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->complaints;
}

int EmulatedNccl::open() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  int count = 0;
  for (const auto& [id, clique] : state_->cliques) {
    for (const auto& member : clique->members) count += member != nullptr && !member->ended;
  }
  return count;
}

std::vector<int> EmulatedNccl::most_ctas() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<int> all = state_->most_ctas;
  std::sort(all.begin(), all.end());
  return all;
}

int64_t EmulatedNccl::groups() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->groups;
}

void EmulatedNccl::FailCalls(const std::string& call, Result result) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->failing[call] = result;
}

void EmulatedNccl::FailComms(int size, int rank, Result result, const std::string& text) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  for (const auto& [id, clique] : state_->cliques) {
    if (clique->members.size() != static_cast<size_t>(size) || clique->members[rank] == nullptr) continue;
    clique->members[rank]->error = result;
    clique->members[rank]->text = text;
  }
}

}  // namespace weft::nccl
