#include "runtime/collective/nccl/world_ids.h"

#include <cstring>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace weft::collective {
namespace {

// What a rank makes, as bytes: 0 and its ids, one after another, or 1 and why it could not.
constexpr char kMade = 0, kFailed = 1;

// kFailedPrecondition unless the members of each of this rank's names know it. By every
// rank for all names, so that all find the same.
absl::Status CheckMembers(const std::vector<std::string>& lists) {
  std::map<std::string, std::set<int>> known;
  for (size_t r = 0; r < lists.size(); ++r) {
    for (absl::string_view key : absl::StrSplit(lists[r], '\n', absl::SkipEmpty())) {
      known[std::string(key)].insert(static_cast<int>(r));
    }
  }
  for (const auto& [key, ranks] : known) {
    const std::string members = key.substr(key.rfind(' ') + 1);
    for (absl::string_view member : absl::StrSplit(members, ',')) {
      if (ranks.count(std::stoi(std::string(member))) != 0) continue;
      return absl::FailedPreconditionError(absl::StrCat("NCCL: ", key.substr(0, key.rfind(' ', key.rfind(' ') - 1)),
                                                        " of ranks ", members, ": rank ", *ranks.begin(),
                                                        " has it, rank ", member, " has not"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<nccl::UniqueId>> WorldIds::Exchange(const std::vector<NcclName>& names) {
  std::vector<std::string> keys;
  for (const NcclName& name : names) keys.push_back(name.Key());
  const absl::StatusOr<std::vector<std::string>> lists = world_.AllGather(absl::StrJoin(keys, "\n"));
  if (!lists.ok()) return lists.status();
  if (absl::Status status = CheckMembers(*lists); !status.ok()) return status;
  std::string made(1, kMade);
  for (const NcclName& name : names) {
    if (name.ranks[0] != world_.rank()) continue;
    nccl::UniqueId id;
    const absl::Status status = nccl_.Check(nccl_.GetUniqueId(&id), "ncclGetUniqueId", nullptr);
    if (!status.ok()) {
      made = std::string(1, kFailed) + std::string(status.message());
      break;
    }
    made.append(id.bytes, sizeof(id.bytes));
  }
  const absl::StatusOr<std::vector<std::string>> all = world_.AllGather(made);
  if (!all.ok()) return all.status();
  // A rank makes its ids in the order of its list.
  std::map<std::string, nccl::UniqueId> found;
  for (size_t r = 0; r < all->size(); ++r) {
    if ((*all)[r][0] == kFailed) return absl::InternalError(absl::StrCat("rank ", r, ": ", (*all)[r].substr(1)));
    size_t at = 1;
    for (absl::string_view key : absl::StrSplit((*lists)[r], '\n', absl::SkipEmpty())) {
      const std::string text(key);
      if (std::stoul(text.substr(text.rfind(' ') + 1)) != r) continue;  // the first member's number
      std::memcpy(found[text].bytes, (*all)[r].data() + at, sizeof(nccl::UniqueId));
      at += sizeof(nccl::UniqueId);
    }
  }
  std::vector<nccl::UniqueId> ids;
  for (const std::string& key : keys) ids.push_back(found[key]);
  return ids;
}

}  // namespace weft::collective
