// libnccl.so of the same emulation, between processes of one machine: what members
// of a communicator give to a group of calls they write to files of a folder, whose
// name is the communicator's id. Members that issue other calls than their peers are told.
#include "runtime/collective/nccl/nccl.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/collective/reduce.h"
#include "tests/emulation/libraries/emulation.h"
#include "tests/emulation/libraries/export.h"
#include "tests/emulation/nccl/calls.h"

namespace weft::tests {
namespace {

using nccl::Call;
using nccl::CallGroup;
using nccl::CallKind;

constexpr std::chrono::seconds kLimit(60);  // for a peer to come

struct Member {
  std::string folder;
  int rank = 0, size = 1;
  uint64_t groups = 0;  // that it has given to a stream

  std::string File(const std::string& name, int rank) const { return absl::StrCat(folder, "/", name, ".", rank); }
};

size_t BytesFrom(const Call& call, int size) {
  return call.from == nullptr ? 0 : call.bytes() * (call.kind == CallKind::kReduceScatter ? size : 1);
}

// Whole, or not there.
void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path + ".part", std::ios::binary) << bytes;
  std::filesystem::rename(path + ".part", path);
}

bool Await(const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + kLimit;
  while (!std::filesystem::exists(path)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What a member wrote: its calls as text, and the bytes it gives to each.
struct Given {
  std::vector<std::string> calls, bytes;
};

std::string Pack(const CallGroup& group, int size) {
  std::string packed = absl::StrCat(group.size(), "\n");
  for (const Call& call : group) {
    absl::StrAppend(&packed, call.ToString(), "\n", BytesFrom(call, size), "\n");
    packed.append(call.from == nullptr ? "" : call.from, BytesFrom(call, size));
  }
  return packed;
}

Given Unpack(const std::string& packed) {
  Given given;
  size_t at = 0;
  const auto line = [&] {
    const size_t end = packed.find('\n', at);
    const std::string text = packed.substr(at, end - at);
    at = end + 1;
    return text;
  };
  for (uint64_t left = std::stoull(line()); left > 0; --left) {
    given.calls.push_back(line());
    const size_t bytes = std::stoull(line());
    given.bytes.push_back(packed.substr(at, bytes));
    at += bytes;
  }
  return given;
}

void Collect(const Call& call, size_t index, const Member& member, const std::vector<Given>& all) {
  std::vector<const void*> inputs;
  for (const Given& it : all) inputs.push_back(it.bytes[index].data());
  if (call.kind == CallKind::kAllGather) {
    for (int k = 0; k < member.size; ++k) std::memcpy(call.to + k * call.bytes(), inputs[k], call.bytes());
    return;
  }
  const auto kind = call.reduction == nccl::kMax ? collective::Reduction::kMax : collective::Reduction::kSum;
  const auto reduce = *collective::ReducerFor(nccl::TypeFrom(call.type), kind);
  const int64_t from = call.kind == CallKind::kReduceScatter ? static_cast<int64_t>(member.rank * call.bytes()) : 0;
  void* to = call.to;
  reduce(inputs.data(), member.size, from, &to, 1, 0, static_cast<int64_t>(call.count));
}

// The n-th call of a peer that sends to this member.
const std::string* Sent(const Given& peer, int to, size_t nth) {
  const std::string ending = absl::StrCat(" to ", to);
  for (size_t i = 0; i < peer.calls.size(); ++i) {
    const std::string& text = peer.calls[i];
    const bool sends =
        text.size() > ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
    if (sends && nth-- == 0) return &peer.bytes[i];
  }
  return nullptr;
}

// On the thread of the emulated stream; "" or what is wrong.
std::string Execute(const Member& member, uint64_t number, const CallGroup& group) {
  const std::string name = absl::StrCat(number);
  Write(member.File(name, member.rank), Pack(group, member.size));
  std::vector<Given> all;
  for (int r = 0; r < member.size; ++r) {
    if (!Await(member.File(name, r))) return absl::StrCat("member ", r, " has not come to group ", number);
    all.push_back(Unpack(Read(member.File(name, r))));
  }
  // All have read what was before.
  if (number > 0) std::filesystem::remove(member.File(absl::StrCat(number - 1), member.rank));
  std::map<int, size_t> received;
  for (size_t i = 0; i < group.size(); ++i) {
    const Call& call = group[i];
    if (call.kind == CallKind::kSend) continue;
    if (call.kind == CallKind::kRecv) {
      const std::string* const bytes = Sent(all[call.peer], member.rank, received[call.peer]++);
      if (bytes == nullptr || bytes->size() != call.bytes()) return absl::StrCat(call.ToString(), ": nothing was sent");
      std::memcpy(call.to, bytes->data(), bytes->size());
      continue;
    }
    for (int r = 0; r < member.size; ++r) {
      if (all[r].calls.size() > i && all[r].calls[i] == call.ToString()) continue;
      return absl::StrCat("member ", member.rank, " issued ", call.ToString(), ", member ", r, " another call");
    }
    Collect(call, i, member, all);
  }
  return "";
}

// Of this thread, between ncclGroupStart and ncclGroupEnd.
thread_local CallGroup open_calls;
thread_local Member* open_member = nullptr;
thread_local nccl::Stream open_stream = nullptr;

nccl::Result Add(const Call& call, nccl::Comm comm, nccl::Stream stream) {
  open_member = static_cast<Member*>(comm);
  open_stream = stream;
  open_calls.push_back(call);
  return nccl::kSuccess;
}

nccl::Result EndGroup() {
  CallGroup group;
  std::swap(group, open_calls);
  if (group.empty()) return nccl::kSuccess;
  Member* const member = open_member;
  const auto work = [member, number = member->groups++, group] { return Execute(*member, number, group); };
  const cuda::Result done = TheDriver().Enqueue("ncclGroupEnd", open_stream, 0, work);
  return done == cuda::kSuccess ? nccl::kSuccess : nccl::kUnhandledCudaError;
}

// The last to leave takes the folder away.
nccl::Result Leave(nccl::Comm comm) {
  const std::unique_ptr<Member> member(static_cast<Member*>(comm));
  Write(member->File("left", member->rank), "");
  for (int r = 0; r < member->size; ++r) {
    if (!std::filesystem::exists(member->File("left", r))) return nccl::kSuccess;
  }
  std::error_code error;
  std::filesystem::remove_all(member->folder, error);
  return nccl::kSuccess;
}

nccl::Result Join(nccl::Comm* comm, int size, nccl::UniqueId id, int rank, nccl::Config*) {
  auto* const member = new Member{.folder = id.bytes, .rank = rank, .size = size};
  Write(member->File("joined", rank), "");
  return *comm = member, nccl::kInProgress;
}

nccl::Result State(nccl::Comm comm, nccl::Result* state) {
  const auto* const member = static_cast<const Member*>(comm);
  *state = nccl::kSuccess;
  for (int r = 0; r < member->size; ++r) {
    if (!std::filesystem::exists(member->File("joined", r))) *state = nccl::kInProgress;
  }
  return nccl::kSuccess;
}

nccl::Result MakeId(nccl::UniqueId* id) {
  *id = {};
  std::snprintf(id->bytes, sizeof(id->bytes), "/tmp/weft-nccl.XXXXXX");
  return mkdtemp(id->bytes) != nullptr ? nccl::kSuccess : nccl::kSystemError;
}

nccl::Nccl MakeTable() {
  nccl::Nccl table;
  table.GetVersion = [](int* version) { return *version = 22809, nccl::kSuccess; };
  table.GetErrorString = [](nccl::Result) { return "emulated"; };
  table.GetLastError = [](nccl::Comm) { return ""; };
  table.GetUniqueId = &MakeId;
  table.CommInitRankConfig = &Join;
  table.CommGetAsyncError = &State;
  table.CommFinalize = [](nccl::Comm) { return nccl::kSuccess; };
  table.CommDestroy = table.CommAbort = &Leave;
  table.GroupStart = [] { return nccl::kSuccess; };
  table.GroupEnd = &EndGroup;
  const auto reducing = [](CallKind kind) {
    return [kind](const void* from, void* to, size_t count, nccl::Type type, nccl::Reduction reduction, nccl::Comm comm,
                  nccl::Stream stream) {
      return Add({kind, count, type, reduction, -1, static_cast<const char*>(from), static_cast<char*>(to)}, comm,
                 stream);
    };
  };
  table.AllReduce = reducing(CallKind::kAllReduce);
  table.ReduceScatter = reducing(CallKind::kReduceScatter);
  table.AllGather = [](const void* from, void* to, size_t count, nccl::Type type, nccl::Comm comm, nccl::Stream on) {
    return Add(
        {CallKind::kAllGather, count, type, nccl::kSum, -1, static_cast<const char*>(from), static_cast<char*>(to)},
        comm, on);
  };
  table.Send = [](const void* from, size_t count, nccl::Type type, int peer, nccl::Comm comm, nccl::Stream on) {
    return Add({CallKind::kSend, count, type, nccl::kSum, peer, static_cast<const char*>(from), nullptr}, comm, on);
  };
  table.Recv = [](void* to, size_t count, nccl::Type type, int peer, nccl::Comm comm, nccl::Stream on) {
    return Add({CallKind::kRecv, count, type, nccl::kSum, peer, nullptr, static_cast<char*>(to)}, comm, on);
  };
  return table;
}

const nccl::Nccl& Table() {
  static const auto* const table = new nccl::Nccl(MakeTable());
  return *table;
}

}  // namespace
}  // namespace weft::tests

#define WEFT_EXPORT_FIELD(field, ...)      \
  WEFT_EXPORT(nccl_##field, "nccl" #field, \
              (&weft::tests::Exported<&weft::tests::Table, &weft::nccl::Nccl::field>::Call))
WEFT_NCCL_FUNCTIONS(WEFT_EXPORT_FIELD)
