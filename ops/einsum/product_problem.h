// The shapes of matrix products in tests.
#ifndef WEFT_OPS_EINSUM_PRODUCT_PROBLEM_H_
#define WEFT_OPS_EINSUM_PRODUCT_PROBLEM_H_

#include <cstdint>

#include "ops/einsum/contraction.h"

namespace weft::einsum {

// A batch of products whose operands have gaps: between rows, and between the products.
struct ProductProblem {
  int64_t batch, rows, columns, inner;
  bool left_transposed = false, right_transposed = false;

  Contraction contraction() const {
    Contraction it;
    if (batch > 1) it.batch = {{batch, {left_size(), right_size(), result_size()}}};
    it.rows = {{rows, {left_transposed ? 1 : inner + 3, 0, columns + 2}}};
    it.columns = {{columns, {0, right_transposed ? inner + 2 : 1, 1}}};
    it.inner = {{inner, {left_transposed ? rows + 5 : 1, right_transposed ? 1 : columns + 1, 0}}};
    return it;
  }
  int64_t left_size() const { return left_transposed ? inner * (rows + 5) : rows * (inner + 3); }
  int64_t right_size() const { return right_transposed ? columns * (inner + 2) : inner * (columns + 1); }
  int64_t result_size() const { return rows * (columns + 2); }
};

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_PRODUCT_PROBLEM_H_
