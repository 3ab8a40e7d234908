// A float32 matrix product on one thread: the inner part of the einsum kernel,
// compiled once for every supported level of x86-64 (gemm.cc) and chosen at
// run time. Against oneDNN 2.6's matmul it allocates nothing when it runs,
// takes any strides of its operands, is faster at GPT-2's shapes (see
// tools/bench/kernels.cc), and sums in an order that does not depend on how
// rows and columns are shared among threads.
#ifndef WEFT_OPS_EINSUM_GEMM_H_
#define WEFT_OPS_EINSUM_GEMM_H_

#include <cstdint>

namespace weft::einsum {

// result[i, j] = sum over p of left[i, p] * right[p, j]; strides in elements, the result's columns
// lie next to each other.
struct GemmShape {
  int64_t rows, columns, inner;
  int64_t left_row, left_inner;
  int64_t right_inner, right_column;
  int64_t result_row;
};

// A part of the result: rows [row, row_end) and columns [column, column_end).
struct GemmPart {
  int64_t row, row_end, column, column_end;
};

// The functions of one level of x86-64. Any thread may call, each with its own `scratch` of the
// given number of floats, aligned to 64 bytes. Where no part cuts a group of kGemmColumns columns
// or kGemmRows rows, nothing is computed twice.
struct GemmFunctions {
  const char* level;
  int64_t (*scratch)(const GemmShape& shape);
  void (*run)(const GemmShape& shape, const GemmPart& part, const float* left, const float* right, float* result,
              float* scratch);
};
inline constexpr int64_t kGemmRows = 6;
inline constexpr int64_t kGemmColumns = 64;

namespace v3 {
const GemmFunctions& Functions();  // AVX2 and FMA
}
namespace v4 {
const GemmFunctions& Functions();  // AVX-512 (F, BW, CD, DQ, VL)
}

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_GEMM_H_
