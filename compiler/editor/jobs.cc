#include "compiler/editor/jobs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "compiler/job/job.h"
#include "compiler/text/outline.h"
#include "runtime/plan/read_file.h"

namespace weft::editor {
namespace {

namespace fs = std::filesystem;

fs::path real(const fs::path &path) {
  std::error_code none;
  return fs::weakly_canonical(path, none);
}

// The job files of a folder, tiny.job first.
std::vector<fs::path> jobFilesOf(const fs::path &folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".job") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end(), [](const fs::path &a, const fs::path &b) {
    const bool first = a.filename() == "tiny.job", second = b.filename() == "tiny.job";
    return first != second ? first : a < b;
  });
  return files;
}

// The first job of each model in a folder, by the model's path.
std::map<fs::path, NamedJob> jobsByModel(const fs::path &folder) {
  std::map<fs::path, NamedJob> jobs;
  for (const fs::path &path : jobFilesOf(folder)) {
    if (absl::StatusOr<NamedJob> job = jobAt(path.string(), {}); job.ok()) {
      jobs.try_emplace(real(job->job.model().file()), *std::move(job));
    }
  }
  return jobs;
}

// Whether `model` takes in `file`, on its own or by what it imports. `seen` has the files that were looked at.
bool importsFile(const fs::path &model, const fs::path &file, std::set<fs::path> &seen) {
  if (!seen.insert(model).second) {
    return false;
  }
  const absl::StatusOr<std::string> text = plan::ReadText(model.string());
  if (!text.ok()) {
    return false;
  }
  const text::Outline outline = text::outlineOf(*text);
  return std::any_of(outline.imports.begin(), outline.imports.end(), [&](const text::Import &import) {
    const fs::path path = real(model.parent_path() / import.path);
    return path == file || importsFile(path, file, seen);
  });
}

} // namespace

absl::StatusOr<NamedJob> jobAt(const std::string &path, const std::vector<std::string> &overrides) {
  absl::StatusOr<Job> job = LoadJob(path, overrides);
  if (!job.ok()) {
    return job.status();
  }
  if (job->graph().auto_parallel()) { // a layout that nobody has chosen yet
    job->mutable_graph()->clear_auto_parallel();
    job->clear_dist();
    job->clear_pipeline();
    ResolveJob(&*job);
  }
  return NamedJob{path, LocateJob(*std::move(job), path)};
}

bool hasModel(const Job &job, const std::string &file) {
  const fs::path model = real(job.model().file()), path = real(file);
  std::set<fs::path> seen;
  return model == path || importsFile(model, path, seen);
}

std::vector<NamedJob> jobsOf(const std::string &file) {
  const fs::path path = real(file), folder = path.parent_path();
  std::map<fs::path, NamedJob> here = jobsByModel(folder);
  if (auto own = here.find(path); own != here.end()) {
    return {own->second};
  }
  std::error_code none;
  std::set<fs::path> folders;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, none)) {
    if (entry.is_directory(none)) {
      folders.insert(entry.path());
    }
  }
  for (const fs::path &below : folders) {
    here.merge(jobsByModel(below));
  }
  std::vector<NamedJob> found;
  for (const auto &[model, job] : here) {
    std::set<fs::path> seen;
    if (importsFile(model, path, seen)) {
      found.push_back(job);
    }
  }
  if (found.empty()) {
    NamedJob alone;
    alone.job.mutable_model()->set_file(file);
    ResolveJob(&alone.job);
    found.push_back(alone);
  }
  return found;
}

} // namespace weft::editor
