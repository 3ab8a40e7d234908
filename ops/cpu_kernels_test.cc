#include "ops/cpu_kernels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/abi/kernel_names.h"

namespace weft {
namespace {

// Every op that reaches a plan has a kernel.
TEST(CpuKernelsTest, HasEveryOp) {
  KernelRegistry registry;
  RegisterCpuKernels(registry);
  EXPECT_THAT(registry.Names(), ::testing::UnorderedElementsAreArray(kKernelNames));
}

}  // namespace
}  // namespace weft
