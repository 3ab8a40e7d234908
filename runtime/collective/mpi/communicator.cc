#include "runtime/collective/mpi/communicator.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/collective/mpi/transfer.h"

namespace weft::collective {
namespace {

// How many members of a group each host has, if those of one follow each other and there are as many on each; else 1.
int OnHost(const Group& group, const std::vector<std::string>& hosts) {
  const size_t n = group.ranks.size();
  const auto host = [&](size_t m) -> const std::string& { return hosts[group.ranks[m]]; };
  size_t on_host = 1;
  while (on_host < n && host(on_host) == host(0)) ++on_host;
  if (n % on_host != 0) return 1;
  std::set<std::string> seen;
  for (size_t m = 0; m < n; ++m) {
    if (m % on_host != 0 ? host(m) != host(m - 1) : !seen.insert(host(m)).second) return 1;
  }
  return static_cast<int>(on_host);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Operation>> MpiCommunicator::CreateCollective(const Group& group,
                                                                             const std::vector<CollectiveSpec>& specs) {
  const absl::StatusOr<int> member = MemberOf(group, specs, rank(), size());
  if (!member.ok()) return member.status();
  const absl::StatusOr<int> tag = wire_.ChannelTag(group.channel);
  if (!tag.ok()) return tag.status();
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<MpiGroup>& found = groups_[{group.name, group.ranks, group.channel}];
  if (found == nullptr) {
    if (absl::Status status = CheckChannel(group); !status.ok()) {
      groups_.erase({group.name, group.ranks, group.channel});
      return status;
    }
    found = std::make_unique<MpiGroup>(group, *tag);
  }
  return MpiCollective::Create(&wire_, found.get(), *member, specs, LevelsOf(group, specs));
}

void MpiCommunicator::SetLevels(PartsBetweenHosts parts) {
  std::lock_guard<std::mutex> lock(mutex_);
  parts_ = std::move(parts);
}

// By the hosts that there are, which need not be the plan's.
std::optional<Levels> MpiCommunicator::LevelsOf(const Group& group, const std::vector<CollectiveSpec>& specs) const {
  if (hosts_.empty() || !parts_) return std::nullopt;
  const int members = static_cast<int>(group.ranks.size()), on_host = OnHost(group, hosts_);
  if (on_host == 1 || on_host == members) return std::nullopt;
  const int64_t parts = parts_(specs, members, on_host);
  return parts > 0 ? std::optional<Levels>({on_host, parts}) : std::nullopt;
}

// Two ranks tell the messages of their groups apart by the channel.
absl::Status MpiCommunicator::CheckChannel(const Group& group) const {
  for (const auto& [key, other] : groups_) {
    if (other == nullptr || group.channel != other->group().channel) continue;
    std::vector<int> both;
    for (int member : group.ranks) {
      const std::vector<int>& others = other->group().ranks;
      if (std::find(others.begin(), others.end(), member) != others.end()) both.push_back(member);
    }
    if (both.size() < 2) continue;
    return absl::InvalidArgumentError(absl::StrCat("group ", group.name, ": expected a channel of its own, got ",
                                                   group.channel, ", which group ", other->group().name,
                                                   " has, and both have ranks ", both[0], " and ", both[1]));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Operation>> MpiCommunicator::CreateTransfer(bool sends, DType dtype,
                                                                           const std::vector<Link>& links) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (absl::Status status = AddLinks(sends, links, rank(), size(), links_); !status.ok()) return status;
  return MpiTransfer::Create(&wire_, sends, dtype, links, transfer_bytes_);
}

int64_t MpiCommunicator::staging_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  int64_t bytes = transfer_bytes_;
  for (const auto& [key, group] : groups_) bytes += group->staging_bytes();
  return bytes;
}

}  // namespace weft::collective
