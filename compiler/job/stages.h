// Keys of a job that say something of stages.
#ifndef WEFT_COMPILER_JOB_STAGES_H_
#define WEFT_COMPILER_JOB_STAGES_H_

#include <string>

#include "runtime/plan/job.pb.h"

namespace weft {

// The first key that is set and says nothing where all layers are on one stage: "pipeline.chunks 4"; empty if there is
// none. What is set to its default counts as absent.
std::string KeyOfStages(const Pipeline& pipeline);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_STAGES_H_
