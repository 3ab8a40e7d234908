#include "ops/abi/match_spec.h"

#include "gtest/gtest.h"

namespace weft {
namespace {

using Dims = std::vector<int64_t>;

TensorSpec F32(Dims dims) { return TensorSpec::Whole(DType::kF32, std::move(dims)); }

KernelSpec Spec(std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs) {
  KernelSpec spec;
  spec.inputs = std::move(inputs);
  spec.outputs = std::move(outputs);
  return spec;
}

std::string Error(const KernelSpec& spec, const char* rule) {
  return std::string(MatchSpec(spec, rule).status().message());
}

TEST(MatchSpecTest, BindsNames) {
  const KernelSpec spec = Spec({TensorSpec::Whole(DType::kI32, {2, 3}), F32({50, 8})}, {F32({2, 3, 8})});
  auto extents = MatchSpec(spec, "i32:.,vh->.h");
  ASSERT_TRUE(extents.ok()) << extents.status();
  EXPECT_EQ((*extents)['v'], 50);
  EXPECT_EQ((*extents)['h'], 8);
  EXPECT_EQ(extents->ellipsis(), (Dims{2, 3}));
  EXPECT_EQ(extents->rows(), 6);
}

TEST(MatchSpecTest, ScalarsAndAnyShape) {
  EXPECT_EQ(Error(Spec({F32({}), F32({2})}, {F32({}), F32({})}), ",*->,"), "");
  EXPECT_EQ(Error(Spec({}, {F32({})}), "->"), "");
  EXPECT_EQ(Error(Spec({}, {F32({4, 5})}), "->*"), "");
  EXPECT_EQ(Error(Spec({TensorSpec::Whole(DType::kU8, {3})}, {F32({3})}), "any:.->."), "");
  EXPECT_EQ(Error(Spec({}, {F32({1})}), "->"), "output 0: expected rank 0, got f32[1]");
}

TEST(MatchSpecTest, NamesWhatDoesNotFit) {
  EXPECT_EQ(Error(Spec({F32({2})}, {F32({2})}), ".,.->."), "expected 2 inputs and 1 outputs, got 1 and 1");
  EXPECT_EQ(Error(Spec({F32({2}), F32({3})}, {F32({2})}), ".,.->."), "input 1: expected leading dims [2], got f32[3]");
  EXPECT_EQ(Error(Spec({F32({2, 3})}, {F32({3, 3})}), "ab->ba"), "output 0: expected dim 1 to be 2, got f32[3,3]");
  EXPECT_EQ(Error(Spec({F32({})}, {F32({})}), ".v->."), "input 0: expected rank 1 or more, got f32[]");
  EXPECT_EQ(Error(Spec({F32({1})}, {F32({1})}), "i32:.->."), "input 0: expected i32, got f32[1]");
}

TEST(MatchSpecTest, Attributes) {
  KernelSpec spec;
  spec.attributes = Attributes({{"dim", int64_t{2}}, {"rate", 0.5}});
  EXPECT_EQ(*IntAttribute(spec, "dim", 0, 3), 2);
  EXPECT_EQ(std::string(IntAttribute(spec, "dim", 0, 2).status().message()), "attribute `dim`: expected 0 to 1, got 2");
  EXPECT_EQ(*FloatAttribute(spec, "rate", 7), 0.5);
  EXPECT_EQ(*FloatAttribute(spec, "other", 7), 7);
}

}  // namespace
}  // namespace weft
