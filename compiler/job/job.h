// Jobs: read, overridden, checked and completed.
#ifndef WEFT_COMPILER_JOB_JOB_H_
#define WEFT_COMPILER_JOB_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "runtime/plan/job.pb.h"

namespace weft {

// Ranks of the local machine, which a job without a cluster runs on: threads of one process.
inline constexpr int64_t kMostLocalRanks = 64;

// Reads the protobuf text at `path`, applies `overrides` in order, and returns the job as it will be stored in a
// plan: valid, every default filled in (see ResolveJob). Its paths are as the file and the overrides have them, seen
// from the folder of the job file, so that a plan does not depend on how its job was named; LocateJob says where they
// lead.
//
// An override is "key.path=value": a number, a word or text for a field, "{...}" with protobuf text for a
// message; a repeated field is appended to. What `--set name=value` says is "model.set=name=value".
//
// Errors are InvalidArgument, or NotFound for a file that cannot be read. They begin with "path:line:column: " or
// "path: " and name the key. Thread-compatible; keeps nothing.
absl::StatusOr<Job> LoadJob(const std::string& path, const std::vector<std::string>& overrides);

// As LoadJob, on text; `path` is where it came from.
absl::StatusOr<Job> ParseJob(const std::string& text, const std::string& path,
                             const std::vector<std::string>& overrides);

// Sets one key of `job`, as an override of LoadJob does.
absl::Status ApplyOverride(const std::string& override_text, Job* job);

// The job with its paths as seen from where `path`, its file, was named: "../gpt2.mlir" of "jobs/a.job" is "gpt2.mlir".
Job LocateJob(Job job, const std::string& path);

// The text that a job file, or a cluster file, may hold to say `message`. Of a job as LoadJob returns it, saved in the
// folder of the file that it was read from, it compiles to the same plan.
std::string MessageText(const google::protobuf::Message& message);

// Fills in what is absent: sizes of mesh axes are 1; `batch.micro` is `batch.global`, or 1, and `batch.global` is
// `batch.micro`; the moments and epsilon of adam; a constant schedule. Of several `model.set` of one name the
// last stays. With graph.auto_parallel the layout stays open (see compiler/auto): sizes that are absent are 0.
void ResolveJob(Job* job);

// Micro-batches in a step of training, of a valid job. A function has one, whatever the job says: see `micro_batches`
// of weft.graph.
int64_t MicroBatches(const Batch& batch);

// Checks a resolved job: every number in its range, and keys that go together.
absl::Status ValidateJob(const Job& job);

// Whether the job says that what some layer keeps lies in a tier; and whether it may
// lie there, as AUTO may choose so.
bool Offloads(const Recompute& recompute);
bool MayOffload(const Recompute& recompute);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_JOB_H_
