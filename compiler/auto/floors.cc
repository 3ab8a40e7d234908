#include "compiler/auto/floors.h"

#include <algorithm>

namespace weft::compiler {

void Floors::keep(const Choice &choice, double seconds) {
  const auto [it, isNew] = seconds_[likeOf(choice, choice.zero == 3)].try_emplace(sequencesOf(choice), seconds);
  it->second = std::min(it->second, seconds);
}

double Floors::secondsOf(const Choice &choice, int64_t microBatches) const {
  const double sequences = sequencesOf(choice);
  double least = 0; // of a micro-batch
  for (bool gathers : {false, true}) {
    const auto like = seconds_.find(likeOf(choice, gathers));
    if (like == seconds_.end() || (gathers && choice.zero != 3))
      continue;
    for (auto it = like->second.lower_bound(sequences); it != like->second.end(); ++it)
      least = std::max(least, it->second * sequences / it->first);
  }
  return least * double(microBatches) / double(choice.pipeline);
}

} // namespace weft::compiler
