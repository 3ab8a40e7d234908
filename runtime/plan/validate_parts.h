// The parts of Validate(), one a file; each assumes those before it. Messages
// start below the stage, which Validate() puts in front.
#ifndef WEFT_RUNTIME_PLAN_VALIDATE_PARTS_H_
#define WEFT_RUNTIME_PLAN_VALIDATE_PARTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/program.h"

namespace weft::plan {

template <typename... Parts>
absl::Status InvalidPlan(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

inline absl::Status Under(const std::string& place, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(place, ": ", status.message()));
}

// validate_header.cc
absl::Status CheckHeader(const Header& header);
absl::Status CheckPlacement(const Placement& placement);
// validate_buffer.cc
absl::Status CheckBuffers(const Plan& plan, const Stage& stage);
// validate_actor.cc
absl::Status CheckActors(const Plan& plan, int stage);
// validate_stream.cc
absl::Status CheckStreams(const Plan& plan, const Stage& stage);
// validate_register.cc
absl::Status CheckRegisters(const Program& program);
// validate_collective.cc
absl::Status CheckCollectives(const Program& program);
// validate_tier.cc
absl::Status CheckTiers(const Program& program);
// validate_transfer.cc
absl::Status CheckTransfers(const std::vector<Program>& programs);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_VALIDATE_PARTS_H_
