#include "tools/run/places.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/directory.h"

namespace weft::run {
namespace {

namespace fs = std::filesystem;

absl::Status Wrong(const char* flag, const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", path, ": ", what));
}

absl::Status CannotCreate(const char* flag, const std::string& path, int error) {
  return Wrong(flag, path, absl::StrCat("cannot be created: ", std::strerror(error)));
}

absl::Status CheckFile(const char* flag, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return Wrong(flag, path, "expected the name of a file, got that of a folder");
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return absl::OkStatus();  // a pipe, a terminal
  const std::string partial = path + ".partial";  // what the writers write before they rename
  const int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return CannotCreate(flag, path, errno);
  close(file);
  unlink(partial.c_str());
  return absl::OkStatus();
}

absl::Status CheckFolder(const char* flag, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::error_code error;
  std::vector<fs::path> missing;  // innermost first
  for (fs::path folder = path; !folder.empty() && !fs::exists(folder, error); folder = folder.parent_path()) {
    missing.push_back(folder);
  }
  error.clear();
  fs::create_directories(path, error);
  absl::Status status;
  if (error) {
    status = CannotCreate(flag, path, error.value());
  } else if (!fs::is_directory(path, error)) {
    status = Wrong(flag, path, "expected a folder, got a file");
  } else if (access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    status = Wrong(flag, path, absl::StrCat("cannot be written: ", std::strerror(errno)));
  }
  for (const fs::path& folder : missing) rmdir(folder.c_str());  // only if it is there, and empty
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<checkpoint::FolderLock>> TakeFolder(const Request& request) {
  const std::string& folder = request.checkpoint_dir;
  if (folder.empty()) return nullptr;
  auto lock = checkpoint::FolderLock::Take(folder, request.lost_hosts);
  if (!lock.ok())
    return absl::Status(lock.status().code(), absl::StrCat("--checkpoint-dir: ", lock.status().message()));
  if (const std::string intruder = checkpoint::FindIntruder(folder); !intruder.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--checkpoint-dir: ", intruder, ": expected the folder of a checkpoint, got a file"));
  }
  if (const std::vector<int64_t> steps = checkpoint::ListSteps(folder); !request.resume && !steps.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--checkpoint-dir: ", folder, ": expected no checkpoints of an earlier run, got ",
        checkpoint::StepName(steps.back()), steps.size() == 1 ? "" : absl::StrCat(" and ", steps.size() - 1, " more"),
        "; pass --resume to go on from there, or another folder"));
  }
  return lock;
}

absl::Status CheckPlaces(const Request& request) {
  for (const absl::Status& status :
       {CheckFile("--metrics", request.metrics), CheckFile("--trace", request.trace),
        CheckFile("--report", request.report), CheckFile("--outputs", request.outputs),
        CheckFolder("--tensorboard", request.tensorboard), CheckFolder("--checkpoint-dir", request.checkpoint_dir),
        CheckFolder("--tier-dir", request.tier_dir)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace weft::run
