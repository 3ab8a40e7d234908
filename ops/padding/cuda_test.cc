#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::Tile;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Cpu() { return Registered<&RegisterPaddingKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterPaddingCudaKernels>(); }

TEST(PaddingCudaTest, AgreesWithItsTwin) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8}) {
    for (const TensorSpec& tile :
         {TensorSpec::Whole(type, {6, 7, 31}), Tile(type, {3, 7, 31}, {6, 7, 62}, {3, 0, 31})}) {
      for (const Dims& extents : {Dims{6, 7, 62}, Dims{5, 7, 62}, Dims{4, 6, 40}, Dims{1, 1, 1}}) {
        KernelSpec spec;
        spec.name = "set_padding";
        spec.inputs = spec.outputs = {tile};
        spec.attributes.Set("extents", extents);
        spec.attributes.Set("value", int64_t{3});
        spec.attributes.Set("batch", int64_t{8});
        Values x = RandomValues(tile.elements(), 1, 0, 100);
        for (double& number : x) number = static_cast<double>(static_cast<int64_t>(number));
        for (int64_t micro_batch : {0, 1}) {
          ExpectTwins(Cpu(), Cuda(), spec, {x}, {}, {.micro_batch = micro_batch});
          ExpectTwins(Cpu(), Cuda(), spec, {x}, {}, {.micro_batch = micro_batch}, {{0, 0}});
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft
