#include "tools/run/save_times.h"

namespace weft::run {

bool SaveTimes::IsOver(int64_t now_ns) const {
  return every_.seconds > 0 && now_ns - begin_ns_ >= every_.seconds * 1'000'000'000;
}

bool SaveTimes::IsAfter(int64_t steps) const {
  return every_.seconds > 0 ? steps == asked_ : every_.steps > 0 && steps % every_.steps == 0;
}

}  // namespace weft::run
