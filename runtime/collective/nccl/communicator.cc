#include "runtime/collective/nccl/communicator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/collective/nccl/collective.h"
#include "runtime/collective/nccl/transfer.h"

namespace weft::collective {

namespace {

// Kernels of several communicators run on a GPU at once, and wait for each other's on other GPUs: all of their blocks
// have to fit, beside nothing else that stays. A rank of a plan has up to three groups and eight links that are in use
// at a time, 80 blocks; an A100 has 108 multiprocessors. Estimates: four blocks for what one pair of GPUs can move, 16
// for what a group can.
constexpr int kGroupCtas = 16, kLinkCtas = 4;

}  // namespace

NcclComm* NcclCommunicator::CommOf(NcclName name, int most_ctas) {
  const auto mine = std::find(name.ranks.begin(), name.ranks.end(), rank());
  const int member = static_cast<int>(mine - name.ranks.begin());
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<NcclComm>& found = comms_[name.Key()];
  if (found == nullptr) {
    found = std::make_unique<NcclComm>(options_.nccl, options_.gpu, &fault_, std::move(name), member, most_ctas);
  }
  return found.get();
}

absl::StatusOr<std::unique_ptr<Operation>> NcclCommunicator::CreateCollective(
    const Group& group, const std::vector<CollectiveSpec>& specs) {
  const absl::StatusOr<int> member = MemberOf(group, specs, rank(), size());
  if (!member.ok()) return member.status();
  NcclComm* comm = nullptr;  // one rank alone copies
  if (group.ranks.size() > 1) {
    comm = CommOf({.title = absl::StrCat("group ", group.name), .channel = group.channel, .ranks = group.ranks},
                  kGroupCtas);
  }
  return NcclCollective::Create(this, options_.nccl, options_.gpu, comm, group, specs);
}

absl::StatusOr<std::unique_ptr<Operation>> NcclCommunicator::CreateTransfer(bool sends, DType dtype,
                                                                            const std::vector<Link>& links) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (absl::Status status = AddLinks(sends, links, rank(), size(), links_); !status.ok()) return status;
  }
  std::vector<NcclComm*> comms;
  for (const Link& link : links) {
    const int from = sends ? rank() : link.peer, to = sends ? link.peer : rank();
    comms.push_back(CommOf({.title = absl::StrCat("transfer ", link.tag, " from rank ", from, " to rank ", to),
                            .channel = 0,
                            .ranks = {from, to}},
                           kLinkCtas));
  }
  return NcclTransfer::Create(this, options_.nccl, options_.gpu, sends, dtype, links, comms);
}

absl::Status NcclCommunicator::Connect() {
  std::vector<NcclComm*> comms;  // sorted, as the map is
  std::vector<NcclName> names;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, comm] : comms_) {
      if (comm->connected()) continue;
      comms.push_back(comm.get());
      names.push_back(comm->name());
    }
  }
  const absl::StatusOr<std::vector<nccl::UniqueId>> ids = options_.ids->Exchange(names);
  if (!ids.ok()) return ids.status();
  for (size_t i = 0; i < comms.size(); ++i) {
    if (absl::Status status = comms[i]->Connect((*ids)[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status NcclCommunicator::ConnectAtRun(NcclComm& comm) {
  if (!options_.connect_at_run || comm.connected()) return absl::OkStatus();
  const absl::StatusOr<std::vector<nccl::UniqueId>> ids = options_.ids->Exchange({comm.name()});
  return ids.ok() ? comm.Connect((*ids)[0]) : ids.status();
}

int64_t NcclCommunicator::staging_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [key, comm] : comms_) bytes += static_cast<int64_t>(comm->staging().bytes());
  return bytes;
}

absl::Status NcclCommunicator::Check() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [key, comm] : comms_) {
    if (absl::Status status = comm->Check(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void NcclCommunicator::Abort(const absl::Status& reason) {
  fault_.Raise(reason);
  std::vector<nccl::Comm> comms;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, comm] : comms_) {
      if (const nccl::Comm released = comm->Release(); released != nullptr) comms.push_back(released);
    }
  }
  if (comms.empty()) return;
  options_.gpu->Enter().IgnoreError();
  // As one group: the end of one may wait for a kernel that waits for another's.
  options_.nccl->GroupStart();
  for (const nccl::Comm comm : comms) options_.nccl->CommAbort(comm);
  options_.nccl->GroupEnd();
}

}  // namespace weft::collective
