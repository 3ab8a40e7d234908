// The schedules of choices, each made once: what orders their units does not depend on the model.
#ifndef WEFT_COMPILER_AUTO_SCHEDULES_H_
#define WEFT_COMPILER_AUTO_SCHEDULES_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/auto/choice.h"
#include "compiler/schedule/measure.h"

namespace weft::compiler {

struct MadeSchedule {
  schedule::Schedule schedule;
  std::vector<std::vector<schedule::Stash>> stashes; // of it
};

class Schedules {
public:
  /// Of the stages, schedule and chunks of a choice. An error is that of schedule::make. The result lives as long as
  /// this does.
  const absl::StatusOr<MadeSchedule> &of(const Choice &choice, int64_t microBatches);

private:
  using Key = std::tuple<schedule::Kind, int, int, int>;
  std::map<Key, absl::StatusOr<MadeSchedule>> known_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_SCHEDULES_H_
