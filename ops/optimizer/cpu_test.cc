#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using weft::testing::RandomValues;
using weft::testing::RunKernel;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

constexpr double kUnit = 0x1.0p-24;
const Dims kShapes[] = {{}, {1}, {7}, {3, 5}, {3, 67, 257}};

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterOptimizerKernels(*made);
    return made;
  }();
  return *registry;
}

KernelSpec Spec(const char* name, const std::vector<Dims>& inputs, const std::vector<Dims>& outputs,
                Attributes attributes = {}, int threads = 1) {
  KernelSpec spec;
  spec.name = name;
  spec.threads = threads;
  spec.attributes = std::move(attributes);
  for (const Dims& dims : inputs) spec.inputs.push_back(TensorSpec::Whole(DType::kF32, dims));
  for (const Dims& dims : outputs) spec.outputs.push_back(TensorSpec::Whole(DType::kF32, dims));
  return spec;
}

int64_t Count(const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims).elements(); }

std::string CreateError(const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); }

double Single(double x) { return static_cast<float>(x); }

TEST(OptimizerTest, SquareSum) {
  for (const Dims& dims : kShapes) {
    const Values x = RandomValues(Count(dims), 1, -3, 3);
    double sum = 0;
    for (double v : x) sum += v * v;
    auto one = RunKernel(Registry(), Spec("square_sum", {dims}, {{}}), {x});
    ASSERT_TRUE(one.ok()) << one.status();
    EXPECT_NEAR((*one)[0][0], sum, sum * (kUnit + 2.0 * x.size() * 0x1.0p-53));
    EXPECT_EQ(*one, *RunKernel(Registry(), Spec("square_sum", {dims}, {{}}, {}, 2), {x}));
    EXPECT_EQ(*one, *RunKernel(Registry(), Spec("square_sum", {dims}, {{}}, {}, 3), {x}));
  }
}

TEST(OptimizerTest, ClipScale) {
  struct Case {
    double square_sum, count, clip, scale, norm;
  };
  for (const Case& c : {Case{400, 5, 0, 0.2, 4}, Case{400, 5, 1, 0.2 / (4 + 1e-6), 4}, Case{400, 5, 8, 0.2, 4},
                        Case{0, 5, 1, 0.2, 0}, Case{0, 0, 1, 1, 0}}) {
    auto y = RunKernel(Registry(), Spec("clip_scale", {{}, {}}, {{}, {}}, Attributes({{"clip_norm", c.clip}})),
                       {{c.square_sum}, {c.count}});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_NEAR((*y)[0][0], c.scale, c.scale * kUnit);
    EXPECT_EQ((*y)[1][0], c.norm);
  }
  EXPECT_THAT(CreateError(Spec("clip_scale", {{}, {}}, {{}, {}}, Attributes({{"clip_norm", -1.0}}))),
              HasSubstr("clip_scale: attribute `clip_norm`: expected 0 or more, got -1"));
}

// Gradients that are 2^k times too large give what the others give.
TEST(OptimizerTest, ClipScaleTakesTheLossScaleOut) {
  for (double clip : {0.0, 0.5}) {
    const Attributes attributes({{"clip_norm", clip}});
    auto plain = RunKernel(Registry(), Spec("clip_scale", {{}, {}}, {{}, {}}, attributes), {{4}, {3}});
    auto scaled = RunKernel(Registry(), Spec("clip_scale", {{}, {}, {}}, {{}, {}}, attributes),
                            {{4 * 0x1.0p20}, {3}, {0x1.0p10}});
    ASSERT_TRUE(plain.ok() && scaled.ok()) << scaled.status();
    EXPECT_EQ((*scaled)[0][0], (*plain)[0][0] * 0x1.0p-10);
    EXPECT_EQ((*scaled)[1], (*plain)[1]);
  }
}

// {step, scale, good_steps, skipped_steps} after one more step.
Values LossScale(double square_sum, int64_t step, double scale, double good, double skipped,
                 const std::vector<std::pair<int, int>>& in_place = {}) {
  const KernelSpec spec = Spec("loss_scale", {{}, {}, {}, {}}, {{}, {}, {}, {}},
                               Attributes({{"growth_factor", 2.0},
                                           {"backoff_factor", 0.5},
                                           {"growth_interval", int64_t{3}},
                                           {"min", 1.0},
                                           {"max", 1024.0}}));
  RunContext context;
  context.step = step;
  auto y = RunKernel(Registry(), spec, {{square_sum}, {scale}, {good}, {skipped}}, context, in_place);
  EXPECT_TRUE(y.ok()) << y.status();
  return {(*y)[0][0], (*y)[1][0], (*y)[2][0], (*y)[3][0]};
}

TEST(OptimizerTest, LossScale) {
  const double inf = INFINITY, nan = std::nan("");
  EXPECT_EQ(LossScale(9, 0, 64, 0, 0), (Values{1, 64, 1, 0}));
  EXPECT_EQ(LossScale(9, 7, 64, 1, 3), (Values{5, 64, 2, 3}));      // the skipped ones do not count
  EXPECT_EQ(LossScale(9, 8, 64, 2, 3), (Values{6, 128, 0, 3}));     // the third in a row
  EXPECT_EQ(LossScale(9, 8, 1024, 2, 3), (Values{6, 1024, 0, 3}));  // at most max
  for (double overflow : {inf, nan}) {
    EXPECT_EQ(LossScale(overflow, 8, 64, 2, 3), (Values{0, 32, 0, 4}));
    EXPECT_EQ(LossScale(overflow, 8, 1, 2, 3), (Values{0, 1, 0, 4}));  // at least min
  }
  EXPECT_EQ(LossScale(inf, 8, 64, 2, 3, {{1, 1}, {2, 2}, {3, 3}}), (Values{0, 32, 0, 4}));
  EXPECT_THAT(CreateError(Spec("loss_scale", {{}, {}, {}, {}}, {{}, {}, {}, {}})),
              HasSubstr("attribute `growth_factor`: expected a float, got none"));
}

double LearningRate(const char* schedule, int64_t warmup, int64_t step) {
  KernelSpec spec = Spec("learning_rate", {}, {{}},
                         Attributes({{"lr", 0.5},
                                     {"schedule", std::string(schedule)},
                                     {"warmup", warmup},
                                     {"total", int64_t{110}},
                                     {"min_ratio", 0.1}}));
  RunContext context;
  context.step = step;
  return RunKernel(Registry(), spec, {}, context)->at(0)[0];
}

TEST(OptimizerTest, LearningRate) {
  for (const char* schedule : {"constant", "warmup_cosine", "warmup_linear"}) {
    EXPECT_EQ(LearningRate(schedule, 10, 0), Single(0.05));
    EXPECT_EQ(LearningRate(schedule, 10, 8), Single(0.45));
    EXPECT_EQ(LearningRate(schedule, 10, 9), 0.5);
    EXPECT_EQ(LearningRate(schedule, 10, 10), 0.5);
    EXPECT_EQ(LearningRate(schedule, 0, 0), 0.5);
  }
  EXPECT_EQ(LearningRate("constant", 10, 5000), 0.5);
  EXPECT_EQ(LearningRate("warmup_linear", 10, 60), Single(0.5 * (0.1 + 0.9 * 0.5)));
  EXPECT_EQ(LearningRate("warmup_linear", 10, 85), Single(0.5 * (0.1 + 0.9 * 0.25)));
  EXPECT_EQ(LearningRate("warmup_cosine", 10, 60), Single(0.5 * (0.1 + 0.9 * 0.5)));
  EXPECT_NEAR(LearningRate("warmup_cosine", 10, 35), 0.5 * (0.1 + 0.9 * (0.5 + std::sqrt(0.125))), 0.5 * kUnit);
  for (int64_t step : {110, 111, 100000}) {
    EXPECT_EQ(LearningRate("warmup_linear", 10, step), Single(0.05));
    EXPECT_EQ(LearningRate("warmup_cosine", 10, step), Single(0.05));
  }
  Attributes attributes({{"lr", 1.0}, {"schedule", std::string("cosine")}});
  EXPECT_THAT(CreateError(Spec("learning_rate", {}, {{}}, attributes)),
              HasSubstr("attribute `schedule`: expected one of constant, warmup_cosine, warmup_linear, inverse_sqrt, "
                        "polynomial, step, warmup_stable_decay, cosine_restarts, count, got cosine"));
  attributes.Set("schedule", std::string("step"));
  EXPECT_THAT(CreateError(Spec("learning_rate", {}, {{}}, attributes)),
              HasSubstr("attribute `every`: expected 1 or more, got 0"));
  attributes.Set("schedule", std::string("cosine_restarts"));
  EXPECT_THAT(CreateError(Spec("learning_rate", {}, {{}}, attributes)),
              HasSubstr("attribute `period`: expected 1 or more, got 0"));
  attributes.Set("schedule", std::string("warmup_cosine"));
  attributes.Set("warmup", int64_t{10});
  attributes.Set("total", int64_t{10});
  EXPECT_THAT(CreateError(Spec("learning_rate", {}, {{}}, attributes)),
              HasSubstr("attribute `total`: expected more than the warm-up of 10, got 10"));
}

// A bf16 or f16 gradient counts for what it is: the results of the same numbers in f32.
TEST(OptimizerTest, SquareSumOfNarrowGradients) {
  const Dims dims = {3, 67, 257};
  for (DType type : {DType::kBF16, DType::kF16}) {
    const Values g = RandomValues(Count(dims), 2, -1, 1, type);
    KernelSpec spec = Spec("square_sum", {dims}, {{}});
    const auto wide = RunKernel(Registry(), spec, {g});
    spec.inputs[0].dtype = type;
    const auto narrow = RunKernel(Registry(), spec, {g});
    ASSERT_TRUE(wide.ok() && narrow.ok()) << narrow.status();
    EXPECT_EQ(*narrow, *wide);
    spec.inputs[0].dtype = DType::kF64;
    EXPECT_THAT(CreateError(spec), HasSubstr("gradient: expected f32, bf16 or f16, got"));
  }
}

TEST(OptimizerTest, AccumulateStartsAnewAtMicroBatchZero) {
  for (const Dims& dims : kShapes) {
    const Values x = RandomValues(Count(dims), 1), acc = RandomValues(Count(dims), 2);
    for (int threads : {1, 2}) {
      const KernelSpec spec = Spec("accumulate", {dims, dims}, {dims}, {}, threads);
      EXPECT_EQ(RunKernel(Registry(), spec, {x, acc}, {}, {{1, 0}})->at(0), x);
      RunContext later;
      later.micro_batch = 1;
      auto y = RunKernel(Registry(), spec, {x, acc}, later, {{1, 0}});
      ASSERT_TRUE(y.ok()) << y.status();
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ((*y)[0][i], Single(x[i] + acc[i]));
    }
  }
}

TEST(OptimizerTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(CreateError(Spec("accumulate", {{2}}, {{2}})), HasSubstr("expected 2 inputs and 1 outputs, got 1 and 1"));
}

}  // namespace
}  // namespace weft
