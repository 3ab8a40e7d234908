// Which jobs say how a model file is elaborated.
#ifndef WEFT_COMPILER_EDITOR_JOBS_H_
#define WEFT_COMPILER_EDITOR_JOBS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/job.pb.h"

namespace weft::editor {

struct NamedJob {
  std::string path; // of the job file; empty: none, and the batch is 1
  Job job;          // with paths as seen from here; on ranks that are chosen by hand
};

/// The job at `path` with `overrides`, as LoadJob takes them.
absl::StatusOr<NamedJob> jobAt(const std::string &path, const std::vector<std::string> &overrides);

/// Whether the model of `job` is `file`, a path, or imports it.
bool hasModel(const Job &job, const std::string &file);

/// For the model file at `file`, an absolute path: the job of its folder that has this model, tiny.job before the
/// others, then by name. Without one, of every model in its folder and the folders below it that imports the file, the
/// job found that way. Without these too, a job of which nothing but the model is said. Job files that are wrong are
/// passed over.
std::vector<NamedJob> jobsOf(const std::string &file);

} // namespace weft::editor

#endif // WEFT_COMPILER_EDITOR_JOBS_H_
