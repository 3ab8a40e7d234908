#include "tools/run/load_snapshots.h"

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/snapshot_file.h"
#include "runtime/checkpoint/snapshot_folder.h"
#include "tools/run/hosts_of_run.h"
#include "tools/run/kept_state.h"

namespace weft::run {
namespace {

using checkpoint::SnapshotFile;

// What this process sends to other hosts, and receives for its own.
struct Shipment {
  std::vector<std::unique_ptr<SnapshotFile>> files;
  std::vector<collective::OutParcel> out;
  std::vector<collective::InParcel> in;
  std::vector<std::pair<size_t, std::string>> received;  // which files, and what they are to be called
};

// Whose snapshots a process reads, by process.
using Needs = std::vector<std::vector<int>>;

absl::StatusOr<Needs> GatherNeeds(Processes& processes, executor::Cluster& cluster) {
  std::set<int> own;
  for (int i = 0; i < cluster.size(); ++i) {
    for (const executor::StateTile& tile : cluster.executor(i).state()) own.insert(tile.saved_by);
  }
  const auto all = GatherJson(processes, own);
  if (!all.ok()) return all.status();
  Needs needs;
  for (const nlohmann::json& one : *all) needs.push_back(one.get<std::vector<int>>());
  return needs;
}

// In the same order on all processes.
absl::StatusOr<Shipment> ShipmentOf(const HostsOfRun& hosts, int self, const Needs& needs,
                                    const FoundSnapshots::Whole& whole) {
  Shipment shipment;
  for (int host = 0; host < hosts.ring.size(); ++host) {
    std::map<int, int> receivers;  // of whose snapshots this host needs, the lowest process
    for (const int process : hosts.ring.RanksOf(host)) {
      for (const int rank : needs[process]) receivers.emplace(rank, process);
    }
    for (const auto& [rank, receiver] : receivers) {
      const int holder = whole.set.host_of_rank[rank];
      if (holder == host) continue;
      const int sender = hosts.ReaderOf(holder, rank);
      if (self != sender && self != receiver) continue;
      const std::string path = checkpoint::SnapshotPath(whole.folder, whole.set.step, rank);
      absl::Status made = self == sender ? absl::OkStatus() : checkpoint::MakePrivateFolder(whole.folder);
      if (!made.ok()) return made;
      auto file = self == sender ? SnapshotFile::Open(path)
                                 : SnapshotFile::Create(absl::StrCat(whole.folder, "/.rank-", rank, ".fetched.partial"),
                                                        whole.bytes_of_rank[rank]);
      if (!file.ok()) return file.status();
      if (self == sender) {
        shipment.out.push_back({receiver, (*file)->bytes()});
      } else {
        shipment.in.push_back({sender, (*file)->bytes()});
        shipment.received.emplace_back(shipment.files.size(), path);
      }
      shipment.files.push_back(*std::move(file));
    }
  }
  return shipment;
}

absl::Status Ship(const Context& context, executor::Cluster& cluster, const FoundSnapshots::Whole& whole) {
  Processes& processes = context.processes;
  if (processes.alone()) return absl::OkStatus();
  const absl::StatusOr<Needs> needs = GatherNeeds(processes, cluster);
  if (!needs.ok()) return needs.status();
  absl::StatusOr<Shipment> shipment = ShipmentOf(HostsOfRun::Of(processes), processes.rank(), *needs, whole);
  if (absl::Status status = processes.Agree(shipment.status()); !status.ok()) return status;
  absl::Status status = processes.world()->Carry(shipment->out, shipment->in, [] { return false; });
  for (const auto& [file, name] : shipment->received) {
    if (status.ok()) status = shipment->files[file]->Rename(name);
  }
  return processes.Agree(status);
}

absl::Status LoadRank(executor::Executor& executor, const FoundSnapshots::Whole& whole) {
  std::map<int, std::unique_ptr<SnapshotFile>> files;  // by the rank whose snapshot it is
  for (const executor::StateTile& tile : executor.state()) {
    std::unique_ptr<SnapshotFile>& file = files[tile.saved_by];
    if (file == nullptr) {
      auto opened = SnapshotFile::Open(checkpoint::SnapshotPath(whole.folder, whole.set.step, tile.saved_by));
      if (!opened.ok()) return opened.status();
      file = *std::move(opened);
    }
    const auto at = file->head().tiles.find(TileKey(tile));
    if (at == file->head().tiles.end()) {
      return absl::DataLossError(absl::StrCat(file->path(), ": expected `", TileKey(tile), "`, found none"));
    }
    const absl::Status loaded = executor.LoadTile(tile, [&](void* bytes) {
      std::memcpy(bytes, file->bytes().data() + at->second, tile.spec.bytes());
      return absl::OkStatus();
    });
    if (!loaded.ok()) return loaded;
  }
  return absl::OkStatus();
}

}  // namespace

std::string TileKey(const executor::StateTile& tile) { return absl::StrCat(tile.name, " ", tile.spec.ToString()); }

absl::Status LoadSnapshots(const Context& context, executor::Cluster& cluster, const FoundSnapshots::Whole& whole) {
  if (absl::Status status = Ship(context, cluster, whole); !status.ok()) return status;
  return context.processes.Agree(
      OnEveryRank(cluster, [&](int, executor::Executor& executor) { return LoadRank(executor, whole); }));
}

}  // namespace weft::run
