// The parameters of a plan in files of weights.
#ifndef WEFT_TOOLS_HUGGING_FACE_WEIGHTS_H_
#define WEFT_TOOLS_HUGGING_FACE_WEIGHTS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/weights.h"
#include "tools/hugging_face/names.h"

namespace weft::hugging_face {

// What the files have, by parameter, and what of both is left.
struct Match {
  std::map<std::string, checkpoint::Weights::Tensor> found;
  std::vector<std::string> lacking;  // parameters
  std::vector<std::string> copies;   // tensors that a found one is tied to
  std::vector<std::string> unused;   // tensors
};

Match MatchParameters(const checkpoint::Weights& weights, const Names& names, const std::set<std::string>& parameters);

// Reads each tensor that has copies, and those: kInvalidArgument if one of them has other numbers, as the plan has one
// tensor in place of both.
absl::Status CheckCopies(const checkpoint::Weights& weights, const Names& names, const Match& match);

// The names of the files' tensors.
std::vector<std::string> NamesIn(const checkpoint::Weights& weights);

}  // namespace weft::hugging_face

#endif  // WEFT_TOOLS_HUGGING_FACE_WEIGHTS_H_
