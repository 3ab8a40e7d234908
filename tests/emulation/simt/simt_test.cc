// The emulation runs what is right and sees what is wrong.
#include <cmath>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/emulation/simt/gpu_testing.h"
#include "tests/emulation/simt/simt_test_arguments.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using weft::testing::EmulatedGpu;

// x is 1, 2, 3, ...
struct Result {
  absl::Status status;
  std::vector<float> y;
};

Result Start(const char* name, uint32_t blocks, uint32_t threads, int flag = 0, uint64_t order = 0,
             uint32_t shared_bytes = 0) {
  std::vector<float> x(blocks * threads);
  std::iota(x.begin(), x.end(), 1.0f);
  Result result{.y = std::vector<float>(x.size(), -1)};
  EmulatedGpu gpu(order);
  const auto kernel = GpuKernel<TestArguments>::Find(&gpu, "simt_test", name);
  if (!kernel.ok()) return {kernel.status(), {}};
  GpuGrid grid{.blocks = {blocks, 1, 1}, .threads = {threads, 1, 1}, .shared_bytes = shared_bytes};
  result.status = kernel->Launch(grid, {x.data(), result.y.data(), flag}, nullptr);
  return result;
}

std::string ErrorOf(const Result& result) { return std::string(result.status.message()); }

TEST(SimtTest, BlocksReduce) {
  for (uint32_t threads : {32, 64, 1024}) {
    for (uint64_t order : {0, 1, 2, 3}) {
      const Result result = Start("block_sum", 3, threads, 0, order);
      ASSERT_TRUE(result.status.ok()) << result.status;
      for (uint32_t i = 0; i < result.y.size(); ++i) {
        const float first = static_cast<float>(i / threads * threads + 1), n = static_cast<float>(threads);
        ASSERT_EQ(result.y[i], n * first + n * (n - 1) / 2) << i;
      }
    }
  }
}

TEST(SimtTest, SharedMemoryIsABlocksOwn) {
  for (uint64_t order : {0, 1, 2}) {
    const Result result = Start("reverse", 3, 100, 0, order, 400);
    ASSERT_TRUE(result.status.ok()) << result.status;
    for (int i = 0; i < 300; ++i) ASSERT_EQ(result.y[i], i / 100 * 100 + 100 - i % 100);
  }
}

TEST(SimtTest, LanesExchange) {
  const Result result = Start("lanes", 1, 64, 5);
  ASSERT_TRUE(result.status.ok()) << result.status;
  for (int i = 0; i < 64; ++i) ASSERT_EQ(result.y[i], (i ^ 5) + 1 + 100);
}

// Without its barrier, a kernel reads what is not written yet: NaN.
TEST(SimtTest, AMissingBarrierIsSeen) {
  const Result result = Start("reverse", 1, 64, 1, 0, 256);
  ASSERT_TRUE(result.status.ok());
  EXPECT_TRUE(std::isnan(result.y[0]));
}

TEST(SimtTest, DivergenceIsAnError) {
  EXPECT_THAT(ErrorOf(Start("divergent", 1, 64)), HasSubstr("simt_test.divergent: a barrier in divergent code"));
  EXPECT_THAT(ErrorOf(Start("two_barriers", 1, 64)), HasSubstr("simt_test.two_barriers: a barrier in divergent code"));
  EXPECT_THAT(ErrorOf(Start("missing_lane", 1, 64)), HasSubstr("not all lanes of its mask come there"));
  // The next kernel runs as ever.
  EXPECT_TRUE(Start("block_sum", 1, 64).status.ok());
}

TEST(SimtTest, WritesBeyondSharedMemoryAreSeen) {
  EXPECT_THAT(ErrorOf(Start("beyond_shared", 1, 64, 0, 0, 256)), HasSubstr("writes beyond its 256 bytes"));
}

TEST(SimtTest, WarpsMultiplyMatrices) {
  for (int transposed : {0, 1}) {
    for (uint64_t order : {0, 1, 2}) {
      const Result result = Start("matrices", 1, 32, transposed, order);
      ASSERT_TRUE(result.status.ok()) << result.status;
      for (int i = 0; i < 32; ++i) ASSERT_EQ(result.y[i], 0) << "lane " << i;
    }
  }
  EXPECT_THAT(ErrorOf(Start("matrices", 1, 16)), HasSubstr("expected a warp of 32 lanes, got 16"));
}

TEST(SimtTest, CopiesArriveAtTheirWait) {
  for (uint64_t order : {0, 1, 2}) {
    const Result result = Start("copies", 1, 64, 0, order);
    ASSERT_TRUE(result.status.ok()) << result.status;
    for (int i = 0; i < 64; ++i) ASSERT_EQ(result.y[i], i == 7 ? 0 : i + 1);
    // Without it they may have or may not have.
    EXPECT_EQ(std::isnan(Start("copies", 1, 64, 1, order).y[0]), order > 0);
    EXPECT_EQ(std::isnan(Start("copies", 1, 64, 2, order).y[0]), order > 0);
  }
  EXPECT_THAT(ErrorOf(Start("copies", 1, 64, 3)), HasSubstr("expected 4 bytes of shared memory, aligned to 4"));
  EXPECT_THAT(ErrorOf(Start("copies", 1, 64, 4)), HasSubstr("a copy of 4 bytes that are not aligned"));
}

TEST(SimtTest, TooLargeABlockIsAnError) {
  EXPECT_THAT(ErrorOf(Start("block_sum", 1, 2048)),
              HasSubstr("expected blocks of 1 to 1024 threads, got 1x1x1 blocks of 2048x1x1 threads"));
}

TEST(SimtTest, ArgumentsOfAnotherSizeAreAnError) {
  EmulatedGpu gpu;
  EXPECT_THAT(std::string(GpuKernel<int>::Find(&gpu, "simt_test", "lanes").status().message()),
              HasSubstr("expected arguments of 24 bytes, got 4"));
  EXPECT_EQ(GpuKernel<int>::Find(&gpu, "simt_test", "nothing").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace weft
