// From what was measured to the rates of a cluster: the formulas of runtime/plan/cost.h, solved for their rates.
#ifndef WEFT_TOOLS_CALIBRATE_FIT_H_
#define WEFT_TOOLS_CALIBRATE_FIT_H_

#include "absl/status/status.h"
#include "runtime/plan/cluster.pb.h"
#include "tools/calibrate/measured.h"

namespace weft::calibrate {

// Replaces the rates of `cluster`, and its calibration but for the words in it:
//
//   launch_s          what a step of many small kernels takes beside what they take by themselves, a kernel; step_s is
//                     the part of it that does not grow with the kernels
//   product           of each shape of the grid: the time of a mean of its ways
//   kernel            families but for products, an entry for each doubling of the bytes
//   other_flops       what products with something behind them take beside the product
//   memory_bytes_s    of the largest kernels that only move
//                     on a host all kernels so many times as long that a whole step is what it took
//   node.cores        copies side by side, over how much longer each takes
//   collective, link  as ranks that had cores of their own would take: the cost model adds what cores are short of
//   overlap           what is left then
//
// What was not measured stays as it was. After an error, of a step that cannot be simulated, so does all.
absl::Status Fit(const Measured& measured, Cluster* cluster);

}  // namespace weft::calibrate

#endif  // WEFT_TOOLS_CALIBRATE_FIT_H_
