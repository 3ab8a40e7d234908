#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;

const KernelRegistry& Cpu() { return Registered<&RegisterSoftmaxKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterSoftmaxCudaKernels>(); }

KernelSpec Spec(const char* name, int64_t rows, int64_t n, DType type = DType::kF32) {
  const TensorSpec tensor = TensorSpec::Whole(type, {rows, n});
  KernelSpec spec{.name = name, .inputs = {tensor}, .outputs = {tensor}};
  if (spec.name == "softmax_grad") spec.inputs.push_back(tensor);
  return spec;
}

// Sums of numbers below 1 in another order: an error of n 2^-24 at most.
weft::testing::Bound BoundFor(int64_t n) {
  const double unit = static_cast<double>(n + 16) * 0x1.0p-24;
  return {.relative = unit, .absolute = unit * 0x1.0p-6};
}

TEST(SoftmaxCudaTest, AgreesWithItsTwin) {
  for (int64_t n : {1, 3, 32, 257, 1031}) {
    for (int64_t rows : {1, 5, 70}) {
      const auto x = RandomValues(rows * n, 1, -20, 20), dy = RandomValues(rows * n, 2);
      ExpectTwins(Cpu(), Cuda(), Spec("softmax", rows, n), {x}, BoundFor(n));
      ExpectTwins(Cpu(), Cuda(), Spec("softmax", rows, n), {x}, BoundFor(n), {}, {{0, 0}});
      ExpectTwins(Cpu(), Cuda(), Spec("softmax_grad", rows, n), {dy, x}, {.absolute = n * 20 * 0x1.0p-20});
      ExpectTwins(Cpu(), Cuda(), Spec("softmax_grad", rows, n), {dy, x}, {.absolute = n * 20 * 0x1.0p-20}, {},
                  {{1, 0}});
    }
  }
}

TEST(SoftmaxCudaTest, HalvesAreFloatsRounded) {
  const auto x = RandomValues(3 * 65, 1, -4, 4, DType::kBF16);
  const auto wide = RunGpuKernel(Cuda(), Spec("softmax", 3, 65), {x});
  for (DType type : {DType::kBF16, DType::kF16}) {
    const auto half = RunGpuKernel(Cuda(), Spec("softmax", 3, 65, type), {x});
    ASSERT_TRUE(wide.ok() && half.ok()) << half.status();
    const double unit = type == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11;
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR((*half)[0][i], (*wide)[0][i], unit * (*wide)[0][i] + 0x1.0p-25);
  }
}

}  // namespace
}  // namespace weft
