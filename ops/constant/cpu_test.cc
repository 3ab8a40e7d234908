#include <bit>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
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

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterConstantKernels(*made);
    return made;
  }();
  return *registry;
}

KernelSpec Spec(const char* name, const TensorSpec& output, const Attributes& attributes, int threads = 1) {
  KernelSpec spec;
  spec.name = name;
  spec.outputs = {output};
  spec.attributes = attributes;
  spec.threads = threads;
  return spec;
}

Values Made(const KernelSpec& spec) {
  const auto y = RunKernel(Registry(), spec, {});
  EXPECT_TRUE(y.ok()) << y.status();
  return y.ok() ? (*y)[0] : Values();
}

constexpr DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8};
const Dims kShapes[] = {{}, {1}, {6}, {3, 11}, {5, 71, 113}};

TEST(ConstantTest, FillWritesEverything) {
  for (DType type : kTypes) {
    for (const Dims& dims : kShapes) {
      const TensorSpec whole = TensorSpec::Whole(type, dims);
      EXPECT_EQ(Made(Spec("fill", whole, {{"value", int64_t{7}}}, 2)), Values(whole.elements(), 7)) << NameOf(type);
    }
  }
  EXPECT_EQ(Made(Spec("fill", TensorSpec::Whole(DType::kF32, {3}), {{"value", 0.1}})), Values(3, 0.1f));
  EXPECT_EQ(Made(Spec("fill", TensorSpec::Whole(DType::kBF16, {3}), {{"value", -0.5}})), Values(3, -0.5));
  EXPECT_EQ(Made(Spec("fill", TensorSpec::Whole(DType::kI64, {3}), {{"value", -(int64_t{1} << 40)}})),
            Values(3, -0x1.0p40));
  EXPECT_EQ(Made(Spec("fill", TensorSpec::Whole(DType::kU8, {3}), {{"value", int64_t{255}}})), Values(3, 255));
}

// The place along `dim` of element `index` of a tensor.
int64_t Coordinate(int64_t index, const Dims& dims, size_t dim) {
  for (size_t d = dims.size() - 1; d > dim; --d) index /= dims[d];
  return index % dims[dim];
}

TEST(ConstantTest, IotaIsThePlaceAlongADimension) {
  for (DType type : {DType::kI32, DType::kI64, DType::kF32}) {
    for (const Dims& dims : {Dims{1}, Dims{40000}, Dims{3, 11}, Dims{5, 71, 113}}) {
      for (size_t dim = 0; dim < dims.size(); ++dim) {
        const TensorSpec whole = TensorSpec::Whole(type, dims);
        for (int threads : {1, 2}) {
          const Values y = Made(Spec("iota", whole, {{"dim", static_cast<int64_t>(dim)}}, threads));
          for (int64_t i = 0; i < whole.elements(); ++i) {
            ASSERT_EQ(y[i], Coordinate(i, dims, dim)) << NameOf(type) << " element " << i;
          }
        }
      }
    }
  }
}

const TensorSpec kTiles[] = {Tile(DType::kI32, {3, 10, 37}, {6, 10, 37}, {3, 0, 0}),
                             Tile(DType::kI32, {6, 5, 37}, {6, 10, 37}, {0, 5, 0}),
                             Tile(DType::kI32, {2, 3, 5}, {6, 10, 37}, {1, 7, 11})};

TEST(ConstantTest, TilesOfIotaAgreeWithTheWhole) {
  for (int64_t dim : {0, 1, 2}) {
    const Values whole = Made(Spec("iota", TensorSpec::Whole(DType::kI32, {6, 10, 37}), {{"dim", dim}}));
    for (const TensorSpec& tile : kTiles) {
      EXPECT_EQ(Made(Spec("iota", tile, {{"dim", dim}}, 2)), SliceOf(whole, tile)) << tile.ToString();
    }
  }
}

TEST(ConstantTest, ConstantIsItsNumbers) {
  const std::vector<double> numbers = {0, -2.5, 0.1, 1e30, 65504, INFINITY};
  std::vector<int64_t> bits;
  for (double x : numbers) bits.push_back(std::bit_cast<int64_t>(x));
  EXPECT_EQ(Made(Spec("constant", TensorSpec::Whole(DType::kF32, {2, 3}), {{"values", bits}})),
            Values({0, -2.5, 0.1f, 1e30f, 65504, INFINITY}));
  EXPECT_EQ(Made(Spec("constant", TensorSpec::Whole(DType::kF16, {2, 3}), {{"values", bits}})),
            Values({0, -2.5, ToFloat(ToFloat16(0.1f)), INFINITY, 65504, INFINITY}));
  const std::vector<int64_t> integers = {1, -1, 255, int64_t{1} << 40};
  EXPECT_EQ(Made(Spec("constant", TensorSpec::Whole(DType::kI64, {4}), {{"values", integers}})),
            Values({1, -1, 255, 0x1.0p40}));
  EXPECT_EQ(Made(Spec("constant", TensorSpec::Whole(DType::kI32, {3}), {{"values", std::vector<int64_t>{1, -1, 255}}})),
            Values({1, -1, 255}));
  EXPECT_EQ(Made(Spec("constant", TensorSpec::Whole(DType::kU8, {2}), {{"values", std::vector<int64_t>{0, 255}}})),
            Values({0, 255}));
}

TEST(ConstantTest, TilesOfAConstantAgreeWithTheWhole) {
  std::vector<int64_t> values(6 * 10 * 37);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * i);
  const Values whole(values.begin(), values.end());
  for (const TensorSpec& tile : kTiles) {
    EXPECT_EQ(Made(Spec("constant", tile, {{"values", values}})), SliceOf(whole, tile)) << tile.ToString();
  }
}

TEST(ConstantTest, RefusesWhatDoesNotFit) {
  auto message = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  const TensorSpec floats = TensorSpec::Whole(DType::kF32, {2}), wide = TensorSpec::Whole(DType::kF64, {2});
  EXPECT_THAT(message(Spec("fill", wide, {{"value", 1.0}})),
              HasSubstr("output 0: expected f32, bf16, f16, i32, i64 or u8, got f64[2]"));
  EXPECT_THAT(message(Spec("fill", floats, {})), HasSubstr("attribute `value`: expected a float, got none"));
  EXPECT_THAT(message(Spec("fill", TensorSpec::Whole(DType::kI32, {2}), {{"value", 1.0}})),
              HasSubstr("attribute `value`: expected"));
  EXPECT_THAT(message(Spec("iota", wide, {{"dim", int64_t{0}}})), HasSubstr("expected i32, i64 or f32, got f64[2]"));
  EXPECT_THAT(message(Spec("iota", floats, {{"dim", int64_t{1}}})),
              HasSubstr("attribute `dim`: expected 0 to 0, got 1"));
  EXPECT_THAT(message(Spec("constant", floats, {{"values", std::vector<int64_t>{1}}})),
              HasSubstr("attribute `values`: expected 2, one an element of the whole tensor, got 1"));
}

}  // namespace
}  // namespace weft
