#include "ops/cpu_kernels.h"

#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/abi/generated_names.h"
#include "ops/abi/kernel_names.h"

namespace weft {
namespace {

// Every op that reaches a plan has a kernel, or one is generated.
TEST(CpuKernelsTest, HasEveryOp) {
  KernelRegistry registry;
  RegisterCpuKernels(registry);
  std::vector<std::string> names = registry.Names();
  names.insert(names.end(), std::begin(kGeneratedNames), std::end(kGeneratedNames));
  EXPECT_THAT(names, ::testing::UnorderedElementsAreArray(kKernelNames));
}

}  // namespace
}  // namespace weft
