// What stages that wait for each other cost at least, wherever the model is cut.
#ifndef WEFT_COMPILER_AUTO_RAMP_H_
#define WEFT_COMPILER_AUTO_RAMP_H_

#include <cstdint>

namespace weft::compiler {

/// A pipeline, as far as it matters. How the stages share what is computed is open: the model may be cut anywhere.
struct Stages {
  int64_t stages = 1;
  int64_t chunks = 1; // a stage
  bool split = false; // backwards are: zero bubble
  double microBatches = 1;
  double through_s = 0;  // what all stages together compute of a micro-batch
  double there_s = 0;    // of it, what comes one after the other if backwards are split: no gradients of weights
  double forward = 0;    // of what any piece of the model computes, the part that is forward, at least
  double once_s = 0;     // what they do behind the last micro-batch
  double transfer_s = 0; // of anything to another stage, at least
  bool isChain = true;   // each piece of the model reads what the one before makes
};

/// Seconds of a step, at least. Of p stages, stage s takes t_s for each of m micro-batches; they sum up to `through_s`.
///   - A stage runs all its micro-batches, then what comes once: on average (m through_s + once_s) / p. What follows is
///   of
///     chains alone: two towers of a model need not wait for each other.
///   - The first micro-batch comes to stage s after s transfers, and the last one goes back by as many unless backwards
///     are split; (p - 1) / 2 of each on average.
///   - With one chunk a stage, and backwards that are one unit, stage s begins when the first micro-batch has come
///   through
///     the stages before it, and its last one goes back through them: step >= t_0 + ... + t_(s-1) + m t_s. The step is
///     least if all these are equal, and then t_s falls by (1 - 1/m) from stage to stage:
///       step >= through_s / (1 - (1 - 1/m)^p)
///   - With v chunks a stage the same holds of its p v chunks, each alone.
///   - Where backwards are split, gradients of weights may wait until a stage has nothing else to do. So it is the
///   forward
///     alone, a part f of what the stages before it compute, that it waits for. With one chunk a stage:
///       step >= through_s f / (1 - (1 - f/m)^p)
///     And a micro-batch still goes there and back: step >= there_s.
double leastStep(const Stages &pipeline);

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_RAMP_H_
