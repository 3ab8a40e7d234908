// What a plan is larger by than its tensors.
#ifndef WEFT_RUNTIME_SHOW_PADDING_H_
#define WEFT_RUNTIME_SHOW_PADDING_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "runtime/plan/plan.pb.h"

namespace weft::plan {

struct Padding {
  std::set<std::pair<int64_t, int64_t>> dims;  // each size that grew, and what it grew to
  // Of the bytes of all buffers, each once whatever its slots: the share that is padding.
  double share = 0;
};

Padding PaddingOf(const Plan& plan);

// "3 to 4, 257 to 260: 2.1 % of the bytes of all buffers"; "" without any.
std::string TextOf(const Padding& padding);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SHOW_PADDING_H_
