// Which products a host packs. The standard library alone, since the compiler asks too.
#ifndef WEFT_OPS_EINSUM_PACKED_H_
#define WEFT_OPS_EINSUM_PACKED_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft::einsum {

struct Contraction;

// Whether a product is one that cpu_packed_product.h takes: of matrices of some size, whose operands have rows or
// columns next to each other. `narrow`: an operand has less than 32 bits.
bool IsPacked(const Contraction& contraction, bool narrow);
// The same of an einsum with row-major operands of these dims, in the order left, right, result, as they lie. False for
// an equation that does not fit them.
bool IsPacked(std::string_view equation, const std::vector<int64_t> (&dims)[3], bool narrow);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_PACKED_H_
