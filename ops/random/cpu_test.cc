#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/abi/philox.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using weft::testing::RunKernel;
using weft::testing::SliceOf;
using weft::testing::Tile;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const RunContext kContext{.step = 0, .micro_batch = 0, .seed = 7};

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterRandomKernels(*made);
    return made;
  }();
  return *registry;
}

KernelSpec Normal(const TensorSpec& tensor, double mean, double std, int threads = 1, int64_t seed = 3) {
  KernelSpec spec;
  spec.name = "random_normal";
  spec.outputs = {tensor};
  spec.threads = threads;
  spec.attributes = Attributes({{"mean", mean}, {"std", std}, {"seed", seed}});
  return spec;
}

KernelSpec Uniform(const TensorSpec& tensor, double low, double high, int threads = 1, int64_t seed = 3) {
  KernelSpec spec;
  spec.name = "random_uniform";
  spec.outputs = {tensor};
  spec.threads = threads;
  spec.attributes = Attributes({{"low", low}, {"high", high}, {"seed", seed}});
  return spec;
}

TensorSpec Whole(const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims); }

const Dims kShapes[] = {{}, {1}, {6}, {3, 11}, {5, 71, 113}};

TEST(RandomTest, NormalFollowsItsFormula) {
  for (const Dims& dims : kShapes) {
    for (int threads : {1, 2}) {
      auto y = RunKernel(Registry(), Normal(Whole(dims), 0.5, 0.02, threads), {}, kContext);
      ASSERT_TRUE(y.ok()) << y.status();
      for (size_t e = 0; e < (*y)[0].size(); ++e) {
        const uint64_t pair = e / 2 * 2, key = MixSeed(7, 3);
        const float u = static_cast<float>(PhiloxElement(key, 0, pair)) * 0x1.0p-32f + 0x1.0p-33f;
        const double angle = 2 * M_PI * UniformFloat(PhiloxElement(key, 0, pair + 1));
        const double radius = std::sqrt(-2 * std::log(static_cast<double>(u)));
        const double expected = 0.5 + 0.02 * radius * (e % 2 == 0 ? std::cos(angle) : std::sin(angle));
        ASSERT_NEAR((*y)[0][e], expected, 0.02 * 4e-6 + 0x1.0p-24 * std::fabs(expected)) << "element " << e;
      }
    }
  }
}

TEST(RandomTest, MicroBatchesAgreeWithTheWholeBatch) {
  for (int64_t row : {64, 63, 1}) {  // of one sample; 63 and 1 begin within a Philox block, 1 within a pair too
    for (const auto& draw : {Normal(Whole({6, row}), 0, 1), Uniform(Whole({6, row}), 0, 1)}) {
      const Values whole = RunKernel(Registry(), draw, {}, kContext)->at(0);
      KernelSpec third = draw;
      third.outputs = {Whole({2, row})};
      for (int64_t m : {0, 1, 2}) {
        RunContext context = kContext;
        context.micro_batch = m;
        EXPECT_EQ(RunKernel(Registry(), third, {}, context)->at(0),
                  Values(whole.begin() + 2 * row * m, whole.begin() + 2 * row * (m + 1)))
            << draw.name << " of micro-batch " << m;
      }
    }
  }
}

TEST(RandomTest, NormalHasItsMoments) {
  constexpr int64_t kN = 1 << 20;
  const Values z = RunKernel(Registry(), Normal(Whole({kN}), 0, 1, 2), {}, kContext)->at(0);
  double moments[5] = {};
  double neighbours = 0;
  for (int64_t i = 0; i < kN; ++i) {
    double power = 1;
    for (double& moment : moments) {
      moment += power / kN;
      power *= z[i];
    }
    if (i % 2 == 1) neighbours += z[i] * z[i - 1] / (kN / 2.0);
  }
  // Five standard deviations of each estimate: sqrt of 1, 2, 15, 96 over n.
  EXPECT_NEAR(moments[1], 0, 5 * std::sqrt(1.0 / kN));
  EXPECT_NEAR(moments[2], 1, 5 * std::sqrt(2.0 / kN));
  EXPECT_NEAR(moments[3], 0, 5 * std::sqrt(15.0 / kN));
  EXPECT_NEAR(moments[4], 3, 5 * std::sqrt(96.0 / kN));
  EXPECT_NEAR(neighbours, 0, 5 * std::sqrt(2.0 / kN));
}

TEST(RandomTest, UniformFollowsItsFormula) {
  for (const Dims& dims : kShapes) {
    for (int threads : {1, 2}) {
      auto y = RunKernel(Registry(), Uniform(Whole(dims), -2, 3, threads), {}, kContext);
      ASSERT_TRUE(y.ok()) << y.status();
      for (size_t e = 0; e < (*y)[0].size(); ++e) {
        const double expected = -2 + 5.0 * UniformFloat(PhiloxElement(MixSeed(7, 3), 0, e));
        ASSERT_NEAR((*y)[0][e], expected, 3 * 0x1.0p-23);
        ASSERT_GE((*y)[0][e], -2);
        ASSERT_LT((*y)[0][e], 3);
      }
    }
  }
}

TEST(RandomTest, UniformStaysBelowItsUpperBoundWhereRoundingWouldReachIt) {
  const auto high = static_cast<double>(std::nextafter(1000.0f, 2000.0f));
  const Values y = RunKernel(Registry(), Uniform(Whole({4096}), 1000, high), {}, kContext)->at(0);
  for (double v : y) ASSERT_EQ(v, 1000);
}

TEST(RandomTest, TilesAgreeWithTheWhole) {
  const Dims global{6, 10, 37};
  const Values normal = RunKernel(Registry(), Normal(Whole(global), 0, 1), {}, kContext)->at(0);
  const Values uniform = RunKernel(Registry(), Uniform(Whole(global), 0, 1), {}, kContext)->at(0);
  for (const TensorSpec& tile :
       {Tile(DType::kF32, {3, 10, 37}, global, {3, 0, 0}), Tile(DType::kF32, {6, 5, 37}, global, {0, 5, 0}),
        Tile(DType::kF32, {6, 10, 17}, global, {0, 0, 20}), Tile(DType::kF32, {2, 3, 5}, global, {1, 7, 11}),
        Tile(DType::kF32, {1, 1, 1}, global, {5, 9, 36})}) {
    EXPECT_EQ(RunKernel(Registry(), Normal(tile, 0, 1, 2), {}, kContext)->at(0), SliceOf(normal, tile));
    EXPECT_EQ(RunKernel(Registry(), Uniform(tile, 0, 1, 2), {}, kContext)->at(0), SliceOf(uniform, tile));
  }
}

TEST(RandomTest, StepMicroBatchSeedAndOpChangeTheNumbers) {
  const Values z = RunKernel(Registry(), Normal(Whole({8}), 0, 1), {}, kContext)->at(0);
  RunContext step = kContext, seed = kContext, micro_batch = kContext;
  step.step = 1;
  seed.seed = 8;
  micro_batch.micro_batch = 1;
  EXPECT_NE(z, RunKernel(Registry(), Normal(Whole({8}), 0, 1), {}, step)->at(0));
  EXPECT_NE(z, RunKernel(Registry(), Normal(Whole({8}), 0, 1), {}, seed)->at(0));
  EXPECT_NE(z, RunKernel(Registry(), Normal(Whole({8}), 0, 1, 1, 4), {}, kContext)->at(0));
  EXPECT_NE(z, RunKernel(Registry(), Normal(Whole({8}), 0, 1), {}, micro_batch)->at(0));
}

TEST(RandomTest, RefusesWhatDoesNotFit) {
  auto message = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  EXPECT_THAT(message(Uniform(Whole({2}), 1, 0)), HasSubstr("attribute `high`: expected 1 or more, got 0"));
  EXPECT_THAT(message(Uniform(TensorSpec::Whole(DType::kI32, {2}), 0, 1)),
              HasSubstr("output 0: expected f32, got i32[2]"));
  KernelSpec spec = Normal(Whole({2}), 0, 1);
  spec.inputs = spec.outputs;
  EXPECT_THAT(message(spec), HasSubstr("random_normal: expected 0 inputs and 1 outputs, got 1 and 1"));
  spec = Normal(Whole({2}), 0, 1);
  spec.attributes = {};
  EXPECT_THAT(message(spec), HasSubstr("attribute `mean`: expected a float, got none"));
}

}  // namespace
}  // namespace weft
