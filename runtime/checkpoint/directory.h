// How a folder of checkpoints is laid out:
//
//   step-00000040/            a checkpoint: model.safetensors,
//                             optimizer.safetensors and manifest.json, and what
//                             goes with a model that came in from elsewhere:
//                             config.json, a tokenizer
//   .step-00000060.partial/   one that is being written, or what is left of one
//                             whose process was killed
//   latest                    the name of the newest one, and a newline
//   best                      a link to the best one, where an evaluation says which it is
//   .lock                     the run that is at work here: see folder_lock.h
//   .snapshots                where hosts have snapshots of that run in memory: see snapshot_folder.h
#ifndef WEFT_RUNTIME_CHECKPOINT_DIRECTORY_H_
#define WEFT_RUNTIME_CHECKPOINT_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::checkpoint {

inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kLatestFile = "latest";
inline constexpr const char* kBestLink = "best";

// "step-00000040".
std::string StepName(int64_t step);

// The step whose folder a path leads to, by its name; -1 for another name.
int64_t StepOfPath(const std::string& path);

// The steps that have a folder here, ascending; empty if there is no such folder.
std::vector<int64_t> ListSteps(const std::string& folder);

// The path of something that has a step's name but is no folder, and so would be in the way of a checkpoint; "" if
// there is none.
std::string FindIntruder(const std::string& folder);

// The checkpoint that a path means: the path itself if it has a manifest, else
// what `latest` in it names, else its highest step. kNotFound if there is none.
absl::StatusOr<std::string> FindCheckpoint(const std::string& path);

// What a run may go on from, best first: the checkpoints that have a manifest, from the step that `latest` names down.
// Later ones are of a run that was taken up again before them. If `latest` names no step, from the highest one.
std::vector<std::string> CheckpointsToResume(const std::string& folder);

// Makes a folder and those above it.
absl::Status MakeFolder(const std::string& path);

// Removes a folder and what is in it; none there is no error.
absl::Status RemoveFolder(const std::string& path);

// The folder in which the checkpoint of a step grows.
std::string PartialOf(const std::string& folder, int64_t step);

// Removes what killed runs have left of checkpoints that they were writing. By the only run that writes here.
absl::Status RemovePartials(const std::string& folder);

// Gives `partial` the name of step `step` in `folder`, in one step that a crash
// cannot halve, and then removes what had that name.
absl::Status Publish(const std::string& folder, const std::string& partial, int64_t step);

// Makes `best` lead to the checkpoint of a step, in one step that a crash cannot halve.
absl::Status SetBest(const std::string& folder, int64_t step);

// The step whose checkpoint is the best; -1 if none is.
int64_t BestStep(const std::string& folder);

// Whether there is a checkpoint of a step.
bool HasCheckpoint(const std::string& folder, int64_t step);

// Which checkpoints stay, beside the best.
struct KeepRule {
  int64_t last = 0;   // the newest ones; 0: all
  int64_t every = 0;  // for ever: the first one at or after every so many steps; 0: none
};

// Whether the checkpoint of a step is one that a rule keeps for ever: none that is here has a lower step and the same
// number of whole `every`s.
bool IsKeptForEver(const std::string& folder, int64_t step, int64_t every);

// Removes the checkpoints up to `step` that the rule does not keep. Later
// ones, of a run that was taken up again before them, stay, and so does what has
// a step's name but no manifest.
absl::Status RemoveOld(const std::string& folder, int64_t step, const KeepRule& keep);

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_DIRECTORY_H_
