#include "ops/cuda_kernels.h"

#include <map>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/cpu_kernels.h"
#include "tests/emulation/simt/emulated.h"

namespace weft {
namespace {

using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAreArray;

// Every GPU kernel has a CPU twin, which says what is right.
TEST(CudaKernelsTest, HaveTwins) {
  KernelRegistry cpu, cuda;
  RegisterCpuKernels(cpu);
  RegisterCudaKernels(cuda);
  std::vector<std::string> names = cuda.Names();
  std::erase(names, "accumulate_einsum");  // einsum and then accumulate, which have theirs
  EXPECT_THAT(cpu.Names(), IsSupersetOf(names));
}

// CPU kernels that no plan for GPUs may have, and why.
const std::map<std::string, std::string> kOnTheHostAlone = {
    {"attention_unfused", "attention as models of 2021 had it, to plan their runs"},
    {"attention_unfused_grad", "the same"},
    {"attention_unfused_bias_grad", "the same"},
};

TEST(CudaKernelsTest, AreWhatPlansNeed) {
  KernelRegistry cpu, cuda;
  RegisterCpuKernels(cpu);
  RegisterCudaKernels(cuda);
  const std::vector<std::string> names = cuda.Names();
  const std::set<std::string> on_gpus(names.begin(), names.end());
  for (const std::string& name : cpu.Names()) {
    EXPECT_NE(on_gpus.contains(name), kOnTheHostAlone.contains(name)) << name;
  }
}

// What a device can load is what tests run.
TEST(CudaKernelsTest, EveryModuleIsEmulated) {
  std::vector<std::string> modules, emulated;
  for (const GpuModule& it : CudaModules()) modules.push_back(it.name);
  for (const auto& it : EmulatedModules()) emulated.push_back(it->name);
  EXPECT_THAT(emulated, UnorderedElementsAreArray(modules));
}

#if HAVE_CUDA
TEST(CudaKernelsTest, EveryModuleIsAFatBinary) {
  for (const GpuModule& it : CudaModules()) {
    ASSERT_GT(it.bytes, 16u) << it.name;
    EXPECT_EQ(*static_cast<const uint32_t*>(it.image), 0xba55ed50u) << it.name;  // as the driver expects
  }
}
#endif

}  // namespace
}  // namespace weft
