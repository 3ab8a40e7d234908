#include "ops/einsum/epilogue.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ops/abi/match_spec.h"
#include "ops/einsum/words.h"

namespace weft::einsum {
namespace {

bool HasWord(const std::string& text, const char* word) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether the last dims of `tensor` are `dims`.
bool EndsWith(const TensorSpec& tensor, const std::vector<int64_t>& dims) {
  return dims.size() < tensor.dims.size() && std::equal(dims.rbegin(), dims.rend(), tensor.dims.rbegin());
}

absl::Status CheckOperand(const char* name, const TensorSpec& operand, const TensorSpec& like, DType type, bool whole) {
  const bool fits = whole ? operand.dims == like.dims : EndsWith(like, operand.dims);
  if (operand.dtype == type && fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("epilogue: ", name, ": expected ", NameOf(type), " of ",
                                                 whole ? "the dims of " : "last dims of ", like.ToString(), ", got ",
                                                 operand.ToString()));
}

}  // namespace

absl::StatusOr<Epilogue> ParseEpilogue(const KernelSpec& spec) {
  Epilogue epilogue;
  if (spec.attributes.Has("epilogue")) {
    WEFT_ASSIGN_OR_RETURN(std::string text, spec.attributes.String("epilogue"));
    if (std::find(std::begin(kEpilogues), std::end(kEpilogues), text) == std::end(kEpilogues)) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute `epilogue`: expected add, bias, gelu, sum_lhs or sum_rhs, got `", text, "`"));
    }
    epilogue = {.add = HasWord(text, "add"),
                .bias = HasWord(text, "bias"),
                .gelu = HasWord(text, "gelu"),
                .keep = HasWord(text, "keep"),
                .sums = text.find("sum_") != std::string::npos,
                .summed = HasWord(text, "sum_rhs") ? kRight : kLeft};
  }
  WEFT_RETURN_IF_ERROR(CheckArity(spec, epilogue.inputs(), epilogue.outputs()));
  const TensorSpec& result = spec.outputs[0];
  absl::Status status;
  if (epilogue.add) status = CheckOperand("what is added", spec.inputs[2], result, result.dtype, true);
  if (epilogue.bias) status = CheckOperand("bias", spec.inputs[2], result, result.dtype, false);
  if (epilogue.keep) status.Update(CheckOperand("gelu's operand", spec.outputs[1], result, result.dtype, true));
  if (epilogue.sums) {
    status.Update(CheckOperand("sums", spec.outputs[1], SummedTensor(spec, epilogue), result.dtype, false));
  }
  if (!status.ok()) return status;
  return epilogue;
}

KernelSpec ProductOf(const KernelSpec& spec) {
  KernelSpec product = spec;
  product.inputs.resize(2);
  product.outputs.resize(1);
  product.attributes = {};
  for (const auto& [name, value] : spec.attributes.values()) {
    if (name != "epilogue") product.attributes.Set(name, value);
  }
  return product;
}

}  // namespace weft::einsum
