#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::Registered;

const KernelRegistry& Cpu() { return Registered<&RegisterRandomKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterRandomCudaKernels>(); }

// Whole tensors, and tiles cut within and between blocks of four words.
TEST(RandomCudaTest, AgreesWithItsTwin) {
  const TensorSpec tiles[] = {TensorSpec::Whole(DType::kF32, {}), TensorSpec::Whole(DType::kF32, {5, 7, 31}),
                              weft::testing::Tile(DType::kF32, {3, 7, 10}, {6, 7, 31}, {2, 0, 21})};
  for (const TensorSpec& tile : tiles) {
    const RunContext context{.step = 3, .micro_batch = 2, .seed = 17};
    KernelSpec spec{.outputs = {tile}};
    spec.attributes = Attributes({{"mean", 0.5}, {"std", 2.0}, {"low", -1.0}, {"high", 3.0}});
    spec.attributes.Set("seed", int64_t{5});
    spec.name = "random_uniform";
    ExpectTwins(Cpu(), Cuda(), spec, {}, {}, context);  // the same bits
    spec.name = "random_normal";
    ExpectTwins(Cpu(), Cuda(), spec, {}, {.absolute = 2e-6}, context);
  }
}

}  // namespace
}  // namespace weft
