#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan/program.h"
#include "runtime/plan/validate.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

// Counts a run's acts into `done`: micro-batches (or, of STEP actors, steps).
absl::Status CheckRun(const Stage& stage, int stream, const Run& run, std::vector<int64_t>& done) {
  if (run.repeat() < 1 || run.repeat() > kMaxMicroBatches) {
    return InvalidPlan("repeat: expected 1 to ", kMaxMicroBatches, ", got ", run.repeat());
  }
  if (run.first_micro_batch() < 0 || run.first_micro_batch() >= kMaxMicroBatches) {
    return InvalidPlan("first micro-batch: expected 0 to ", kMaxMicroBatches - 1, ", got ", run.first_micro_batch());
  }
  if (run.offsets_size() > 0 && run.offsets_size() != run.actors_size()) {
    return InvalidPlan("offsets: expected none or ", run.actors_size(), ", one an actor, got ", run.offsets_size());
  }
  const int64_t stride = std::max<int64_t>(run.stride(), 1);
  if (run.stride() < 0 || stride > kMaxMicroBatches) {
    return InvalidPlan("stride: expected 0 to ", kMaxMicroBatches, ", got ", run.stride());
  }
  absl::flat_hash_map<int32_t, int64_t> times;  // in the list
  for (int k = 0; k < run.actors_size(); ++k) {
    const int32_t a = run.actors(k);
    const int64_t offset = run.offsets_size() > 0 ? run.offsets(k) : 0;
    if (offset <= -kMaxMicroBatches || offset >= kMaxMicroBatches) {
      return InvalidPlan("offset: expected less than ", kMaxMicroBatches, ", got ", offset);
    }
    if (a < 0 || a >= stage.actors_size()) {
      return InvalidPlan("actors: expected indices below ", stage.actors_size(), ", got ", a);
    }
    const Actor& actor = stage.actors(a);
    if (actor.stream() != stream) {
      return InvalidPlan("actor `", actor.name(), "`: expected on its own stream ", actor.stream(), ", got ", stream);
    }
    if (actor.section() == Actor::STEP) {
      if (run.repeat() != 1 || done[a] != 0)
        return InvalidPlan("actor `", actor.name(), "`: expected once a step, got more");
    } else if (MicroBatchOf(run, k, 0) != done[a]) {
      return InvalidPlan("actor `", actor.name(), "`: expected micro-batch ", done[a], " next, got ",
                         MicroBatchOf(run, k, 0));
    }
    ++done[a];
    ++times[a];
  }
  // The list that repeats goes on where it ended.
  for (int k = 0; k < run.actors_size() && run.repeat() > 1; ++k) {
    int64_t& listed = times[run.actors(k)];
    if (listed == 0) continue;  // it was counted
    if (listed != stride) {
      return InvalidPlan("actor `", stage.actors(run.actors(k)).name(), "`: expected ", stride,
                         " times in a list that repeats, the stride, got ", listed);
    }
    done[run.actors(k)] += (run.repeat() - 1) * stride;
    listed = 0;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStreams(const Plan& plan, const Stage& stage) {
  std::vector<int64_t> done(stage.actors_size(), 0);
  int64_t acts = 0;
  for (int s = 0; s < stage.streams_size(); ++s) {
    const Stream& stream = stage.streams(s);
    const std::string place = absl::StrCat("stream ", s, " `", stream.name(), "`");
    if (!Stream::Kind_IsValid(stream.kind())) {
      return InvalidPlan(place, ": kind: expected 0 to ", Stream::Kind_MAX, ", got ", static_cast<int>(stream.kind()));
    }
    for (int r = 0; r < stream.runs_size(); ++r) {
      const Run& run = stream.runs(r);
      if (absl::Status status = CheckRun(stage, s, run, done); !status.ok()) {
        return Under(absl::StrCat(place, ": run ", r), status);
      }
      if (run.actors_size() > (kMaxActs - acts) / run.repeat()) {
        return InvalidPlan(place, ": acts of a step: expected at most ", kMaxActs, ", got more");
      }
      acts += run.actors_size() * run.repeat();
    }
  }
  for (int a = 0; a < stage.actors_size(); ++a) {
    const Actor& actor = stage.actors(a);
    const int64_t expected = actor.section() == Actor::STEP ? 1 : plan.header().micro_batches();
    if (done[a] == expected) continue;
    return InvalidPlan("actor `", actor.name(), "`: expected ", expected,
                       actor.section() == Actor::STEP ? " act a step, got " : " micro-batches on its stream, got ",
                       done[a]);
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
