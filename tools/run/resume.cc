#include "tools/run/resume.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/checkpoint/directory.h"
#include "tools/run/cluster.h"

namespace weft::run {
namespace {

using checkpoint::CheckpointReader;
const std::string kSeparator(1, '\0');  // in no path

using Reader = absl::StatusOr<std::unique_ptr<CheckpointReader>>;

// This process's share of the tensors, by as many threads as it has ranks.
absl::Status VerifyShare(CheckpointReader& reader, const Context& context) {
  const int parts = RankCountOf(context.plan);
  const int first = context.processes.rank(), count = context.processes.alone() ? parts : 1;
  std::vector<absl::Status> verdicts(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] { verdicts[i] = reader.Verify(first + i, parts); });
  }
  for (std::thread& thread : threads) thread.join();
  const auto bad =
      std::find_if(verdicts.begin(), verdicts.end(), [](const absl::Status& verdict) { return !verdict.ok(); });
  return bad == verdicts.end() ? absl::OkStatus() : *bad;
}

// Opens one checkpoint on all processes, and verifies it.
Reader OpenWhole(const std::string& path, const Context& context) {
  Reader reader = CheckpointReader::Open(path);
  if (absl::Status status = context.processes.Agree(reader.status()); !status.ok()) return status;
  if (absl::Status status = context.processes.Agree(VerifyShare(**reader, context)); !status.ok()) return status;
  if (!context.processes.alone()) (*reader)->Trust();  // what others have verified
  return reader;
}

std::unique_ptr<ResumePoint> OfCheckpoint(std::unique_ptr<CheckpointReader> reader) {
  auto point = std::make_unique<ResumePoint>();
  point->path = point->last_checkpoint = reader->path();
  point->step = reader->manifest().step;
  point->seed = reader->manifest().seed;
  point->record = reader->manifest().run;
  point->checkpoint = std::move(reader);
  return point;
}

std::unique_ptr<ResumePoint> OfSnapshots(FoundSnapshots::Whole whole, const std::string& checkpoint) {
  auto point = std::make_unique<ResumePoint>();
  point->path = absl::StrCat("the snapshots of ", whole.hosts);
  point->step = whole.set.step;
  point->seed = whole.seed;
  point->record = whole.record;
  point->last_checkpoint = checkpoint;
  point->snapshots = std::move(whole);
  return point;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ResumePoint>> FindResume(const Context& context, FoundSnapshots snapshots,
                                                        const std::function<void(const std::string&)>& tell) {
  if (!context.request.resume) return nullptr;
  Processes& processes = context.processes;
  const std::string& folder = context.request.checkpoint_dir;
  // The first process looks, and all open what it has found.
  absl::Status error;  // of the newest
  std::vector<std::string> paths;
  if (processes.first()) {
    const absl::StatusOr<std::string> newest = checkpoint::FindCheckpoint(folder);
    paths = checkpoint::CheckpointsToResume(folder);
    if (newest.ok()) {
      std::erase(paths, *newest);
      paths.insert(paths.begin(), *newest);
    } else if (!absl::IsNotFound(newest.status())) {
      error = newest.status();
    }
  }
  const auto lists = processes.AllGather(absl::StrJoin(paths, kSeparator));
  if (!lists.ok()) return lists.status();
  paths = absl::StrSplit((*lists)[0], kSeparator, absl::SkipEmpty());
  absl::Status last = error;
  for (const std::string& path : paths) {
    if (snapshots.newest.has_value() && snapshots.newest->set.step > checkpoint::StepOfPath(path))
      return OfSnapshots(*std::move(snapshots.newest), path);
    if (!last.ok()) tell(absl::StrCat(std::string(last.message()), "; trying ", path));
    Reader reader = OpenWhole(path, context);
    if (reader.ok() && snapshots.refused_step > (*reader)->manifest().step)
      tell(absl::StrCat(snapshots.refused, "; going on from ", path));
    if (reader.ok()) return OfCheckpoint(*std::move(reader));
    if (!absl::IsDataLoss(reader.status())) return reader.status();
    last = reader.status();
    if (error.ok()) error = last;
  }
  if (snapshots.newest.has_value()) return OfSnapshots(*std::move(snapshots.newest), "");
  if (absl::Status status = processes.Agree(error); !status.ok()) return status;
  if (snapshots.refused_step >= 0) tell(absl::StrCat(snapshots.refused, "; there is no checkpoint to go on from"));
  return nullptr;
}

absl::StatusOr<std::string> CheckChanges(const ResumePoint& resume, const Record& now, uint64_t seed,
                                         const Request& request) {
  const Record& before = resume.record;
  if (before.empty()) return "an older weft wrote the checkpoint: what has changed since is not known";
  const Changes changes = Compare(before, now);
  if (!changes.meaning.empty() && !request.allow_changed) {
    return absl::FailedPreconditionError(
        absl::StrCat(resume.path, ": expected the model, optimizer and form of data that it was saved with, got ",
                     absl::StrJoin(changes.meaning, ", "), "; pass --allow-changed if that is meant"));
  }
  if (changes.other_data && !request.other_data) {
    return absl::FailedPreconditionError(absl::StrCat(now.at("data"), ": expected the data of ", resume.path, ", ",
                                                      DataText(before), ", got ", DataText(now),
                                                      "; pass --other-data if that is meant"));
  }
  std::vector<std::string> all = changes.meaning;
  all.insert(all.end(), changes.course.begin(), changes.course.end());
  if (const uint64_t goes_on = resume.seed; seed != goes_on) {
    all.push_back(absl::StrCat("seed ", goes_on, " -> ", seed, " (the ", resume.kind(), "'s ", goes_on, " goes on)"));
  }
  if (changes.other_data) all.push_back(absl::StrCat("data ", DataText(before), " -> ", DataText(now)));
  return all.empty() ? "" : absl::StrCat("changed since the ", resume.kind(), ": ", absl::StrJoin(all, ", "));
}

}  // namespace weft::run
