// What an einsum does beside the product: the words of its attribute `epilogue`.
#ifndef WEFT_OPS_EINSUM_EPILOGUE_H_
#define WEFT_OPS_EINSUM_EPILOGUE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/einsum/contraction.h"

namespace weft::einsum {

// With y the product: `add` adds a tensor like it; `bias` adds a vector over y's last dims to it; `gelu` then takes
// GELU, by its tanh approximation, and `keep` also gives what that was applied to. `sum_lhs` and `sum_rhs` also give
// the sums of an operand over its first dims.
//
// Inputs: left, right, then what is added or the bias; outputs: the result, then what is kept or the sums. All of these
// have the result's type.
struct Epilogue {
  bool add = false, bias = false, gelu = false, keep = false;
  bool sums = false;
  Operand summed = kLeft;  // if there are sums

  bool any() const { return add || bias || gelu || sums; }
  size_t inputs() const { return add || bias ? 3 : 2; }
  size_t outputs() const { return keep || sums ? 2 : 1; }
};

// Reads and checks it: kInvalidArgument for words that are unknown or do not go together, a wrong number of operands,
// types or shapes that do not fit the result.
absl::StatusOr<Epilogue> ParseEpilogue(const KernelSpec& spec);

// The tensor whose sums are asked for.
inline const TensorSpec& SummedTensor(const KernelSpec& spec, const Epilogue& epilogue) {
  return spec.inputs[epilogue.summed];
}

// The same einsum without what follows the product.
KernelSpec ProductOf(const KernelSpec& spec);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_EPILOGUE_H_
