// A function over a whole data set.
#ifndef WEFT_TOOLS_RUN_EVALUATE_DATA_H_
#define WEFT_TOOLS_RUN_EVALUATE_DATA_H_

#include "absl/status/status.h"
#include "tools/run/train.h"

namespace weft::run {

// Evaluates the plan's function of every sample of --data, once and in their order. Prints the mean of each output that
// is one number a sample, and writes it to --metrics; --outputs gets every output whole, [samples, ...].
absl::Status EvaluateData(const Context& context);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_EVALUATE_DATA_H_
