#include "ops/rope/problem.h"

#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::rope {
namespace {

// How Llama 3.1 stretches the frequencies for sequences longer than those it was trained on
// (`_compute_llama3_parameters` of Hugging Face's transformers): slow ones are divided by the factor, fast ones stay.
struct Stretch {
  double factor = 1, low = 0, high = 0, original = 0;

  double Of(double frequency) const {
    if (original == 0) return frequency / factor;
    const double turns = original * frequency / (2 * std::numbers::pi);
    if (turns < low) return frequency / factor;
    if (turns > high) return frequency;
    const double share = (turns - low) / (high - low);
    return (1 - share) * frequency / factor + share * frequency;
  }
};

}  // namespace

absl::StatusOr<Problem> ProblemOf(const KernelSpec& spec) {
  Problem problem;
  problem.positions = spec.inputs.size() == 2;
  WEFT_ASSIGN_OR_RETURN(
      Extents extents, MatchSpec(spec, problem.positions ? "float:bsnd,i32:bs->float:bsnd" : "float:bsnd->float:bsnd"));
  const int64_t size = extents['d'];
  if (size % 2 != 0 || size > 2 * kMaxPairs) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected an even head size of at most ", 2 * kMaxPairs, ", got ", size));
  }
  problem.batch = extents['b'];
  problem.sequence = extents['s'];
  problem.heads = extents['n'];
  problem.pairs = size / 2;
  problem.first = spec.inputs[0].origin[1];
  problem.type = extents.type();
  WEFT_ASSIGN_OR_RETURN(int64_t interleaved, IntAttribute(spec, "interleaved", 0, 2));
  WEFT_ASSIGN_OR_RETURN(int64_t inverse, IntAttribute(spec, "inverse", 0, 2));
  problem.interleaved = interleaved != 0;
  WEFT_ASSIGN_OR_RETURN(double theta, spec.attributes.Float("theta"));
  Stretch stretch;
  WEFT_ASSIGN_OR_RETURN(stretch.factor, FloatAttribute(spec, "factor", 1));
  WEFT_ASSIGN_OR_RETURN(stretch.low, FloatAttribute(spec, "low", 0));
  WEFT_ASSIGN_OR_RETURN(stretch.high, FloatAttribute(spec, "high", 0));
  WEFT_ASSIGN_OR_RETURN(stretch.original, FloatAttribute(spec, "original", 0));
  for (int64_t i = 0; i < problem.pairs; ++i) {
    const double frequency = stretch.Of(std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(size)));
    problem.frequencies[static_cast<size_t>(i)] = inverse != 0 ? -frequency : frequency;
  }
  return problem;
}

}  // namespace weft::rope
