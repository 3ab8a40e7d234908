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
using Dims = std::vector<int64_t>;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterPaddingKernels(*made);
    return made;
  }();
  return *registry;
}

KernelSpec Spec(const TensorSpec& tile, const Dims& extents, double value) {
  KernelSpec spec;
  spec.name = "set_padding";
  spec.inputs = spec.outputs = {tile};
  spec.attributes.Set("extents", extents);
  if (RowOf(tile.dtype)->is_float) {
    spec.attributes.Set("value", value);
  } else {
    spec.attributes.Set("value", static_cast<int64_t>(value));
  }
  return spec;
}

// What the kernel makes of the whole tensor `x` of `dims`.
Values Expected(Values x, const Dims& dims, const Dims& extents, double value) {
  for (size_t i = 0; i < x.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (auto d = static_cast<int64_t>(dims.size()) - 1; d >= 0; --d) {
      if (rest % dims[d] >= extents[d]) x[i] = value;
      rest /= dims[d];
    }
  }
  return x;
}

// Of whole tensors, and of every tile of 1 x 3 x 2.
TEST(PaddingTest, WritesWhatLiesBeyondTheExtents) {
  const Dims dims = {2, 6, 4};
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8}) {
    Values whole(48);
    for (size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<double>(i + 1);
    for (const Dims& extents : {Dims{2, 6, 4}, Dims{2, 5, 4}, Dims{1, 4, 3}, Dims{2, 6, 1}, Dims{2, 2, 4}}) {
      const Values expected = Expected(whole, dims, extents, 7);
      const auto all = RunKernel(Registry(), Spec(TensorSpec::Whole(type, dims), extents, 7), {whole});
      ASSERT_TRUE(all.ok()) << all.status();
      EXPECT_EQ((*all)[0], expected);
      for (int64_t tile = 0; tile < 8; ++tile) {
        const TensorSpec spec = Tile(type, {1, 3, 2}, dims, {tile / 4, tile / 2 % 2 * 3, tile % 2 * 2});
        for (bool in_place : {false, true}) {
          const auto part =
              RunKernel(Registry(), Spec(spec, extents, 7), {SliceOf(whole, spec)}, {},
                        in_place ? std::vector<std::pair<int, int>>{{0, 0}} : std::vector<std::pair<int, int>>{});
          ASSERT_TRUE(part.ok()) << part.status();
          EXPECT_EQ((*part)[0], SliceOf(expected, spec)) << spec.ToString();
        }
      }
    }
  }
}

TEST(PaddingTest, TheLastMicroBatchMayHaveFewerSamples) {
  KernelSpec spec = Spec(TensorSpec::Whole(DType::kF32, {4, 3}), {4, 3}, 0);
  spec.attributes.Set("batch", int64_t{10});
  const Values x = RandomValues(12, 1);
  for (int64_t micro_batch = 0; micro_batch < 3; ++micro_batch) {
    const auto y = RunKernel(Registry(), spec, {x}, {.micro_batch = micro_batch});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0], Expected(x, {4, 3}, {micro_batch < 2 ? 4 : 2, 3}, 0)) << micro_batch;
  }
}

TEST(PaddingTest, SamplesMayLieAlongAnotherDim) {
  KernelSpec spec = Spec(TensorSpec::Whole(DType::kF32, {3, 4}), {3, 4}, 0);
  spec.attributes.Set("batch", int64_t{6});
  spec.attributes.Set("along", int64_t{1});
  const Values x = RandomValues(12, 1);
  const auto y = RunKernel(Registry(), spec, {x}, {.micro_batch = 1});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0], Expected(x, {3, 4}, {3, 2}, 0));
}

TEST(PaddingTest, WrongSpecs) {
  const auto error = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  const TensorSpec tensor = TensorSpec::Whole(DType::kF32, {4});
  EXPECT_THAT(error(Spec(tensor, {4, 4}, 0)), HasSubstr("attribute `extents`: expected 1, one a dim, got 2"));
  KernelSpec other = Spec(tensor, {4}, 0);
  other.outputs[0].dtype = DType::kI32;
  EXPECT_THAT(error(other), HasSubstr("output 0: expected f32, got i32[4]"));
  KernelSpec beyond = Spec(tensor, {4}, 0);
  beyond.attributes.Set("batch", int64_t{2});
  beyond.attributes.Set("along", int64_t{1});
  EXPECT_THAT(error(beyond), HasSubstr("attribute `along`"));
}

}  // namespace
}  // namespace weft
