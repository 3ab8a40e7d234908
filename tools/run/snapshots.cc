#include "tools/run/snapshots.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/snapshot_folder.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/trace/timeline.h"
#include "tools/run/cluster.h"
#include "tools/run/kept_state.h"
#include "tools/run/load_snapshots.h"
#include "tools/run/state.h"

namespace weft::run {
namespace {

using checkpoint::SnapshotFile;

// Steps of which there are snapshots: one is whole while the other is written.
constexpr size_t kSteps = 2;

absl::Status Flagged(const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("--snapshot-every: ", std::string(status.message())));
}

}  // namespace

Snapshots::~Snapshots() {
  given_up_ = true;
  aside_.Join().IgnoreError();
}

// Each rank keeps what it saves in checkpoints.
void Snapshots::LayOut(const Record& record) {
  const int ranks = RankCountOf(context_.plan);
  checkpoint::SnapshotHead head{.plan = context_.plan.header().hash(), .record = record};
  for (int rank = 0; rank < ranks; ++rank) {
    const int host = hosts_.HostOfRank(rank);
    std::vector<std::string>& kept_on = head.hosts.emplace_back();
    kept_on.push_back(hosts_.NameOf(hosts_.ring.RanksOf(host)[0]));
    if (hosts_.ring.size() > 1) kept_on.push_back(hosts_.NameOf(hosts_.ring.RanksOf(hosts_.ring.Next(host))[0]));
  }
  for (int i = 0; i < cluster_.size(); ++i) {
    Own own{.head = head};
    own.kept.rank = own.head.rank = cluster_.executor(i).rank();
    for (const executor::StateTile& tile : cluster_.executor(i).state()) {
      if (!tile.primary) continue;
      own.tiles.emplace_back(&tile, own.bytes);
      own.head.tiles[TileKey(tile)] = own.bytes;
      own.bytes += plan::AlignUp(tile.spec.bytes());
    }
    own.kept.file_bytes = SnapshotFile::BytesFor(own.bytes, own.head);
    own_.push_back(std::move(own));
  }
}

absl::Status Snapshots::Prepare(const RankMemory& own, const Record& record, bool goes_on) {
  Processes& processes = context_.processes;
  if (!goes_on) {
    if (absl::Status status = ForgetBefore(); !status.ok()) return status;
  }
  if (context_.request.snapshot_every.none()) return absl::OkStatus();
  LayOut(record);
  nlohmann::json word = {{"identity", checkpoint::NewSnapshotIdentity()}, {"file", 0}, {"tiles", 0}};
  for (const Own& one : own_) {
    word["file"] = one.kept.file_bytes;  // of one rank, where there are several processes
    word["tiles"] = word["tiles"].get<int64_t>() + one.bytes;
  }
  const auto words = GatherJson(processes, word);
  if (!words.ok()) return words.status();
  for (const nlohmann::json& one : *words) all_bytes_ += one["tiles"].get<int64_t>();
  if (!processes.alone()) neighbours_ = SnapshotNeighbours::Of(hosts_.ring, processes.rank());
  for (const int rank : neighbours_.from)
    others_.push_back({.rank = rank, .file_bytes = (*words)[rank]["file"].get<int64_t>()});
  for (const Kept* kept : All()) bytes_ += static_cast<int64_t>(kSteps) * kept->file_bytes;
  const auto identity = (*words)[0]["identity"].get<std::string>();
  folder_ = checkpoint::SnapshotFolderOf(context_.request.snapshot_dir, identity);
  for (Own& one : own_) one.head.run = identity;
  const absl::Status made = processes.Agree(MakeFolder(own, goes_on));
  if (!made.ok()) {
    RemoveOnHost({folder_}).IgnoreError();
    return Flagged(made);
  }
  std::vector<std::string> folders = before_;
  folders.insert(folders.begin(), folder_);
  return processes.Agree(processes.first() ? checkpoint::WriteSnapshotIndex(context_.request.checkpoint_dir, folders)
                                           : absl::OkStatus());
}

absl::Status Snapshots::MakeFolder(const RankMemory& own, bool goes_on) {
  if (absl::Status status = checkpoint::CheckMemoryFolder(context_.request.snapshot_dir); !status.ok()) return status;
  // A GPU's memory is not the host's; ranks of one process share what the host has.
  if (context_.device == nullptr && !context_.processes.alone()) {
    RankMemory with = own;
    with.snapshots = bytes_;
    if (absl::Status status = CheckMemory(context_.plan, with); !status.ok()) return status;
  }
  if (absl::Status status = checkpoint::MakePrivateFolder(folder_); !status.ok()) return status;
  // Those of before keep one step until this run has its own.
  for (size_t step = goes_on ? 1 : 0; step < kSteps; ++step) {
    if (absl::Status status = AddFiles(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<Snapshots::Kept*> Snapshots::All() {
  std::vector<Kept*> all;
  for (Own& own : own_) all.push_back(&own.kept);
  for (Kept& kept : others_) all.push_back(&kept);
  return all;
}

std::string Snapshots::PartialOf(int rank, size_t file) const {
  return absl::StrCat(folder_, "/.rank-", rank, ".", file, ".partial");
}

absl::Status Snapshots::AddFiles() {
  for (Kept* kept : All()) {
    auto file = SnapshotFile::Create(PartialOf(kept->rank, kept->files.size()), kept->file_bytes);
    if (!file.ok()) return file.status();
    kept->files.push_back(*std::move(file));
  }
  return absl::OkStatus();
}

absl::Status Snapshots::RemoveOnHost(const std::vector<std::string>& folders) {
  absl::Status status;
  for (const std::string& folder : folders) {
    if (!hosts_.IsFirstOnHost(context_.processes)) continue;
    if (!checkpoint::CheckPrivate(folder).ok()) continue;  // there is none, or it was told that it is refused
    if (absl::Status removed = checkpoint::RemoveSnapshots(folder); status.ok()) status = removed;
  }
  return context_.processes.Agree(status);
}

absl::Status Snapshots::ForgetBefore() {
  if (before_.empty()) return absl::OkStatus();
  std::vector<std::string> left;
  if (!folder_.empty()) left = {folder_};
  absl::Status status;
  if (context_.processes.first()) status = checkpoint::WriteSnapshotIndex(context_.request.checkpoint_dir, left);
  if (status = context_.processes.Agree(status); !status.ok()) return status;
  return RemoveOnHost(std::exchange(before_, {}));
}

std::string Snapshots::Text() const {
  if (folder_.empty()) return "";
  return absl::StrCat("snapshots of ", plan::BytesText(all_bytes_), " in ", folder_,
                      hosts_.ring.size() > 1 ? " of each host, and of the next one" : "");
}

absl::Status Snapshots::Copy() {
  for (Kept* kept : All()) {
    if (absl::Status status = kept->file().Unseal(PartialOf(kept->rank, kept->next)); !status.ok()) return status;
  }
  return OnEveryRank(cluster_, [&](int i, executor::Executor& executor) {
    char* const base = own_[i].kept.file().bytes().data();
    for (const auto& [tile, offset] : own_[i].tiles) {
      const absl::Status taken = executor.SaveTile(*tile, [&, tile = tile, offset = offset](const void* bytes) {
        std::memcpy(base + offset, bytes, tile->spec.bytes());
        return absl::OkStatus();
      });
      if (!taken.ok()) return taken;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Snapshots::Done> Snapshots::Begin(State state) {
  const int64_t begin = trace::NowNs();
  absl::StatusOr<Done> before = Wait();
  if (!before.ok()) return before;
  if (absl::Status copied = context_.processes.Agree(Copy()); !copied.ok()) return copied;
  state_ = std::move(state);
  under_way_ = true;
  aside_.Start([this] { return Keep(); });
  begin_ns_ = begin;
  stood_ns_ = trace::NowNs() - begin;
  return before;
}

absl::Status Snapshots::Seal(Own& own) {
  SnapshotFile& file = own.kept.file();
  for (const auto& [tile, offset] : own.tiles) {
    if (given_up_) return absl::CancelledError("given up");
    if (context_.request.allow_nonfinite) continue;
    if (absl::Status finite = CheckFinite(*tile, file.bytes().data() + offset); !finite.ok()) return finite;
  }
  own.head.step = state_.step;
  own.head.seed = state_.seed;
  own.head.record = state_.record;
  if (absl::Status status = file.Seal(own.head, own.bytes); !status.ok()) return status;
  return file.Rename(checkpoint::SnapshotPath(folder_, state_.step, own.kept.rank));
}

// By the thread. Whatever goes wrong here, the neighbours get what they wait for: what is not sealed is of no use to
// them.
absl::Status Snapshots::Keep() {
  absl::Status status;
  for (Own& own : own_) {
    if (absl::Status sealed = Seal(own); status.ok()) status = sealed;
  }
  if (neighbours_.to < 0) return status;
  std::vector<collective::OutParcel> out = {{neighbours_.to, own_[0].kept.file().bytes()}};
  std::vector<collective::InParcel> in;
  for (Kept& kept : others_) in.push_back({kept.rank, kept.file().bytes()});
  const absl::Status carried = context_.processes.world()->Carry(out, in, [this] { return given_up_.load(); });
  if (status.ok()) status = carried;
  if (!carried.ok()) return status;
  for (Kept& kept : others_) {
    if (!kept.file().IsSealed()) continue;
    const absl::Status named = kept.file().Rename(checkpoint::SnapshotPath(folder_, state_.step, kept.rank));
    if (status.ok()) status = named;
  }
  return status;
}

absl::StatusOr<Snapshots::Done> Snapshots::Advance(bool all_at_rest) {
  if (!under_way_ || !all_at_rest) return Done();
  under_way_ = false;
  if (absl::Status status = context_.processes.Agree(aside_.Join()); !status.ok()) {
    if (!absl::IsAborted(status)) return status;
    return absl::AbortedError(absl::StrCat("step ", state_.step, " cannot be kept: ", status.message()));
  }
  const trace::TakenSnapshot done{.step = state_.step,
                                  .bytes = all_bytes_,
                                  .stood_s = static_cast<double>(stood_ns_) * 1e-9,
                                  .write_s = static_cast<double>(trace::NowNs() - begin_ns_) * 1e-9};
  // The first ones of this run take the place of those that it goes on from.
  if (absl::Status status = ForgetBefore(); !status.ok()) return status;
  absl::Status added;
  if (own_[0].kept.files.size() < kSteps) added = AddFiles();
  if (added = context_.processes.Agree(added); !added.ok()) return Flagged(added);
  for (Kept* kept : All()) kept->next = (kept->next + 1) % kSteps;
  return Done{done};
}

absl::StatusOr<Snapshots::Done> Snapshots::Wait() {
  return Advance(true);  // which joins the thread
}

absl::Status Snapshots::Remove() {
  if (!folder_.empty()) before_.push_back(std::exchange(folder_, ""));
  own_.clear();
  others_.clear();
  return ForgetBefore();
}

}  // namespace weft::run
