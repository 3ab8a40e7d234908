#include "tools/run/found_snapshots.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "runtime/checkpoint/snapshot_file.h"
#include "runtime/checkpoint/snapshot_folder.h"
#include "tools/run/cluster.h"
#include "tools/run/hosts_of_run.h"

namespace weft::run {
namespace {

using checkpoint::SnapshotFile;
using Json = nlohmann::json;
using Key = std::tuple<int, int64_t, int>;  // run, step, rank

// What hosts have told of their snapshots.
struct Reports {
  std::vector<HeldSnapshot> held;
  std::map<Key, int64_t> bytes;
  std::map<std::pair<int, int64_t>, std::vector<std::vector<std::string>>> hosts;  // that kept those of a run and step
  int64_t step_of_other_plan = -1;
};

// What is in one folder, as this host tells it.
void Look(const plan::Plan& plan, const std::string& folder, int run, Json& report) {
  const absl::Status own = checkpoint::CheckPrivate(folder);
  if (absl::IsNotFound(own)) return;
  if (!own.ok()) report["lines"].push_back(std::string(own.message()));
  if (!own.ok()) return;
  for (const std::string& name : checkpoint::SnapshotsIn(folder)) {
    const auto file = SnapshotFile::Open(absl::StrCat(folder, "/", name));
    if (!file.ok()) {
      report["lines"].push_back(std::string(file.status().message()));
      continue;
    }
    const checkpoint::SnapshotHead& head = (*file)->head();
    const std::string is = checkpoint::SnapshotName(head.step, head.rank), of = checkpoint::IdentityOf(folder);
    if (head.run != of || is != name) {
      report["lines"].push_back(
          absl::StrCat((*file)->path(), ": expected ", name, " of run ", of, ", got ", is, " of run ", head.run));
    } else if (head.plan != plan.header().hash()) {
      report["other_plan"] = std::max(report["other_plan"].get<int64_t>(), head.step);
    } else {
      report["held"].push_back({run, head.step, head.rank, (*file)->bytes().size()});
      report["hosts"][absl::StrCat(run, " ", head.step)] = {run, head.step, head.hosts};
    }
  }
}

absl::StatusOr<Reports> GatherReports(const Context& context, const HostsOfRun& hosts,
                                      const std::vector<std::string>& folders,
                                      const std::function<void(const std::string&)>& tell) {
  Json own = {{"held", Json::array()}, {"hosts", Json::object()}, {"lines", Json::array()}, {"other_plan", -1}};
  if (hosts.IsFirstOnHost(context.processes)) {
    for (size_t run = 0; run < folders.size(); ++run) Look(context.plan, folders[run], static_cast<int>(run), own);
  }
  const auto all = GatherJson(context.processes, own);
  if (!all.ok()) return all.status();
  Reports reports;
  for (size_t p = 0; p < all->size(); ++p) {
    const Json& report = (*all)[p];
    for (const Json& one : report["held"]) {
      const int run = one[0].get<int>(), rank = one[2].get<int>();
      const auto step = one[1].get<int64_t>();
      reports.held.push_back({run, step, rank, hosts.ring.HostOf(static_cast<int>(p))});
      reports.bytes[Key(run, step, rank)] = one[3].get<int64_t>();
    }
    for (const Json& one : report["hosts"]) {
      reports.hosts[std::pair(one[0].get<int>(), one[1].get<int64_t>())] =
          one[2].get<std::vector<std::vector<std::string>>>();
    }
    for (const Json& line : report["lines"]) tell(line.get<std::string>());
    reports.step_of_other_plan = std::max(reports.step_of_other_plan, report["other_plan"].get<int64_t>());
  }
  return reports;
}

// Looks at every byte of a set, all processes together. What is damaged is told, and no longer held; false then.
absl::StatusOr<bool> Verify(const Context& context, const HostsOfRun& hosts, FoundSnapshots::Whole& whole,
                            std::vector<HeldSnapshot>& held, const std::function<void(const std::string&)>& tell) {
  Json own = {{"damaged", Json::array()}, {"seed", nullptr}, {"record", nullptr}};
  for (int rank = 0; rank < static_cast<int>(whole.set.host_of_rank.size()); ++rank) {
    const int host = whole.set.host_of_rank[rank];
    if (hosts.ReaderOf(host, rank) != context.processes.rank()) continue;
    const auto file = SnapshotFile::Open(checkpoint::SnapshotPath(whole.folder, whole.set.step, rank));
    const absl::Status status = file.ok() ? (*file)->Verify() : file.status();
    if (!status.ok()) {
      own["damaged"].push_back({rank, host, std::string(status.message())});
    } else if (rank == 0) {
      own["seed"] = (*file)->head().seed;
      own["record"] = (*file)->head().record;
    }
  }
  const auto all = GatherJson(context.processes, own);
  if (!all.ok()) return all.status();
  bool is_whole = true;
  for (const Json& report : *all) {
    for (const Json& one : report["damaged"]) {
      is_whole = false;
      tell(one[2].get<std::string>());
      const int rank = one[0].get<int>(), host = one[1].get<int>();
      std::erase_if(held, [&](const HeldSnapshot& it) {
        return it.run == whole.set.run && it.step == whole.set.step && it.rank == rank && it.host == host;
      });
    }
    if (report["seed"].is_null()) continue;
    whole.seed = report["seed"].get<uint64_t>();
    whole.record = report["record"].get<Record>();
  }
  return is_whole;
}

std::string HostsText(const HostsOfRun& hosts, const SnapshotSet& set) {
  const std::set<int> used(set.host_of_rank.begin(), set.host_of_rank.end());
  std::vector<std::string> names;
  for (const int host : used) names.push_back(hosts.NameOf(hosts.ring.RanksOf(host)[0]));
  return absl::StrCat(names.size() == 1 ? "host " : "hosts ", absl::StrJoin(names, ", "));
}

std::string WhyRefused(const Reports& reports, const std::vector<SnapshotSet>& sets, int64_t& step) {
  step = -1;
  if (reports.step_of_other_plan >= 0 && (sets.empty() || sets[0].step < reports.step_of_other_plan)) {
    step = reports.step_of_other_plan;
    return absl::StrCat("snapshot of step ", step, ": it is of another plan");
  }
  if (sets.empty() || sets[0].Lacks() < 0) return "";
  step = sets[0].step;
  const int rank = sets[0].Lacks();
  const auto kept = reports.hosts.find({sets[0].run, step});
  std::string where = "on no host";
  if (kept != reports.hosts.end() && rank < static_cast<int>(kept->second.size())) {
    const std::vector<std::string>& on = kept->second[rank];
    if (on.size() == 1) where = absl::StrCat("not on host ", on[0]);
    if (on.size() == 2) where = absl::StrCat("neither on host ", on[0], " nor on its neighbour ", on[1]);
  }
  return absl::StrCat("snapshot of step ", step, ": rank ", rank, "'s is ", where);
}

// What the first process's folder of checkpoints names.
absl::StatusOr<std::vector<std::string>> FoldersOf(const Context& context,
                                                   const std::function<void(const std::string&)>& tell) {
  Json own = {{"folders", Json::array()}, {"line", ""}};
  if (context.processes.first()) {
    const auto index = checkpoint::ReadSnapshotIndex(context.request.checkpoint_dir);
    if (index.ok()) own["folders"] = *index;
    if (!index.ok()) own["line"] = std::string(index.status().message());
  }
  const auto all = GatherJson(context.processes, own);
  if (!all.ok()) return all.status();
  if (const auto line = (*all)[0]["line"].get<std::string>(); !line.empty()) tell(line);
  return (*all)[0]["folders"].get<std::vector<std::string>>();
}

// Of a run whose snapshots are gone on from one step is left.
absl::Status RemoveOthers(const std::vector<std::string>& folders, const FoundSnapshots::Whole& whole) {
  for (const std::string& folder : folders) {
    absl::Status status = checkpoint::CheckPrivate(folder);
    if (!status.ok()) continue;  // it was told
    status = folder == whole.folder ? checkpoint::RemoveOtherSnapshots(folder, whole.set.step)
                                    : checkpoint::RemoveSnapshots(folder);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FoundSnapshots> FindSnapshots(const Context& context,
                                             const std::function<void(const std::string&)>& tell) {
  FoundSnapshots found;
  auto folders = FoldersOf(context, tell);
  if (!folders.ok()) return folders.status();
  found.folders = *std::move(folders);
  if (found.folders.empty() || !context.request.resume) return found;
  const HostsOfRun hosts = HostsOfRun::Of(context.processes);
  absl::StatusOr<Reports> reports = GatherReports(context, hosts, found.folders, tell);
  if (!reports.ok()) return reports.status();
  std::vector<int> own_host;
  for (int rank = 0; rank < RankCountOf(context.plan); ++rank) own_host.push_back(hosts.HostOfRank(rank));
  bool again = true;
  while (again) {
    again = false;
    const std::vector<SnapshotSet> sets = SnapshotSetsOf(reports->held, own_host);
    found.refused = WhyRefused(*reports, sets, found.refused_step);
    const auto set = std::find_if(sets.begin(), sets.end(), [](const SnapshotSet& it) { return it.Lacks() < 0; });
    if (set == sets.end()) break;
    FoundSnapshots::Whole whole{.set = *set, .folder = found.folders[set->run]};
    const absl::StatusOr<bool> is_whole = Verify(context, hosts, whole, reports->held, tell);
    if (!is_whole.ok()) return is_whole.status();
    again = !*is_whole;
    if (again) continue;
    whole.hosts = HostsText(hosts, whole.set);
    for (int rank = 0; rank < RankCountOf(context.plan); ++rank)
      whole.bytes_of_rank.push_back(reports->bytes.at(Key(set->run, set->step, rank)));
    found.newest = std::move(whole);
  }
  absl::Status removed;
  if (found.newest.has_value() && hosts.IsFirstOnHost(context.processes))
    removed = RemoveOthers(found.folders, *found.newest);
  if (absl::Status status = context.processes.Agree(removed); !status.ok()) return status;
  return found;
}

}  // namespace weft::run
