// What is wrong with a schedule, said of the place where it is.
#ifndef WEFT_COMPILER_SCHEDULE_CHECK_H_
#define WEFT_COMPILER_SCHEDULE_CHECK_H_

#include <functional>
#include <string>

#include "compiler/schedule/schedule.h"

namespace weft::schedule {

/// How errors begin that are about unit `index` of a stage, or about its end: "file:2:7: ".
using Where = std::function<std::string(int stage, size_t index)>;

/// As `check`.
absl::Status checkAt(const Schedule &schedule, const Where &where);

/// "stages: expected 1 or more, got 0" and the like.
absl::Status checkShape(const Shape &shape);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_CHECK_H_
