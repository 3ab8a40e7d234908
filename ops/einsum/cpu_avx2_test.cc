// The ways that only older CPUs take: oneDNN is held to AVX2, where it has no
// bf16 products. A file of its own because the limit is the process's.
#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "oneapi/dnnl/dnnl.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using testing::RandomValues;
using testing::RunKernel;
using testing::Values;

// c[m, n] = sum over k of a[k, m] b[n, k].
void ExpectTransposedProduct(DType operands, DType result) {
  constexpr int64_t m = 9, n = 21, k = 14;
  KernelSpec spec;
  spec.name = "einsum";
  spec.inputs = {TensorSpec::Whole(operands, {k, m}), TensorSpec::Whole(operands, {n, k})};
  spec.outputs = {TensorSpec::Whole(result, {m, n})};
  spec.attributes = {{"equation", std::string("km,nk->mn")}};
  spec.threads = 2;
  KernelRegistry registry;
  RegisterEinsumKernels(registry);
  const Values a = RandomValues(k * m, 1, -1, 1, operands), b = RandomValues(n * k, 2, -1, 1, operands);
  auto got = RunKernel(registry, spec, {a, b});
  ASSERT_TRUE(got.ok()) << got.status().message();
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double want = 0;
      for (int64_t p = 0; p < k; ++p) want += a[p * m + i] * b[j * k + p];
      const double rounding = result == DType::kBF16 ? std::ldexp(std::fabs(want), -8) : 0;
      ASSERT_NEAR((*got)[0][i * n + j], want, rounding + k * k * 1.2e-7) << i << " " << j;
    }
  }
}

TEST(EinsumOnAvx2Test, FloatAndBFloat16) {
  ASSERT_EQ(dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2), dnnl_success);
  ExpectTransposedProduct(DType::kF32, DType::kF32);
  ExpectTransposedProduct(DType::kBF16, DType::kF32);
  ExpectTransposedProduct(DType::kBF16, DType::kBF16);
}

}  // namespace
}  // namespace weft
