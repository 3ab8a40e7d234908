// What a choice comes to, by the profile of its stage: seconds of a step and bytes of a rank.
#ifndef WEFT_COMPILER_AUTO_ESTIMATE_H_
#define WEFT_COMPILER_AUTO_ESTIMATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/auto/choice.h"
#include "compiler/auto/profile.h"
#include "compiler/auto/schedules.h"
#include "runtime/plan/cost.h"

namespace weft {
class Tier;
}

namespace weft::compiler {

struct Estimate {
  double step_s = 0;
  double bytes = 0;                           // of the rank that needs most
  double lowStateBytes = 0, lowKeptBytes = 0; // below the device, of the rank that has most of it there
  std::vector<std::string> cuts;              // the layers that begin a chunk, but the first
  const Tier *fullTier = nullptr;             // that has too little, if one has
  double tierLacksBytes = 0;                  // so much

  bool fits(double memory) const { return fullTier == nullptr && bytes <= memory; }
};

/// How a model is cut into stages.
struct CutOptions {
  double limitBytes = 0;          // that a rank may need
  int measured = 0;               // see schedule::bestCut; 0: a quick cut
  std::vector<std::string> asked; // `pipeline.cuts`, which say it themselves
};

/// Of a choice, by the profile of the whole model on the mesh of one of its stages, with its micro-batch, and with
/// split backwards if its schedule splits them. Stages are cut such that a step is shortest (schedule/cuts.h); their
/// schedule is timed unit by unit, with the time that a micro-batch takes from stage to stage. InvalidArgument: no such
/// schedule, or fewer pieces than chunks.
absl::StatusOr<Estimate> estimate(const Choice &choice, int64_t microBatches, const Profile &profile,
                                  const plan::Machine &machine, Schedules &schedules, const CutOptions &how);

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_ESTIMATE_H_
