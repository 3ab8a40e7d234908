// What is generated of dropout, on the host and on a GPU: which elements it keeps.
#include "tests/support/generated.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "ops/abi/philox.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using testing::ExpectTwins;
using testing::RandomValues;
using testing::Registered;
using testing::RunKernel;
using testing::SliceOf;
using testing::Tile;
using testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Registry() { return Registered<&testing::RegisterGeneratedKernels>(); }

KernelSpec Spec(const TensorSpec& tensor, double rate, int threads, int64_t seed = 5) {
  KernelSpec spec;
  spec.name = "dropout";
  spec.inputs = {tensor};
  spec.outputs = {tensor};
  spec.threads = threads;
  spec.attributes.Set("rate", rate);
  spec.attributes.Set("seed", seed);
  return spec;
}

const RunContext kContext{.step = (int64_t{1} << 33) + 3, .micro_batch = 0, .seed = 99};

TEST(DropoutTest, FollowsTheContractElementByElement) {
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{5}, Dims{3, 11}, Dims{7, 31, 129}}) {
    for (double rate : {0.0, 0.1, 0.5, 0.9}) {
      const TensorSpec tensor = TensorSpec::Whole(DType::kF32, dims);
      const Values x = RandomValues(tensor.elements(), 1);
      for (int threads : {1, 2}) {
        for (bool in_place : {false, true}) {
          std::vector<std::pair<int, int>> pairs;
          if (in_place) pairs.push_back({0, 0});
          auto y = RunKernel(Registry(), Spec(tensor, rate, threads), {x}, kContext, pairs);
          ASSERT_TRUE(y.ok()) << y.status();
          for (size_t e = 0; e < x.size(); ++e) {
            const uint32_t word = PhiloxElement(MixSeed(99, 5), static_cast<uint64_t>(kContext.step), e);
            const double expected = UniformFloat(word) >= rate ? x[e] / (1 - rate) : 0;
            ASSERT_NEAR((*y)[0][e], expected, std::fabs(expected) * 0x1.0p-23) << "element " << e;
          }
        }
      }
    }
  }
}

TEST(DropoutTest, KeepsTheShareItShould) {
  const TensorSpec tensor = TensorSpec::Whole(DType::kF32, {1000000});
  const Values y = RunKernel(Registry(), Spec(tensor, 0.1, 2), {Values(1000000, 1)}, kContext)->at(0);
  const auto kept = static_cast<double>(std::count_if(y.begin(), y.end(), [](double v) { return v != 0; }));
  EXPECT_NEAR(kept, 900000, 5 * std::sqrt(1e6 * 0.1 * 0.9));  // five standard deviations
}

TEST(DropoutTest, TilesAgreeWithTheWhole) {
  const Dims global{6, 10, 37};
  const TensorSpec whole = TensorSpec::Whole(DType::kF32, global);
  const Values x = RandomValues(whole.elements(), 1);
  for (int64_t micro_batch : {0, 3}) {
    RunContext context = kContext;
    context.micro_batch = micro_batch;
    const Values y = RunKernel(Registry(), Spec(whole, 0.3, 1), {x}, context)->at(0);
    for (const TensorSpec& tile :
         {Tile(DType::kF32, {3, 10, 37}, global, {3, 0, 0}), Tile(DType::kF32, {6, 5, 37}, global, {0, 5, 0}),
          Tile(DType::kF32, {6, 10, 17}, global, {0, 0, 20}), Tile(DType::kF32, {2, 3, 5}, global, {1, 7, 11}),
          Tile(DType::kF32, {1, 1, 1}, global, {5, 9, 36}), Tile(DType::kF32, {2, 8, 1}, global, {3, 1, 11})}) {
      for (int threads : {1, 2}) {
        auto part = RunKernel(Registry(), Spec(tile, 0.3, threads), {SliceOf(x, tile)}, context);
        ASSERT_TRUE(part.ok()) << part.status();
        EXPECT_EQ((*part)[0], SliceOf(y, tile)) << tile.ToString();
      }
    }
  }
}

TEST(DropoutTest, MicroBatchesAgreeWithTheWholeBatch) {
  for (int64_t row : {64, 63, 1}) {  // of one sample; 63 and 1 begin within a Philox block
    const Values x = RandomValues(6 * row, 1);
    const Values whole =
        RunKernel(Registry(), Spec(TensorSpec::Whole(DType::kF32, {6, row}), 0.4, 1), {x}, kContext)->at(0);
    for (int64_t m : {0, 1}) {
      RunContext context = kContext;
      context.micro_batch = m;
      const auto middle = 3 * row * m;
      const Values half(x.begin() + middle, x.begin() + middle + 3 * row);
      const Values y =
          RunKernel(Registry(), Spec(TensorSpec::Whole(DType::kF32, {3, row}), 0.4, 1), {half}, context)->at(0);
      EXPECT_EQ(y, Values(whole.begin() + middle, whole.begin() + middle + 3 * row));
    }
  }
}

TEST(DropoutTest, StepSeedAndOpChangeTheMask) {
  const TensorSpec tensor = TensorSpec::Whole(DType::kF32, {4096});
  const Values x(4096, 1);
  const Values y = RunKernel(Registry(), Spec(tensor, 0.5, 1), {x}, kContext)->at(0);
  RunContext step = kContext, seed = kContext;
  step.step += 1;
  seed.seed += 1;
  const Values others[] = {RunKernel(Registry(), Spec(tensor, 0.5, 1), {x}, step)->at(0),
                           RunKernel(Registry(), Spec(tensor, 0.5, 1), {x}, seed)->at(0),
                           RunKernel(Registry(), Spec(tensor, 0.5, 1, 6), {x}, kContext)->at(0)};
  for (const Values& other : others) {
    int differ = 0;
    for (size_t i = 0; i < y.size(); ++i) differ += y[i] != other[i];
    EXPECT_NEAR(differ, 2048, 5 * 32);  // independent masks: five standard deviations
  }
}

// Longer than what is drawn at once, and with a rest.
TEST(DropoutTest, LongRowsAreDrawnInParts) {
  const TensorSpec tile = Tile(DType::kF32, {2, 20011}, {3, 20020}, {1, 5});
  const Values x(static_cast<size_t>(tile.elements()), 1);
  const Values whole(3 * 20020, 1);
  const Values y =
      RunKernel(Registry(), Spec(TensorSpec::Whole(DType::kF32, {3, 20020}), 0.3, 1), {whole}, kContext)->at(0);
  for (int threads : {1, 2}) {
    const auto part = RunKernel(Registry(), Spec(tile, 0.3, threads), {x}, kContext);
    ASSERT_TRUE(part.ok()) << part.status();
    EXPECT_EQ((*part)[0], SliceOf(y, tile));
  }
  for (int64_t e = 0; e < 3 * 20020; ++e) {
    const uint32_t word = PhiloxElement(MixSeed(99, 5), static_cast<uint64_t>(kContext.step), static_cast<uint64_t>(e));
    ASSERT_EQ(y[static_cast<size_t>(e)] != 0, UniformFloat(word) >= 0.3) << "element " << e;
  }
}

// Whole tensors, and tiles cut within and between Philox blocks; one of 63 elements makes every other micro-batch begin
// within one.
const TensorSpec kTiles[] = {TensorSpec::Whole(DType::kF32, {}),
                             TensorSpec::Whole(DType::kF32, {7, 9}),
                             TensorSpec::Whole(DType::kF32, {5, 31, 32}),
                             Tile(DType::kF32, {3, 10, 36}, {6, 10, 36}, {3, 0, 0}),
                             Tile(DType::kF32, {6, 10, 18}, {6, 10, 36}, {0, 0, 18}),
                             Tile(DType::kF32, {2, 3, 5}, {6, 10, 37}, {1, 7, 11}),
                             Tile(DType::kF32, {2, 8, 1}, {6, 10, 37}, {1, 2, 11})};

TEST(DropoutTest, HasTheHostsBitsOnAGpu) {
  for (TensorSpec tile : kTiles) {
    for (double rate : {0.0, 0.1, 0.9}) {
      for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
        for (int64_t micro_batch : {0, 3}) {
          RunContext context = kContext;
          context.micro_batch = micro_batch;
          tile.dtype = type;
          const Values x = RandomValues(tile.elements(), 1, -1, 1, type);
          ExpectTwins(Registry(), Registry(), Spec(tile, rate, 1), {x}, {}, context);
          ExpectTwins(Registry(), Registry(), Spec(tile, rate, 1), {x}, {}, context, {{0, 0}});
        }
      }
    }
  }
}

TEST(DropoutTest, HalvesAreFloatsRounded) {
  for (TensorSpec tile : kTiles) {
    const Values x = RandomValues(tile.elements(), 1, -1, 1, DType::kBF16);
    const auto wide = RunKernel(Registry(), Spec(tile, 0.3, 1), {x}, kContext);
    for (DType type : {DType::kBF16, DType::kF16}) {
      tile.dtype = type;
      const auto half = RunKernel(Registry(), Spec(tile, 0.3, 1), {x}, kContext);
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

}  // namespace
}  // namespace weft
