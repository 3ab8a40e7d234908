// Chooses the next token of a sequence from its logits.
#ifndef WEFT_TOOLS_GENERATE_SAMPLER_H_
#define WEFT_TOOLS_GENERATE_SAMPLER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace weft::generate {

struct Sampling {
  double temperature = 0;  // 0: always the likeliest token
  int64_t top_k = 0;       // only the k likeliest tokens; 0: all
  double top_p = 1;        // of these only the likeliest that together have this probability
  uint64_t seed = 0;
};

// A pure function of the logits and of what draws: seed, sequence and place in it. So the layout does not matter, nor
// what else is in the batch. Of equal logits the lower token counts as the likelier. One thread.
class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : sampling_(sampling) {}

  int32_t Choose(absl::Span<const float> logits, int64_t sequence, int64_t position);

 private:
  const Sampling sampling_;
  std::vector<std::pair<float, int32_t>> tokens_;
  std::vector<double> weights_;
};

}  // namespace weft::generate

#endif  // WEFT_TOOLS_GENERATE_SAMPLER_H_
