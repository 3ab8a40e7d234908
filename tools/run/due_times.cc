#include "tools/run/due_times.h"

namespace weft::run {

bool DueTimes::IsOver(int64_t now_ns) const {
  return every_.seconds > 0 && now_ns - begin_ns_ >= every_.seconds * 1'000'000'000;
}

bool DueTimes::IsAfter(int64_t steps) const {
  return every_.seconds > 0 ? steps == asked_ : every_.steps > 0 && steps % every_.steps == 0;
}

}  // namespace weft::run
