#include "compiler/auto/ramp.h"

#include <algorithm>
#include <cmath>

namespace weft::compiler {

double leastStep(const Stages &pipeline) {
  const double stages = double(pipeline.stages), m = pipeline.microBatches;
  const double busy = (m * pipeline.through_s + pipeline.once_s) / stages;
  if (!pipeline.isChain || pipeline.stages == 1)
    return busy;
  const double transfers = (stages - 1) * pipeline.transfer_s * (pipeline.split ? 0.5 : 1);
  // Of one micro-batch through all chunks and back, of which a V has two neighbours on its last stage.
  const double crossed = 2 * (stages * double(pipeline.chunks) - (pipeline.split ? double(pipeline.chunks) : 1));
  const double there = crossed * pipeline.transfer_s;
  if (!pipeline.split) {
    const double waits = pipeline.through_s / (1 - std::pow(1 - 1 / m, stages * double(pipeline.chunks)));
    return std::max({busy + transfers, waits, pipeline.through_s + there});
  }
  const double f = pipeline.chunks == 1 ? pipeline.forward : 0;
  const double waits = f > 0 ? pipeline.through_s * f / (1 - std::pow(1 - f / m, stages)) : 0;
  return std::max({busy + transfers, waits, pipeline.there_s + there});
}

} // namespace weft::compiler
