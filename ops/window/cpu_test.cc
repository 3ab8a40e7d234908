#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "ops/window/cases.h"
#include "tests/support/kernel_testing.h"

namespace weft::window {
namespace {

using ::testing::HasSubstr;
using weft::testing::RandomValues;
using weft::testing::RunKernel;
using weft::testing::Values;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterWindowKernels(*made);
    return made;
  }();
  return *registry;
}

// The one output; bits are those of one thread with three.
Values ResultOf(KernelSpec spec, const std::vector<Values>& inputs) {
  const auto one = RunKernel(Registry(), spec, inputs);
  spec.threads = 3;
  const auto three = RunKernel(Registry(), spec, inputs);
  EXPECT_TRUE(one.ok() && three.ok()) << one.status();
  if (!one.ok() || !three.ok()) return {};
  EXPECT_EQ((*one)[0], (*three)[0]);
  return (*one)[0];
}

void ExpectNear(const Values& got, const Values& want, const Values& errors) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], errors[i]) << i;
}

class WindowTest : public ::testing::TestWithParam<Case> {
 protected:
  const Case& c_ = GetParam();
  const Values image_ = RandomValues(c_.elements(c_.image), 1, -2, 2);
  const Values weights_ = RandomValues(c_.taps() * c_.inner(), 2);
  const Values gradient_ = RandomValues(c_.elements(c_.pooled()), 3);
};

TEST_P(WindowTest, UnfoldsAnyType) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kI64, DType::kU8}) {
    Values x(image_.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 125 + 1);
    Values want(c_.elements(c_.unfolded()), 0);
    c_.ForEach([&](const Element& e) {
      if (e.inside) want[e.unfolded] = x[e.image];
    });
    EXPECT_EQ(ResultOf(c_.Unfold(type), {x}), want);
  }
}

TEST_P(WindowTest, FoldsWhatItUnfolds) {
  const Values y = RandomValues(c_.elements(c_.unfolded()), 4);
  Values want(image_.size(), 0), errors(image_.size(), 0);
  c_.ForEach([&](const Element& e) {
    if (!e.inside) return;
    want[e.image] += y[e.unfolded];
    errors[e.image] += static_cast<double>(c_.taps()) * 0x1p-24 * std::fabs(y[e.unfolded]);
  });
  ExpectNear(ResultOf(c_.Fold(DType::kF32), {y}), want, errors);
}

TEST_P(WindowTest, PoolsTheLargest) {
  Values want(gradient_.size(), -std::numeric_limits<double>::infinity());
  c_.ForEach([&](const Element& e) {
    if (e.inside) want[e.pooled] = std::max(want[e.pooled], image_[e.image]);
  });
  EXPECT_EQ(ResultOf(c_.MaxPool(DType::kF32), {image_}), want);
}

// Of a few numbers, so that many elements of a window are the largest.
TEST_P(WindowTest, TheFirstOfTheLargestGetsTheGradient) {
  Values x = image_, dy = gradient_, y(gradient_.size(), -std::numeric_limits<double>::infinity());
  for (double& value : x) value = std::round(value);
  for (double& value : dy) value = std::round(8 * value) / 8;  // whose sums are exact
  std::vector<int64_t> first(y.size(), -1);
  c_.ForEach([&](const Element& e) {
    if (!e.inside || (first[e.pooled] >= 0 && x[e.image] <= y[e.pooled])) return;
    y[e.pooled] = x[e.image];
    first[e.pooled] = e.image;
  });
  Values want(x.size(), 0);
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] >= 0) want[first[i]] += dy[i];
  }
  EXPECT_EQ(ResultOf(c_.MaxPoolGrad(DType::kF32), {dy, x, y}), want);
}

TEST_P(WindowTest, WeighsChannelsOneByOne) {
  Values y(gradient_.size(), 0), y_errors = y, dx(image_.size(), 0), dx_errors = dx;
  Values dw(weights_.size(), 0), dw_errors = dw;
  const auto add = [](double product, double roundings, double& sum, double& error) {
    sum += product;
    error += roundings * 0x1p-24 * std::fabs(product);
  };
  const auto taps = static_cast<double>(c_.taps());
  const double line = static_cast<double>(c_.places(c_.count() - 1)) + 4;  // which is summed in float
  c_.ForEach([&](const Element& e) {
    if (!e.inside) return;
    add(image_[e.image] * weights_[e.weight], taps + 1, y[e.pooled], y_errors[e.pooled]);
    add(gradient_[e.pooled] * weights_[e.weight], taps + 1, dx[e.image], dx_errors[e.image]);
    add(gradient_[e.pooled] * image_[e.image], line, dw[e.weight], dw_errors[e.weight]);
  });
  ExpectNear(ResultOf(c_.Depthwise(DType::kF32), {image_, weights_}), y, y_errors);
  ExpectNear(ResultOf(c_.DepthwiseGradInput(DType::kF32), {gradient_, weights_}), dx, dx_errors);
  ExpectNear(ResultOf(c_.DepthwiseGradWeight(DType::kF32), {image_, gradient_}), dw, dw_errors);
}

INSTANTIATE_TEST_SUITE_P(Cases, WindowTest, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });

// More places than one part of the sum has.
TEST(DepthwiseTest, SumsManyPlacesInParts) {
  const Case many = {.name = "many", .image = {40, 30, 33}, .dim = 1, .size = {3}, .padding = {1}};
  const Values x = RandomValues(40 * 30 * 33, 1), dy = RandomValues(40 * 30 * 33, 2);
  Values want(3 * 33, 0), errors(3 * 33, 0);
  many.ForEach([&](const Element& e) {
    if (!e.inside) return;
    want[e.weight] += dy[e.pooled] * x[e.image];
    errors[e.weight] += 34 * 0x1p-24 * std::fabs(dy[e.pooled] * x[e.image]);
  });
  ExpectNear(ResultOf(many.DepthwiseGradWeight(DType::kF32), {x, dy}), want, errors);
}

TEST(MaxPoolTest, NaNIsLargerThanAnyNumber) {
  const Case one = {.name = "one", .image = {1, 4, 1}, .dim = 1, .size = {2}};
  const double nan = std::nan("");
  const auto y = RunKernel(Registry(), one.MaxPool(DType::kF32), {{1, nan, 3, 2}});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_TRUE(std::isnan((*y)[0][0]) && std::isnan((*y)[0][1]));
  EXPECT_EQ((*y)[0][2], 3);
}

TEST(WindowErrorsTest, NameWhatDoesNotFit) {
  const auto error = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  const Case one = {.name = "one", .image = {2, 5, 3}, .dim = 1, .size = {2}, .stride = {2}};
  KernelSpec spec = one.Unfold(DType::kF32);
  spec.outputs[0].dims[1] = 3;
  EXPECT_THAT(error(spec), HasSubstr("output 0: expected f32 of dims [2,2,2,3], got f32[2,3,2,3]"));
  spec = one.Unfold(DType::kF32);
  spec.attributes.Set("stride", std::vector<int64_t>{0});
  EXPECT_THAT(error(spec), HasSubstr("attribute `stride`: expected 1 numbers from 1 on, got [0]"));
  spec.attributes.Set("stride", std::vector<int64_t>{2});
  spec.attributes.Set("size", std::vector<int64_t>{6});
  EXPECT_THAT(error(spec), HasSubstr("expected windows that fit into dim 1 of 5, got a size of 6"));
  spec.attributes.Set("size", std::vector<int64_t>{2, 2, 2});
  EXPECT_THAT(error(spec), HasSubstr("expected windows along 1 to 3 dims of 3, got 3 from 1 on"));
  EXPECT_THAT(error(one.MaxPool(DType::kI32)), HasSubstr("input 0: expected a floating-point type, got i32[2,5,3]"));
  spec = one.Depthwise(DType::kF32);
  spec.inputs[1].dtype = DType::kBF16;
  EXPECT_THAT(error(spec), HasSubstr("input 1: expected f32 of dims [2,3], got bf16[2,3]"));
  spec = one.DepthwiseGradWeight(DType::kBF16);
  spec.outputs[0].dtype = DType::kBF16;
  EXPECT_THAT(error(spec), HasSubstr("output 0: expected f32 of dims [2,3], got bf16[2,3]"));
}

}  // namespace
}  // namespace weft::window
