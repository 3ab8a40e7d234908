// What graph.auto_parallel chooses: the keys of a job that say its layout.
#ifndef WEFT_COMPILER_AUTO_CHOICE_H_
#define WEFT_COMPILER_AUTO_CHOICE_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/job.pb.h"

namespace weft::compiler {

/// What a search looks at.
inline constexpr int64_t kMostStages = 64, kMostChunks = 8, kMostMicroBatches = 4096;

/// A value for every key. What recompute does follows from the memory: its policy is the job's, or AUTO.
struct Choice {
  int64_t data = 1, expert = 1, context = 1, tensor = 1, pipeline = 1; // dist
  int64_t micro = 1;                                                   // sequences that are under way together
  int64_t overlap = 1;                                                 // batch.overlap; batch.micro is a part of micro
  int64_t zero = 0, group = 0;                                         // zero.stage, zero.group
  PipelineSchedule schedule = ONE_F_ONE_B;
  ZeroBubble form = H1;
  int64_t chunks = 1; // a stage
  int64_t layout = 0; // of parameters: the model's, or the first, second... that was found (layouts.h)

  auto operator<=>(const Choice &other) const = default;
  int64_t stageRanks() const { return data * expert * context * tensor; }
  int64_t ranks() const { return stageRanks() * pipeline; }
};

/// Schedules aside, but for how many micro-batches are under way.
inline Choice unscheduled(Choice choice) {
  choice.schedule = ONE_F_ONE_B;
  choice.form = H1;
  choice.chunks = 1;
  return choice;
}

/// The choices that a job with graph.auto_parallel leaves open, on a cluster. Plain values; any thread.
class Space {
public:
  Space(const Job &asked, const Cluster &cluster);

  /// The open axes of the mesh, as keys, each with choices that split nothing but along it, once for each prime factor
  /// of the ranks, and have the whole batch as a micro-batch. For seeing which axes the model has a use for.
  std::vector<std::pair<std::string, std::vector<Choice>>> axesAlone() const;

  /// Whether parameters may lie elsewhere than where the model or the job pins them.
  bool movesParameters() const { return !asked_.graph().keep_pins() && asked_.graph().pin_size() == 0; }

  /// Leaves out what has ranks along an axis or, of "zero.stage", what splits state: the model has no use for it.
  void close(const std::string &key) { closed_.insert(key); }

  /// The keys that are open: "dist.data", "zero.stage".
  std::vector<std::string> open() const;

  /// Whether the job leaves it open or says the same, its sizes divide each other, and the cluster has the ranks.
  bool has(const Choice &choice) const;

  /// Calls `visit` with every choice, in a fixed order.
  void forEach(const std::function<void(const Choice &)> &visit) const;

  /// The schedules that a choice may have instead of its own, its own among them.
  std::vector<Choice> schedulesOf(const Choice &choice) const;

  /// Choices that differ from `choice` in one key, or in two that share ranks or micro-batches: a factor goes from one
  /// axis to another, perhaps for another one, and perhaps with the size of a micro-batch. Schedules aside.
  std::vector<Choice> neighbours(const Choice &choice) const;

  /// The same with micro-batches that overlap, of half the size unless the job says the size; itself if the job says
  /// whether they do, or if they cannot.
  Choice overlapped(const Choice &choice) const;

  /// Without that.
  Choice apart(const Choice &choice) const;

  /// Some to begin with, far apart.
  std::vector<Choice> starts() const;

  /// The job, resolved, with what was chosen; it asks for no search.
  Job jobOf(const Choice &choice) const;

  /// What was open and is now set: "dist.data=8 batch.micro=16", and perhaps "graph.pin=...".
  std::string keysOf(const Choice &choice) const;

  /// Those that overlap count as one.
  int64_t microBatches(const Choice &choice) const { return asked_.batch().global() / choice.micro; }

private:
  bool allowsZero(const Choice &choice) const;
  // Whether ZeRO splits anything, if it may.
  bool sharesOut(const Choice &choice) const;
  // The stage of ZeRO of what shares nothing out.
  int64_t leastZero() const;
  int64_t leastOverlap() const;

  const Job asked_;
  int64_t ranks_ = 1, nodeRanks_ = 1;
  std::set<std::string> closed_; // keys
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_CHOICE_H_
