#include "runtime/checkpoint/directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/checkpoint/file.h"

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "step-";
constexpr size_t kPrefixLength = sizeof(kPrefix) - 1;
constexpr int64_t kLongestMarker = 64;

constexpr char kPartial[] = ".partial";

// The step that a folder's name says; -1 for another name.
int64_t StepOf(const std::string& name) {
  int64_t step = -1;
  if (name.compare(0, kPrefixLength, kPrefix) != 0 || !absl::SimpleAtoi(name.substr(kPrefixLength), &step)) return -1;
  return step >= 0 && StepName(step) == name ? step : -1;
}

bool HasManifest(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(fs::path(path) / kManifestFile, error);
}

}  // namespace

std::string StepName(int64_t step) { return absl::StrFormat("%s%08d", kPrefix, step); }

int64_t StepOfPath(const std::string& path) { return StepOf(path.substr(path.rfind('/') + 1)); }

std::vector<int64_t> ListSteps(const std::string& folder) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const int64_t step = StepOf(it->path().filename().string());
    std::error_code unknown;
    if (step >= 0 && it->is_directory(unknown)) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::string FindIntruder(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (StepOf(it->path().filename().string()) >= 0 && !it->is_directory(unknown)) return it->path().string();
  }
  return "";
}

absl::StatusOr<std::string> FindCheckpoint(const std::string& path) {
  if (HasManifest(path)) return path;
  absl::StatusOr<std::string> marker = ReadText(path + "/" + kLatestFile, kLongestMarker);
  if (marker.ok()) {
    std::string name = *marker;
    if (!name.empty() && name.back() == '\n') name.pop_back();
    if (StepOf(name) >= 0 && HasManifest(path + "/" + name)) return path + "/" + name;
    return absl::DataLossError(
        absl::StrCat(path, "/", kLatestFile, ": expected the name of a checkpoint, got `", name, "`"));
  }
  if (!absl::IsNotFound(marker.status())) return marker.status();
  std::vector<int64_t> steps = ListSteps(path);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (HasManifest(path + "/" + StepName(*step))) return path + "/" + StepName(*step);
  }
  if (!steps.empty()) {
    return absl::DataLossError(
        absl::StrCat(path, "/", StepName(steps.back()), ": expected ", kManifestFile, ", found none"));
  }
  return absl::NotFoundError(absl::StrCat(path, ": no checkpoint: expected ", kManifestFile, " or ", StepName(0),
                                          " or the like, got neither"));
}

std::vector<std::string> CheckpointsToResume(const std::string& folder) {
  const absl::StatusOr<std::string> marker = ReadText(folder + "/" + kLatestFile, kLongestMarker);
  const int64_t last = marker.ok() ? StepOf(marker->substr(0, marker->find('\n'))) : -1;
  std::vector<int64_t> steps = ListSteps(folder);
  std::vector<std::string> paths;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const std::string path = folder + "/" + StepName(*step);
    if ((last < 0 || *step <= last) && HasManifest(path)) paths.push_back(path);
  }
  return paths;
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? SystemError(path, "create", error.value()) : absl::OkStatus();
}

absl::Status RemoveFolder(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? SystemError(path, "remove", error.value()) : absl::OkStatus();
}

std::string PartialOf(const std::string& folder, int64_t step) {
  return absl::StrCat(folder, "/.", StepName(step), kPartial);
}

absl::Status RemovePartials(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!absl::StartsWith(name, ".") || !absl::EndsWith(name, kPartial)) continue;
    if (StepOf(name.substr(1, name.size() - sizeof(kPartial))) >= 0) paths.push_back(it->path().string());
  }
  for (const std::string& path : paths) {
    if (absl::Status status = RemoveFolder(path); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Publish(const std::string& folder, const std::string& partial, int64_t step) {
  const std::string path = folder + "/" + StepName(step);
  if (rename(partial.c_str(), path.c_str()) == 0) return SyncDirectory(folder);
  if (errno != ENOTEMPTY && errno != EEXIST) return SystemError(path, "replace", errno);
  // The step was saved before, by a run that was taken up again earlier.
  if (renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) {
    return SystemError(path, "replace", errno);
  }
  if (absl::Status status = SyncDirectory(folder); !status.ok()) return status;
  return RemoveFolder(partial);
}

absl::Status SetBest(const std::string& folder, int64_t step) {
  const std::string link = absl::StrCat(folder, "/", kBestLink), partial = link + ".partial";
  unlink(partial.c_str());  // of a killed run
  if (symlink(StepName(step).c_str(), partial.c_str()) != 0) return SystemError(partial, "create", errno);
  if (rename(partial.c_str(), link.c_str()) == 0) return SyncDirectory(folder);
  const absl::Status status = SystemError(link, "replace", errno);
  unlink(partial.c_str());
  return status;
}

int64_t BestStep(const std::string& folder) {
  std::error_code error;
  const fs::path target = fs::read_symlink(fs::path(folder) / kBestLink, error);
  return error ? -1 : StepOf(target.string());
}

bool HasCheckpoint(const std::string& folder, int64_t step) { return HasManifest(folder + "/" + StepName(step)); }

bool IsKeptForEver(const std::string& folder, int64_t step, int64_t every) {
  if (every <= 0 || step < every) return false;
  const std::vector<int64_t> steps = ListSteps(folder);
  return std::none_of(steps.begin(), steps.end(),
                      [&](int64_t it) { return it < step && it / every == step / every && HasCheckpoint(folder, it); });
}

absl::Status RemoveOld(const std::string& folder, int64_t step, const KeepRule& keep) {
  if (keep.last <= 0) return absl::OkStatus();
  std::vector<int64_t> steps = ListSteps(folder);
  std::erase_if(steps, [&](int64_t it) { return it > step || !HasCheckpoint(folder, it); });
  const int64_t best = BestStep(folder);
  for (int64_t i = 0; i + keep.last < static_cast<int64_t>(steps.size()); ++i) {
    if (steps[i] == best || IsKeptForEver(folder, steps[i], keep.every)) continue;
    if (absl::Status status = RemoveFolder(folder + "/" + StepName(steps[i])); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace weft::checkpoint
