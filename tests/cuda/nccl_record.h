// What every rank of a plan asks of NCCL in a step, and whether it can hang.
#ifndef WEFT_TESTS_CUDA_NCCL_RECORD_H_
#define WEFT_TESTS_CUDA_NCCL_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/actor/conditions.h"
#include "runtime/collective/nccl/ids.h"
#include "runtime/plan/plan.pb.h"
#include "tests/emulation/nccl/calls.h"

namespace weft::tests {

// A group of calls that an act puts into its stream.
struct NcclLaunch {
  int comm = 0;  // among the record's
  int member = 0;
  nccl::CallGroup calls;
};

struct NcclAct {
  int actor = 0;
  int64_t micro_batch = 0;
  std::vector<NcclLaunch> launches;  // one after another
};

// One rank's step: the acts of each stream, in order, and what each actor waits for.
struct NcclRank {
  int rank = 0;
  actor::ProgramSpec spec;
  std::vector<std::vector<actor::Condition>> conditions;
  std::vector<std::vector<NcclAct>> streams;
};

struct NcclRecord {
  std::vector<collective::NcclName> comms;
  std::vector<NcclRank> ranks;

  int64_t launches() const;
};

// Makes every rank's operations as its executor does and runs the acts of a step,
// stream by stream, over a table of NCCL that notes the calls.
absl::StatusOr<NcclRecord> RecordNccl(const plan::Plan& plan);

// All members of a communicator issue groups that meet, in one order; each
// communicator is used by one stream of a rank. Names the first difference.
absl::Status CheckCallsMeet(const NcclRecord& record);

// Carries the step out with every group as a meeting of all its members that keeps
// the stream until all have come. Acts begin when what they wait for has ended. What
// is stuck then is stuck in every order. Names the streams that are.
absl::Status CheckNoDeadlock(const NcclRecord& record);

}  // namespace weft::tests

#endif  // WEFT_TESTS_CUDA_NCCL_RECORD_H_
