// What a layout takes at least, by layouts like it that were profiled: for a search that is to look at few of them.
#ifndef WEFT_COMPILER_AUTO_FLOORS_H_
#define WEFT_COMPILER_AUTO_FLOORS_H_

#include <cstdint>
#include <map>
#include <tuple>

#include "compiler/auto/choice.h"

namespace weft::compiler {

/// Layers take as long on so many tensor, context and expert ranks whatever the number of data ranks and of stages is,
/// with as many sequences of a data rank in a micro-batch; and no less for a sequence where these are fewer. So one
/// profile says something of many layouts:
///
///   data 8 x tensor 8, micro-batches of 32 sequences: 0.2 s for all layers ─▶ data 2 x tensor 8 x pipeline 4, 128
///   micro-batches of 4 sequences, at least 128 x 0.1 s / 4
///
/// It is no bound, as kernels of other shapes may be faster for a sequence after all. Under ZeRO 3 layers wait for
/// their parameters too, so what is known of it counts for it alone. Plain values; for one thread.
class Floors {
public:
  /// `seconds`: of all layers, forward and backward, for a micro-batch that others follow, with the best of the pins
  /// that were tried for `choice`.
  void keep(const Choice &choice, double seconds);

  /// Of a step with so many micro-batches; 0 if nothing like it was kept.
  double secondsOf(const Choice &choice, int64_t microBatches) const;

private:
  using Like = std::tuple<int64_t, int64_t, int64_t, bool>; // expert, context, tensor; whether it is ZeRO 3
  static Like likeOf(const Choice &choice, bool gathers) {
    return {choice.expert, choice.context, choice.tensor, gathers};
  }
  // Of a data rank in a micro-batch.
  static double sequencesOf(const Choice &choice) { return double(choice.micro) / double(choice.data); }

  std::map<Like, std::map<double, double>> seconds_; // by sequences
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_FLOORS_H_
