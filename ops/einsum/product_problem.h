// The shapes of matrix products in tests.
#ifndef WEFT_OPS_EINSUM_PRODUCT_PROBLEM_H_
#define WEFT_OPS_EINSUM_PRODUCT_PROBLEM_H_

#include <cmath>
#include <cstdint>
#include <vector>

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

// An element of a product, and the sum of the sizes of its terms, in double.
struct ExpectedElement {
  double value = 0, magnitude = 0;
};
inline ExpectedElement ElementOf(const ProductProblem& problem, const std::vector<float>& left,
                                 const std::vector<float>& right, int64_t batch, int64_t row, int64_t column) {
  const Contraction at = problem.contraction();
  const float* const a = left.data() + batch * problem.left_size() + row * at.rows[0].stride[kLeft];
  const float* const b = right.data() + batch * problem.right_size() + column * at.columns[0].stride[kRight];
  ExpectedElement element;
  for (int64_t p = 0; p < problem.inner; ++p) {
    const double term = static_cast<double>(a[p * at.inner[0].stride[kLeft]]) * b[p * at.inner[0].stride[kRight]];
    element.value += term;
    element.magnitude += std::fabs(term);
  }
  return element;
}

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_PRODUCT_PROBLEM_H_
