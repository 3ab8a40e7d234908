#include "ops/attention/problem.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::attention {
namespace {

const char* UnfusedRuleOf(const KernelSpec& spec, bool grad) {
  if (grad) {
    return "float:bsnd,float:bsnd,float:btmd,float:btmd,float:bsnd,float:bnst->float:bsnd,float:btmd,float:btmd";
  }
  return spec.outputs.size() == 2 ? "float:bsnd,float:btmd,float:btmd->float:bsnd,float:bnst"
                                  : "float:bsnd,float:btmd,float:btmd->float:bsnd";
}

const char* RuleOf(const KernelSpec& spec, bool grad) {
  if (grad) return "float:bsnd,float:bsnd,float:btmd,float:btmd,float:bsnd,bns->float:bsnd,float:btmd,float:btmd";
  return spec.outputs.size() == 2 ? "float:bsnd,float:btmd,float:btmd->float:bsnd,bns"
                                  : "float:bsnd,float:btmd,float:btmd->float:bsnd";
}

}  // namespace

absl::StatusOr<Problem> ParseProblem(const KernelSpec& spec) {
  const bool unfused = spec.name == "attention_unfused" || spec.name == "attention_unfused_grad";
  const bool grad = spec.name == "attention_grad" || spec.name == "attention_unfused_grad";
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, unfused ? UnfusedRuleOf(spec, grad) : RuleOf(spec, grad)));
  WEFT_ASSIGN_OR_RETURN(int64_t causal, IntAttribute(spec, "causal", 0, 2));
  WEFT_ASSIGN_OR_RETURN(double scale, spec.attributes.Float("scale"));
  Problem problem = {.type = extents.type(),
                     .batch = extents['b'],
                     .query_heads = extents['n'],
                     .key_heads = extents['m'],
                     .queries = extents['s'],
                     .keys = extents['t'],
                     .depth = extents['d'],
                     .scale = static_cast<float>(scale),
                     .causal = causal == 1};
  if (problem.key_heads <= 0 || problem.query_heads % problem.key_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("expected query heads to be a multiple of key heads, got ",
                                                   problem.query_heads, " and ", problem.key_heads));
  }
  const TensorSpec& query = spec.inputs[grad ? 1 : 0];
  const TensorSpec& key = spec.inputs[grad ? 2 : 1];
  if (key.global_dims[1] != key.dims[1]) {
    return absl::InvalidArgumentError(absl::StrCat("expected all keys on each rank, got ", key.ToString()));
  }
  problem.first_limit = query.origin[1] + (problem.keys - query.global_dims[1]) + 1;
  return problem;
}

}  // namespace weft::attention
