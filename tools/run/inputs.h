// What a plan's inputs and outputs are.
#ifndef WEFT_TOOLS_RUN_INPUTS_H_
#define WEFT_TOOLS_RUN_INPUTS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/plan/plan.pb.h"

namespace weft::run {

// An input or output of a plan, whole.
struct InputInfo {
  std::string name;
  plan::DType dtype = plan::INVALID;
  std::vector<int64_t> shape;  // global, of a micro-batch
};

// The inputs that a plan's stages read, each name once, in order of name.
std::vector<InputInfo> InputsOf(const plan::Plan& plan);

// The outputs that they write, likewise.
std::vector<InputInfo> OutputsOf(const plan::Plan& plan);

// Samples of a step, over all its micro-batches, of which the last may have fewer; of a plan with such an input, whose
// first dimension is the samples of a micro-batch.
int64_t SamplesOf(const plan::Plan& plan, const InputInfo& input);

// What an input may hold: numbers from 0 that are below `rows`, and `ignore`, by itself none.
struct IdRange {
  std::string what;  // what they index: "the rows of `wte.weight`"
  int64_t rows = 0;
  int64_t ignore = std::numeric_limits<int64_t>::min();
};

// That of an input whose ids an `embedding` or a `take` looks up or of which a cross entropy picks logits; none of
// another. What an op makes of an input is not followed.
std::optional<IdRange> RangeOf(const plan::Plan& plan, const std::string& input);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_INPUTS_H_
