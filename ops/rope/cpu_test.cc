#include <cmath>
#include <numbers>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using weft::testing::RandomValues;
using weft::testing::RunKernel;
using weft::testing::SliceOf;
using weft::testing::Tile;
using weft::testing::Values;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterRopeKernels(*made);
    return made;
  }();
  return *registry;
}

struct Shape {
  int64_t batch, sequence, heads, size;
  int64_t elements() const { return batch * sequence * heads * size; }
};

const Shape kShapes[] = {{1, 1, 1, 2}, {2, 5, 3, 6}, {3, 70, 2, 64}, {1, 3, 1, 512}};

KernelSpec Spec(const Shape& shape, DType type = DType::kF32) {
  const TensorSpec x = TensorSpec::Whole(type, {shape.batch, shape.sequence, shape.heads, shape.size});
  KernelSpec spec{.name = "rope", .inputs = {x}, .outputs = {x}};
  spec.attributes.Set("theta", 100.0);
  spec.attributes.Set("interleaved", int64_t{0});
  spec.attributes.Set("inverse", int64_t{0});
  return spec;
}

// By the formula, in double.
Values Expected(const Shape& shape, const Values& x, bool interleaved, const Values& positions = {}) {
  Values y(x.size());
  const int64_t half = shape.size / 2;
  for (int64_t at = 0; at < shape.elements(); at += shape.size) {
    const int64_t row = at / (shape.heads * shape.size);
    const double position = positions.empty() ? static_cast<double>(row % shape.sequence) : positions[row];
    for (int64_t i = 0; i < half; ++i) {
      const double angle = position * std::pow(100.0, -2.0 * i / shape.size);
      const int64_t a = at + (interleaved ? 2 * i : i), b = at + (interleaved ? 2 * i + 1 : i + half);
      y[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
      y[b] = x[b] * std::cos(angle) + x[a] * std::sin(angle);
    }
  }
  return y;
}

// Two products and a sum of numbers below 1, a rounding each of factors and results.
constexpr double kBound = 4 * 0x1.0p-24;

void ExpectNear(const Values& got, const Values& expected, double bound = kBound) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], bound) << "element " << i;
}

TEST(RopeTest, TurnsPairsByTheFormula) {
  for (const Shape& shape : kShapes) {
    const Values x = RandomValues(shape.elements(), 1);
    for (int64_t interleaved : {0, 1}) {
      for (int threads : {1, 2}) {
        KernelSpec spec = Spec(shape);
        spec.threads = threads;
        spec.attributes.Set("interleaved", interleaved);
        auto y = RunKernel(Registry(), spec, {x}, {},
                           threads == 2 ? std::vector{std::pair{0, 0}} : decltype(std::vector{std::pair{0, 0}}){});
        ASSERT_TRUE(y.ok()) << y.status();
        ExpectNear((*y)[0], Expected(shape, x, interleaved != 0));
      }
    }
  }
}

TEST(RopeTest, TakesPositionsThatBeginAnew) {
  const Shape shape = {2, 5, 3, 6};
  const Values x = RandomValues(shape.elements(), 1), positions = {0, 1, 2, 0, 1, 0, 0, 7, 100000, 3};
  KernelSpec spec = Spec(shape);
  spec.inputs.push_back(TensorSpec::Whole(DType::kI32, {2, 5}));
  auto y = RunKernel(Registry(), spec, {x, positions});
  ASSERT_TRUE(y.ok()) << y.status();
  ExpectNear((*y)[0], Expected(shape, x, false, positions));
}

TEST(RopeTest, TheInverseTurnsBack) {
  const Shape shape = {2, 40, 3, 6};
  const Values x = RandomValues(shape.elements(), 1);
  KernelSpec spec = Spec(shape);
  const Values turned = RunKernel(Registry(), spec, {x})->at(0);
  spec.attributes.Set("inverse", int64_t{1});
  ExpectNear(RunKernel(Registry(), spec, {turned})->at(0), x, 2 * kBound);
}

TEST(RopeTest, TilesOfTheSequenceKnowTheirPlace) {
  const Shape shape = {2, 8, 3, 6};
  const Values x = RandomValues(shape.elements(), 1);
  KernelSpec spec = Spec(shape);
  const Values whole = RunKernel(Registry(), spec, {x})->at(0);
  const TensorSpec tile = Tile(DType::kF32, {2, 3, 2, 6}, {2, 8, 3, 6}, {0, 4, 1, 0});
  spec.inputs = spec.outputs = {tile};
  EXPECT_EQ(RunKernel(Registry(), spec, {SliceOf(x, tile)})->at(0), SliceOf(whole, tile));
}

// The angle of position 1 of each pair, from what the pair (1, 0) turns into.
Values FrequenciesOf(const KernelSpec& spec) {
  const int64_t size = spec.inputs[0].dims[3];
  Values x(2 * size, 0), frequencies;
  std::fill_n(x.begin() + size, size / 2, 1.0);
  const Values y = RunKernel(Registry(), spec, {x})->at(0);
  for (int64_t i = 0; i < size / 2; ++i) frequencies.push_back(std::atan2(y[size + size / 2 + i], y[size + i]));
  return frequencies;
}

TEST(RopeTest, StretchesSlowPairsAlone) {
  KernelSpec spec = Spec({1, 2, 1, 8});  // 1, 100^-1/4, 100^-1/2 and 100^-3/4 radians a position
  const Values plain = FrequenciesOf(spec);
  spec.attributes.Set("factor", 8.0);
  Values all = FrequenciesOf(spec);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(all[i], plain[i] / 8, 1e-6);
  // Over 64 positions the pairs turn 10.2, 3.2, 1.02 and 0.32 times.
  spec.attributes.Set("low", 1.0);
  spec.attributes.Set("high", 4.0);
  spec.attributes.Set("original", 64.0);
  all = FrequenciesOf(spec);
  EXPECT_NEAR(all[0], plain[0], 1e-6);
  EXPECT_NEAR(all[3], plain[3] / 8, 1e-6);
  const double share = (64 * plain[1] / (2 * std::numbers::pi) - 1) / 3;
  EXPECT_NEAR(all[1], plain[1] * ((1 - share) / 8 + share), 1e-6);
  EXPECT_GT(all[1], plain[1] / 8);
}

TEST(RopeTest, OtherTypesAreFloatsRounded) {
  const Shape shape = {2, 5, 3, 6};
  for (const auto& [type, unit] : {std::pair{DType::kBF16, 0x1.0p-9}, {DType::kF16, 0x1.0p-12}}) {
    const Values x = RandomValues(shape.elements(), 1, -1, 1, type);
    const Values narrow = RunKernel(Registry(), Spec(shape, type), {x})->at(0), wide = Expected(shape, x, false);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(narrow[i], wide[i], 2 * unit * std::fabs(wide[i]) + 1e-6);
  }
}

TEST(RopeTest, RefusesHeadsThatHaveNoPairs) {
  for (int64_t size : {3, 514}) {
    EXPECT_THAT(std::string(Registry().Create(Spec({1, 1, 1, size})).status().message()),
                HasSubstr("expected an even head size of at most 512, got " + std::to_string(size)));
  }
}

}  // namespace
}  // namespace weft
