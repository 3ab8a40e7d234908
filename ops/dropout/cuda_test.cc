#include <cmath>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;
using weft::testing::Tile;

const KernelRegistry& Cpu() { return Registered<&RegisterDropoutKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterDropoutCudaKernels>(); }

KernelSpec Spec(const TensorSpec& tensor, double rate) {
  KernelSpec spec{.name = "dropout", .inputs = {tensor}, .outputs = {tensor}};
  spec.attributes.Set("rate", rate);
  spec.attributes.Set("seed", int64_t{5});
  return spec;
}

RunContext ContextOf(int64_t micro_batch) {
  return {.step = (int64_t{1} << 33) + 3, .micro_batch = micro_batch, .seed = 99};
}

// Whole tensors, and tiles cut within and between Philox blocks; one of 63 elements
// makes every other micro-batch begin within one.
const TensorSpec kTiles[] = {TensorSpec::Whole(DType::kF32, {}),
                             TensorSpec::Whole(DType::kF32, {7, 9}),
                             TensorSpec::Whole(DType::kF32, {5, 31, 32}),
                             TensorSpec::Whole(DType::kF32, {0, 4}),
                             Tile(DType::kF32, {3, 10, 36}, {6, 10, 36}, {3, 0, 0}),
                             Tile(DType::kF32, {6, 10, 18}, {6, 10, 36}, {0, 0, 18}),
                             Tile(DType::kF32, {2, 3, 5}, {6, 10, 37}, {1, 7, 11})};

TEST(DropoutCudaTest, HasTheBitsOfItsTwin) {
  for (const TensorSpec& tile : kTiles) {
    for (double rate : {0.0, 0.1, 0.5, 0.9}) {
      for (int64_t micro_batch : {0, 3}) {
        const auto x = RandomValues(tile.elements(), 1);
        ExpectTwins(Cpu(), Cuda(), Spec(tile, rate), {x}, {}, ContextOf(micro_batch));
        ExpectTwins(Cpu(), Cuda(), Spec(tile, rate), {x}, {}, ContextOf(micro_batch), {{0, 0}});
      }
    }
  }
}

TEST(DropoutCudaTest, HalvesAreFloatsRounded) {
  for (TensorSpec tile : kTiles) {
    const auto x = RandomValues(tile.elements(), 1, -1, 1, DType::kBF16);
    const auto wide = RunGpuKernel(Cuda(), Spec(tile, 0.3), {x}, ContextOf(3));
    for (DType type : {DType::kBF16, DType::kF16}) {
      tile.dtype = type;
      const auto half = RunGpuKernel(Cuda(), Spec(tile, 0.3), {x}, ContextOf(3));
      ASSERT_TRUE(wide.ok() && half.ok()) << half.status();
      const double unit = type == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11;
      for (size_t i = 0; i < x.size(); ++i) {
        // What is dropped is so in both.
        ASSERT_NEAR((*half)[0][i], (*wide)[0][i], unit * std::fabs((*wide)[0][i]) + 0x1.0p-25)
            << tile.ToString() << " " << i;
      }
    }
  }
}

TEST(DropoutCudaTest, RefusesWhatDoesNotFit) {
  KernelSpec spec = Spec(TensorSpec::Whole(DType::kF32, {4}), 1.0);
  EXPECT_EQ(RunGpuKernel(Cuda(), spec, {RandomValues(4, 1)}).status().code(), absl::StatusCode::kInvalidArgument);
  spec = Spec(TensorSpec::Whole(DType::kF64, {4}), 0.5);
  EXPECT_EQ(RunGpuKernel(Cuda(), spec, {RandomValues(4, 1)}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft
