#include "compiler/job/stages.h"

#include "absl/strings/str_cat.h"

namespace weft {

std::string KeyOfStages(const Pipeline& pipeline) {
  if (!pipeline.schedule_file().empty()) {
    return "pipeline.schedule_file";
  }
  if (pipeline.schedule() != ONE_F_ONE_B && PipelineSchedule_IsValid(pipeline.schedule())) {
    return absl::StrCat("pipeline.schedule ", PipelineSchedule_Name(pipeline.schedule()));
  }
  if (pipeline.form() != H1 && ZeroBubble_IsValid(pipeline.form())) {
    return absl::StrCat("pipeline.form ", ZeroBubble_Name(pipeline.form()));
  }
  if (pipeline.chunks() > 1) {
    return absl::StrCat("pipeline.chunks ", pipeline.chunks());
  }
  if (pipeline.cuts_size() > 0) {
    return "pipeline.cuts";
  }
  return pipeline.stages_size() > 0 ? "pipeline.stages" : "";
}

}  // namespace weft
