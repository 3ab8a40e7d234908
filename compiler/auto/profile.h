// What the layers of a model take, read off the plan of a model with few of them.
//
//   plan of one stage with h.0, h.1, h.2, simulated ─ profileOf ─▶ Profile ─ withRepeats {h = 48} ─▶ Profile of 48
//   layers
#ifndef WEFT_COMPILER_AUTO_PROFILE_H_
#define WEFT_COMPILER_AUTO_PROFILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/sim/simulate.h"

namespace weft::compiler {

/// A layer, or what has no number: "h.0", "wte". Seconds are those of a rank's compute stream, with what it waits for
/// in between; bytes those of a rank. Micro-batches that overlap count as one.
struct Piece {
  std::string name;
  double forward_s = 0, backward_s = 0; // of a micro-batch that others follow
  double weight_s = 0;                  // of it, the part that only gradients of weights need, where it is apart
  double lastForward_s = 0, lastBackward_s = 0;     // of the last one, beside which gradients are reduced
  double forwardCopies_s = 0, backwardCopies_s = 0; // from and to what lies below the device, beside it
  double stateBytes = 0;                            // parameters, gradients, optimizer
  double parameterBytes = 0;                        // of parameters alone
  double lastingBytes = 0;                          // of them and the optimizer's state: from step to step
  double keptBytes = 0;                             // of a micro-batch, from its forward to its backward
  double weightBytes = 0; // of it, from its backward to its gradients of weights, where these are apart
  double lowStateBytes = 0, lowKeptBytes = 0; // below the device: all the time, and of a micro-batch
};

/// A model on one stage.
struct Profile {
  std::vector<Piece> pieces; // in the order of the forward
  double once_s = 0;         // that a step computes once: updates, what is made of parameters
  double waits_s = 0;        // in which it waits for communication meanwhile
  double transientBytes = 0; // at the peak, above state and what is kept
  double exposed = 0;        // the part of a micro-batch's seconds in which nothing computes
  double boundaryBytes = 0;  // that one layer gives the next, of a micro-batch
  bool isTrained = false;    // has an optimizer, or other state
  bool isChain = false;      // each piece reads in its forward what the one before it makes
};

/// Of a plan of one stage, with two micro-batches or one (or as many times those that overlap), and its simulation; its
/// offsets do not count. An error is that of MeasureMemory.
absl::StatusOr<Profile> profileOf(const plan::Plan &plan, const sim::Report &report);

/// With as many layers of each repeat as the model has: those between the first and the last that the profile has stand
/// for those that it lacks, each with no less time than its copies take. What a step computes once goes with the
/// parameters; what it waits for is the last bundle's, however many there are.
Profile withRepeats(const Profile &profile, const std::map<std::string, int64_t> &repeats);

/// Where a part of the layers, from 0 to 1, keep below the device what they keep: of a model with none of them there,
/// and with all. The copies of a layer that does so have the time of those between.
Profile partlyBelow(const Profile &here, const Profile &below, double part);

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_PROFILE_H_
