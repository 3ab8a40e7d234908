#include "ops/attention/problem.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::attention {
namespace {

// The word of a bias or mask: the letters of the scores, 1 where it is the same along one. Of a packed problem keys are
// as many as queries, of a block of keys fewer than there are.
std::string WordOf(const TensorSpec& tensor, bool packed = false, bool block = false) {
  std::string word = packed ? "bnss" : block ? "bnsu" : "bnst";
  for (size_t i = 0; i < std::min(word.size(), tensor.dims.size()); ++i) {
    if (tensor.dims[i] == 1) word[i] = '1';
  }
  return word;
}

// Input `index`, with 0 as the step of a dim of 1.
OfScoresInput OfScoresAt(const KernelSpec& spec, size_t index, int64_t first_key) {
  OfScoresInput result = {.input = static_cast<int>(index), .first_key = first_key};
  int64_t step = 1;
  for (size_t i = 4; i-- > 0; step *= result.dims[i]) {
    result.dims[i] = spec.inputs[index].dims[i];
    result.steps[i] = result.dims[i] == 1 ? 0 : step;
  }
  return result;
}

// Behind the tensors that are always there, an f32 bias and a u8 mask may follow.
struct Optional {
  int bias = -1, mask = -1;
};
Optional OptionalInputs(const KernelSpec& spec, size_t others) {
  const int first = static_cast<int>(others), count = static_cast<int>(spec.inputs.size()) - first;
  if (count == 2) return {first, first + 1};
  if (count != 1) return {};
  return spec.inputs[others].dtype == DType::kU8 ? Optional{-1, first} : Optional{first, -1};
}

std::string RuleOf(const KernelSpec& spec, const Optional& optional, bool gradient, bool unfused, bool packed,
                   bool block) {
  const std::string saved = unfused ? "float:bnst" : "bns";
  const std::string heads = packed ? "float:bscnd" : "float:bsnd,float:btmd,float:btmd";
  std::string rule = gradient ? absl::StrCat("float:bsnd,", heads, ",float:bsnd,", saved) : heads;
  const auto word = [&](int input) { return WordOf(spec.inputs[static_cast<size_t>(input)], packed, block); };
  if (optional.bias >= 0) absl::StrAppend(&rule, ",", word(optional.bias));
  if (optional.mask >= 0) absl::StrAppend(&rule, ",u8:", word(optional.mask));
  if (!gradient) return absl::StrCat(rule, "->float:bsnd", spec.outputs.size() == 2 ? "," + saved : "");
  if (!absl::EndsWith(spec.name, "bias_grad")) return absl::StrCat(rule, "->", heads);
  return absl::StrCat(rule, "->", spec.outputs.empty() ? "" : WordOf(spec.outputs[0]));
}

// Key 0 of the problem among all keys, where a rank has the block of another one. That of the rank itself begins at the
// tile's origin.
absl::StatusOr<int64_t> FirstKeyOf(const KernelSpec& spec, const TensorSpec& query, const TensorSpec& key) {
  WEFT_ASSIGN_OR_RETURN(int64_t blocks, IntAttribute(spec, "blocks", 1, std::numeric_limits<int64_t>::max()));
  WEFT_ASSIGN_OR_RETURN(int64_t turn, IntAttribute(spec, "block", 0, blocks));
  const int64_t keys = key.dims[1], rows = query.global_dims[1] / blocks;
  if (keys * blocks != key.global_dims[1]) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one of ", blocks, " blocks of keys on each rank, got ", key.ToString()));
  }
  const int64_t own = key.origin[1] / keys;
  if (query.origin[1] < own * rows || query.origin[1] + query.dims[1] > (own + 1) * rows) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected rows of block ", own, " of ", blocks, ", got ", query.ToString()));
  }
  return (own + blocks - turn) % blocks * keys;
}

// Of the two pieces that a zigzag leaves to rank `rank` of `ranks`, the number of the earlier one among all: see
// ZigzagMovesOf() of runtime/collective/share.h.
int64_t EarlyPiece(int64_t rank, int64_t ranks) {
  const int64_t mirror = ranks - 1 - rank;
  return rank <= mirror ? 2 * rank : 2 * mirror + 1;
}

// In a zigzag block the pieces of a rank lie as far from both ends of the sequence. So of two ranks, that with the
// earlier first piece has the later second one: all rows of the other see its first piece, and no row its second one;
// of its own rows, the second half see all keys of the other, and the first half see none.
absl::Status ZigzagProblem(const KernelSpec& spec, const TensorSpec& query, const TensorSpec& key, Problem& problem) {
  WEFT_ASSIGN_OR_RETURN(int64_t blocks, IntAttribute(spec, "blocks", 1, std::numeric_limits<int64_t>::max()));
  WEFT_ASSIGN_OR_RETURN(int64_t turn, IntAttribute(spec, "block", 0, blocks));
  if (!problem.causal || spec.attributes.Has("window") || problem.bias.present() || problem.mask.present() ||
      problem.queries != problem.keys || problem.queries % 2 != 0 || query.origin[1] != key.origin[1]) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected rows and keys of one zigzag block, an even number, causal, without window, bias and "
                     "mask, got ",
                     query.ToString(), " and ", key.ToString()));
  }
  const int64_t rank = problem.keys > 0 ? key.origin[1] / problem.keys : 0;
  const int64_t own = EarlyPiece(rank, blocks), other = EarlyPiece((rank + blocks - turn) % blocks, blocks);
  problem.first_limit = 1;
  if (own == other) return absl::OkStatus();
  problem.causal = false;
  if (other < own) {
    problem.seen = problem.keys / 2;
  } else {
    problem.first_row = problem.queries / 2;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Problem> ParseProblem(const KernelSpec& spec) {
  const bool unfused = absl::StrContains(spec.name, "unfused"), gradient = absl::EndsWith(spec.name, "grad");
  const bool packed = spec.attributes.Has("packed");
  if (packed) {
    WEFT_RETURN_IF_ERROR(IntAttribute(spec, "packed", 1, 2).status());
    if (unfused || absl::EndsWith(spec.name, "bias_grad")) {
      return absl::InvalidArgumentError(absl::StrCat("expected q, k and v apart, got one `packed` for ", spec.name));
    }
  }
  const bool block = spec.attributes.Has("blocks");
  if (block && (packed || unfused || absl::EndsWith(spec.name, "bias_grad"))) {
    return absl::InvalidArgumentError(absl::StrCat("expected all keys, got a block of them for ", spec.name));
  }
  const size_t others = (gradient ? 3 : 0) + (packed ? 1 : 3);
  const Optional optional = OptionalInputs(spec, others);
  WEFT_ASSIGN_OR_RETURN(Extents extents,
                        MatchSpec(spec, RuleOf(spec, optional, gradient, unfused, packed, block).c_str()));
  if (packed && extents['c'] != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", gradient ? 1 : 0, ": expected the parts q, k and v along dim 2, got ", extents['c']));
  }
  WEFT_ASSIGN_OR_RETURN(int64_t causal, IntAttribute(spec, "causal", 0, 2));
  WEFT_ASSIGN_OR_RETURN(double scale, spec.attributes.Float("scale"));
  Problem problem = {.type = extents.type(),
                     .batch = extents['b'],
                     .query_heads = extents['n'],
                     .key_heads = extents[packed ? 'n' : 'm'],
                     .queries = extents['s'],
                     .keys = extents[packed ? 's' : 't'],
                     .depth = extents['d'],
                     .scale = static_cast<float>(scale),
                     .causal = causal == 1,
                     .window = 0,
                     .first_row = 0,
                     .seen = extents[packed ? 's' : 't'],
                     .packed = packed};
  if (problem.key_heads <= 0 || problem.query_heads % problem.key_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("expected query heads to be a multiple of key heads, got ",
                                                   problem.query_heads, " and ", problem.key_heads));
  }
  const TensorSpec& query = spec.inputs[gradient ? 1 : 0];
  const TensorSpec& key = spec.inputs[(gradient ? 1 : 0) + (packed ? 0 : 1)];
  if (!block && key.global_dims[1] != key.dims[1]) {
    return absl::InvalidArgumentError(absl::StrCat("expected all keys on each rank, got ", key.ToString()));
  }
  problem.window = key.global_dims[1];
  int64_t first_key = 0;
  if (block) {
    WEFT_ASSIGN_OR_RETURN(first_key, FirstKeyOf(spec, query, key));
  }
  problem.first_limit = query.origin[1] + (key.global_dims[1] - query.global_dims[1]) + 1 - first_key;
  if (spec.attributes.Has("window")) {
    if (!problem.causal) return absl::InvalidArgumentError("attribute `window`: expected `causal` beside it");
    WEFT_ASSIGN_OR_RETURN(int64_t window, IntAttribute(spec, "window", 1, std::numeric_limits<int64_t>::max()));
    problem.window = std::min(window, problem.window);
  }
  if (optional.bias >= 0) problem.bias = OfScoresAt(spec, static_cast<size_t>(optional.bias), first_key);
  if (optional.mask >= 0) problem.mask = OfScoresAt(spec, static_cast<size_t>(optional.mask), first_key);
  if (spec.attributes.Has("zigzag")) {
    WEFT_RETURN_IF_ERROR(IntAttribute(spec, "zigzag", 1, 2).status());
    WEFT_RETURN_IF_ERROR(ZigzagProblem(spec, query, key, problem));
  }
  // Where every row sees the whole block, nothing has to look for the limits.
  if (block && problem.first_limit >= problem.keys && !problem.windowed()) problem.causal = false;
  if (absl::EndsWith(spec.name, "bias_grad") && spec.outputs[0].dims != spec.inputs[others].dims) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected the shape of the bias, got ", spec.outputs[0].ToString()));
  }
  return problem;
}

}  // namespace weft::attention
