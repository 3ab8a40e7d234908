#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;

const KernelRegistry& Cpu() { return Registered<&RegisterActivationKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterActivationCudaKernels>(); }

KernelSpec Spec(const std::string& name, int64_t n, const char* approximate, DType type = DType::kF32) {
  const TensorSpec tensor = TensorSpec::Whole(type, {n});
  KernelSpec spec{.name = name, .inputs = {tensor}, .outputs = {tensor}};
  if (name.ends_with("_grad")) spec.inputs.push_back(tensor);
  spec.attributes.Set("approximate", std::string(approximate));
  return spec;
}

TEST(ActivationCudaTest, AgreesWithItsTwin) {
  for (const char* name : {"relu", "silu", "gelu"}) {
    for (const char* approximate : {"tanh", "none"}) {
      for (int64_t n : {1, 7, 2051}) {
        const auto x = RandomValues(n, 1, -6, 6), dy = RandomValues(n, 2);
        ExpectTwins(Cpu(), Cuda(), Spec(name, n, approximate), {x}, {.relative = 0x1.0p-18, .absolute = 0x1.0p-20});
        const KernelSpec grad = Spec(std::string(name) + "_grad", n, approximate);
        ExpectTwins(Cpu(), Cuda(), grad, {dy, x}, {.relative = 0x1.0p-18, .absolute = 0x1.0p-20});
        ExpectTwins(Cpu(), Cuda(), grad, {dy, x}, {.relative = 0x1.0p-18, .absolute = 0x1.0p-20}, {}, {{1, 0}});
      }
    }
  }
}

TEST(ActivationCudaTest, HalvesAreFloatsRounded) {
  const auto x = RandomValues(65, 1, -4, 4, DType::kBF16);
  const auto wide = RunGpuKernel(Cuda(), Spec("gelu", 65, "tanh"), {x});
  const auto half = RunGpuKernel(Cuda(), Spec("gelu", 65, "tanh", DType::kBF16), {x});
  ASSERT_TRUE(wide.ok() && half.ok()) << half.status();
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR((*half)[0][i], (*wide)[0][i], 0x1.0p-8 * std::fabs((*wide)[0][i]));
}

}  // namespace
}  // namespace weft
