#include <cmath>
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using weft::testing::BroadcastIndex;
using weft::testing::RandomValues;
using weft::testing::RunKernel;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const Dims kShapes[] = {{}, {1}, {7}, {3, 5}, {2, 3, 257}, {2, 20011}};

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterElementwiseKernels(*made);
    return made;
  }();
  return *registry;
}

KernelSpec Spec(const char* name, std::vector<Dims> inputs, Dims output, int threads = 1) {
  KernelSpec spec;
  spec.name = name;
  spec.threads = threads;
  for (const Dims& dims : inputs) spec.inputs.push_back(TensorSpec::Whole(DType::kF32, dims));
  spec.outputs.push_back(TensorSpec::Whole(DType::kF32, output));
  return spec;
}

int64_t Count(const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims).elements(); }

struct Unary {
  const char* name;
  double low, high;
  double ulps;  // of the result, in units of 2^-23
  std::function<double(double)> formula;
};

// The bounds of exp, log, tanh, sigmoid, sin and cos are those of ops/math, the others
// those of correctly rounded operations (rsqrt has two of them).
const Unary kUnary[] = {
    {"neg", -3, 3, 0, [](double x) { return -x; }},
    {"exp", -80, 80, 2, [](double x) { return std::exp(x); }},
    {"log", 1e-6, 50, 3, [](double x) { return std::log(x); }},
    {"sqrt", 0, 9, 0.5, [](double x) { return std::sqrt(x); }},
    {"rsqrt", 1e-3, 9, 1.5, [](double x) { return 1 / std::sqrt(x); }},
    {"tanh", -9, 9, 4, [](double x) { return std::tanh(x); }},
    {"sigmoid", -30, 30, 4, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"square", -3, 3, 0.5, [](double x) { return x * x; }},
    {"abs", -3, 3, 0, [](double x) { return std::fabs(x); }},
    {"sign", -3, 3, 0, [](double x) { return x > 0   ? 1.0
                                             : x < 0 ? -1.0
                                                     : 0.0; }},
    {"sin", -4e5, 4e5, 3, [](double x) { return std::sin(x); }},
    {"cos", -3e7, 3e7, 3, [](double x) { return std::cos(x); }},  // beyond what vectors reduce
};

TEST(ElementwiseTest, UnaryAgreesWithItsFormula) {
  for (const Unary& op : kUnary) {
    for (const Dims& dims : kShapes) {
      const Values x = RandomValues(Count(dims), 1, op.low, op.high);
      for (int threads : {1, 2}) {
        for (bool in_place : {false, true}) {
          std::vector<std::pair<int, int>> pairs;
          if (in_place) pairs.push_back({0, 0});
          auto y = RunKernel(Registry(), Spec(op.name, {dims}, dims, threads), {x}, {}, pairs);
          ASSERT_TRUE(y.ok()) << y.status();
          for (size_t i = 0; i < x.size(); ++i) {
            const double expected = op.formula(x[i]);
            ASSERT_NEAR((*y)[0][i], expected, op.ulps * 0x1.0p-23 * std::fabs(expected)) << op.name << " of " << x[i];
          }
        }
      }
    }
  }
}

struct Binary {
  const char* name;
  std::function<double(double, double)> formula;
};

const Binary kBinary[] = {
    {"add", [](double a, double b) { return a + b; }},
    {"sub", [](double a, double b) { return a - b; }},
    {"mul", [](double a, double b) { return a * b; }},
    {"div", [](double a, double b) { return a / b; }},
    {"maximum", [](double a, double b) { return std::max(a, b); }},
    {"minimum", [](double a, double b) { return std::min(a, b); }},
};

struct Shapes {
  Dims a, b, y;
};

const Shapes kBroadcasts[] = {
    {{}, {}, {}},
    {{7}, {}, {7}},
    {{}, {7}, {7}},
    {{2, 3, 5}, {2, 3, 5}, {2, 3, 5}},
    {{30, 40, 33}, {33}, {30, 40, 33}},
    {{33}, {30, 40, 33}, {30, 40, 33}},
    {{4, 5, 6}, {4, 5, 1}, {4, 5, 6}},
    {{4, 1, 6}, {4, 5, 6}, {4, 5, 6}},
    {{4, 1, 6}, {1, 5, 1}, {4, 5, 6}},
    {{1, 5, 6}, {4, 1, 1}, {4, 5, 6}},
    {{5, 1}, {1, 9}, {5, 9}},
    {{2, 1, 3, 1}, {5, 1, 4}, {2, 5, 3, 4}},
    {{1, 1}, {1, 1}, {1, 1}},
};

TEST(ElementwiseTest, BinaryBroadcasts) {
  for (const Binary& op : kBinary) {
    for (const Shapes& shapes : kBroadcasts) {
      Values a = RandomValues(Count(shapes.a), 2), b = RandomValues(Count(shapes.b), 3);
      for (size_t i = 0; i < std::min(a.size(), b.size()); i += 3) a[i] = b[i];
      for (int threads : {1, 2}) {
        auto y = RunKernel(Registry(), Spec(op.name, {shapes.a, shapes.b}, shapes.y, threads), {a, b});
        ASSERT_TRUE(y.ok()) << y.status();
        for (int64_t i = 0; i < Count(shapes.y); ++i) {
          const double expected =
              op.formula(a[BroadcastIndex(i, shapes.y, shapes.a)], b[BroadcastIndex(i, shapes.y, shapes.b)]);
          ASSERT_EQ((*y)[0][i], static_cast<float>(expected)) << op.name << " element " << i;
        }
      }
    }
  }
}

TEST(ElementwiseTest, BinaryInPlaceOfEitherOperand) {
  const Values a = RandomValues(40000, 2), b = RandomValues(40000, 3), row = RandomValues(400, 4);
  auto apart = RunKernel(Registry(), Spec("sub", {{100, 400}, {100, 400}}, {100, 400}), {a, b});
  auto left = RunKernel(Registry(), Spec("sub", {{100, 400}, {100, 400}}, {100, 400}, 2), {a, b}, {}, {{0, 0}});
  auto right = RunKernel(Registry(), Spec("sub", {{100, 400}, {100, 400}}, {100, 400}, 2), {a, b}, {}, {{1, 0}});
  EXPECT_EQ(*apart, *left);
  EXPECT_EQ(*apart, *right);
  EXPECT_EQ(*RunKernel(Registry(), Spec("mul", {{100, 400}, {400}}, {100, 400}), {a, row}),
            *RunKernel(Registry(), Spec("mul", {{100, 400}, {400}}, {100, 400}, 2), {a, row}, {}, {{0, 0}}));
}

TEST(ElementwiseTest, MaximumAndMinimumKeepNaN) {
  const double nan = std::nan("");
  for (const char* name : {"maximum", "minimum"}) {
    auto y = RunKernel(Registry(), Spec(name, {{9}, {9}}, {9}),
                       {{nan, 1, nan, 2, 3, 4, 5, 6, nan}, {1, nan, nan, 2, 3, 4, 5, 6, 7}});
    ASSERT_TRUE(y.ok()) << y.status();
    for (int i : {0, 1, 2, 8}) EXPECT_TRUE(std::isnan((*y)[0][i])) << name << " " << i;
    EXPECT_EQ((*y)[0][4], 3);
  }
}

TEST(ElementwiseTest, Scale) {
  for (const Dims& dims : kShapes) {
    KernelSpec spec = Spec("scale", {dims}, dims, 2);
    spec.attributes.Set("factor", 0.3);
    const Values x = RandomValues(Count(dims), 5);
    auto y = RunKernel(Registry(), spec, {x}, {}, {{0, 0}});
    ASSERT_TRUE(y.ok()) << y.status();
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ((*y)[0][i], static_cast<float>(static_cast<float>(x[i]) * 0.3f));
    }
  }
}

TEST(ElementwiseTest, UnaryKeepsNaN) {
  for (const char* name : {"abs", "sign", "sin", "cos"}) {
    const auto y = RunKernel(Registry(), Spec(name, {{3}}, {3}), {{std::nan(""), 0, 1}});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_TRUE(std::isnan((*y)[0][0])) << name;
    EXPECT_EQ((*y)[0][1], std::string(name) == "cos" ? 1 : 0) << name;
  }
}

TEST(ElementwiseTest, AddScalar) {
  for (const Dims& dims : kShapes) {
    KernelSpec spec = Spec("add_scalar", {dims}, dims, 2);
    spec.attributes.Set("addend", 0.3);
    const Values x = RandomValues(Count(dims), 5);
    auto y = RunKernel(Registry(), spec, {x}, {}, {{0, 0}});
    ASSERT_TRUE(y.ok()) << y.status();
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ((*y)[0][i], static_cast<float>(x[i]) + 0.3f);
  }
}

TEST(ElementwiseTest, ClampsToEitherEndAndKeepsNaN) {
  const Values x = {-3, -1, -0.5, 0.25, 0.5, 4, std::nan(""), INFINITY, -INFINITY};
  auto clamp = [&](const Attributes& attributes) {
    KernelSpec spec = Spec("clamp", {{9}}, {9});
    spec.attributes = attributes;
    Values y = RunKernel(Registry(), spec, {x}, {}, {{0, 0}})->at(0);
    EXPECT_TRUE(std::isnan(y[6]));
    y.erase(y.begin() + 6);
    return y;
  };
  EXPECT_EQ(clamp({{"min", -1.0}, {"max", 0.5}}), Values({-1, -1, -0.5, 0.25, 0.5, 0.5, 0.5, -1}));
  EXPECT_EQ(clamp({{"min", -1.0}}), Values({-1, -1, -0.5, 0.25, 0.5, 4, INFINITY, -1}));
  EXPECT_EQ(clamp({{"max", int64_t{0}}}), Values({-3, -1, -0.5, 0, 0, 0, 0, -INFINITY}));
}

// Products and libm's pow in double: one rounding to f32, and some of double.
TEST(ElementwiseTest, PowerIsRightToOneRounding) {
  for (double exponent : {0.0, 1.0, 2.0, 3.0, 5.0, -1.0, -4.0, 0.5, -0.5, 2.5, 63.0, 64.5, 65.0, 1.7, -0.3}) {
    for (const Dims& dims : kShapes) {
      KernelSpec spec = Spec("power", {dims}, dims, 2);
      spec.attributes.Set("exponent", exponent);
      Values x = RandomValues(Count(dims), 5, 0.25, 2);
      if (exponent == std::floor(exponent)) {
        for (size_t i = 0; i < x.size(); i += 2) x[i] = -x[i];
      }
      auto y = RunKernel(Registry(), spec, {x}, {}, {{0, 0}});
      ASSERT_TRUE(y.ok()) << y.status();
      for (size_t i = 0; i < x.size(); ++i) {
        const double expected = std::pow(x[i], exponent);
        // What is subnormal is a multiple of 2^-149.
        ASSERT_NEAR((*y)[0][i], expected, 0x1.01p-24 * std::fabs(expected) + 0x1p-150)
            << x[i] << " to the power " << exponent;
      }
    }
  }
}

TEST(ElementwiseTest, PowerAtItsEdges) {
  const Values x = {0, -2, INFINITY, 1e30};
  auto power = [&](double exponent) {
    KernelSpec spec = Spec("power", {{4}}, {4});
    spec.attributes.Set("exponent", exponent);
    return RunKernel(Registry(), spec, {x})->at(0);
  };
  EXPECT_EQ(power(0), Values(4, 1));
  EXPECT_EQ(power(3), Values({0, -8, INFINITY, INFINITY}));
  EXPECT_EQ(power(-2), Values({INFINITY, 0.25, 0, 0}));
  for (double exponent : {0.5, 1.3}) {
    const Values y = power(exponent);
    EXPECT_EQ(y[0], 0);
    EXPECT_TRUE(std::isnan(y[1]));
    EXPECT_EQ(y[2], INFINITY);
  }
}

// Against 64 bits that are cut to the type's: what grows too large wraps around.
TEST(ElementwiseTest, IntegersWrapAround) {
  const double big = 2147483647, low = -2147483648;
  const Values a = {7, -7, big, low, 65536, big}, b = {2, 3, 1, 1, 65537, big};
  const std::pair<const char*, std::function<int64_t(int64_t, int64_t)>> ops[] = {
      {"add", [](int64_t x, int64_t y) { return x + y; }},
      {"sub", [](int64_t x, int64_t y) { return x - y; }},
      {"mul", [](int64_t x, int64_t y) { return x * y; }},
      {"maximum", [](int64_t x, int64_t y) { return std::max(x, y); }},
      {"minimum", [](int64_t x, int64_t y) { return std::min(x, y); }},
  };
  for (const auto& [name, formula] : ops) {
    for (DType type : {DType::kI32, DType::kI64}) {
      KernelSpec spec = Spec(name, {{6}, {6}}, {6});
      for (TensorSpec* tensor : {&spec.inputs[0], &spec.inputs[1], &spec.outputs[0]}) tensor->dtype = type;
      const auto y = RunKernel(Registry(), spec, {a, b});
      ASSERT_TRUE(y.ok()) << y.status();
      for (size_t i = 0; i < a.size(); ++i) {
        const int64_t wide = formula(static_cast<int64_t>(a[i]), static_cast<int64_t>(b[i]));
        const int64_t expected = type == DType::kI32 ? static_cast<int32_t>(wide) : wide;
        EXPECT_EQ((*y)[0][i], static_cast<double>(expected)) << name << " " << i;
      }
    }
  }
}

TEST(ElementwiseTest, IntegersBroadcast) {
  for (DType type : {DType::kI32, DType::kI64}) {
    for (const Shapes& shapes : kBroadcasts) {
      KernelSpec spec = Spec("sub", {shapes.a, shapes.b}, shapes.y, 2);
      for (TensorSpec* tensor : {&spec.inputs[0], &spec.inputs[1], &spec.outputs[0]}) tensor->dtype = type;
      const Values a = RandomValues(Count(shapes.a), 2, -99, 99, DType::kI32);
      const Values b = RandomValues(Count(shapes.b), 3, -99, 99, DType::kI32);
      const auto y = RunKernel(Registry(), spec, {a, b});
      ASSERT_TRUE(y.ok()) << y.status();
      for (int64_t i = 0; i < Count(shapes.y); ++i) {
        ASSERT_EQ((*y)[0][i], a[BroadcastIndex(i, shapes.y, shapes.a)] - b[BroadcastIndex(i, shapes.y, shapes.b)]);
      }
    }
  }
}

TEST(ElementwiseTest, AddNSumsInOrderAndInPlaceOfAnyOperand) {
  for (int count : {1, 2, 5}) {
    for (const Dims& dims : kShapes) {
      std::vector<Values> x;
      for (int k = 0; k < count; ++k) x.push_back(RandomValues(Count(dims), 10 + k));
      for (int place = -1; place < count; ++place) {
        std::vector<std::pair<int, int>> pairs;
        if (place >= 0) pairs.push_back({place, 0});
        auto y = RunKernel(Registry(), Spec("add_n", std::vector<Dims>(count, dims), dims, 2), x, {}, pairs);
        ASSERT_TRUE(y.ok()) << y.status();
        for (size_t i = 0; i < x[0].size(); ++i) {
          float sum = static_cast<float>(x[0][i]);
          for (int k = 1; k < count; ++k) sum += static_cast<float>(x[k][i]);
          ASSERT_EQ((*y)[0][i], sum);
        }
      }
    }
  }
}

TEST(ElementwiseTest, CastRoundsToNearestEven) {
  KernelSpec spec = Spec("cast", {{40001}}, {40001}, 2);
  spec.outputs[0].dtype = DType::kBF16;
  Values x = RandomValues(40001, 6, -100, 100);
  x[0] = 1 + 0x1.0p-8;  // a tie: to the even neighbour below
  x[1] = 1 + 0x3.0p-8;  // a tie: to the even neighbour above
  x[2] = std::nan("");
  x[3] = INFINITY;
  auto narrow = RunKernel(Registry(), spec, {x});
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  EXPECT_EQ((*narrow)[0][0], 1);
  EXPECT_EQ((*narrow)[0][1], 1 + 0x1.0p-6);
  EXPECT_TRUE(std::isnan((*narrow)[0][2]));
  EXPECT_EQ((*narrow)[0][3], INFINITY);
  for (size_t i = 4; i < x.size(); ++i) ASSERT_NEAR((*narrow)[0][i], x[i], std::fabs(x[i]) * 0x1.0p-8);

  Values exact((*narrow)[0].begin() + 4, (*narrow)[0].end());
  spec = Spec("cast", {{39997}}, {39997}, 2);
  spec.inputs[0].dtype = DType::kBF16;
  auto wide = RunKernel(Registry(), spec, {exact});
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ((*wide)[0], exact);
}

// Every kind of number, in the middle of vectors too: what dtype.h says of one, the kernel does for many.
TEST(ElementwiseTest, CastsToAndFromF16) {
  KernelSpec spec = Spec("cast", {{40001}}, {40001}, 2);
  Values x = RandomValues(40001, 6, -100, 100);
  const double odd[] = {65519, 65520, -INFINITY, std::nan(""), 0x1.0p-24, 0x3.0p-26, 0x1.0p-25, -0x1.0p-14, 1e30, 0};
  for (size_t i = 0; i < x.size(); i += 7) x[i] = i % 2 ? x[i] * 0x1.0p-18 : odd[i / 7 % std::size(odd)];
  spec.outputs[0].dtype = DType::kF16;
  auto narrow = RunKernel(Registry(), spec, {x});
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  std::swap(spec.inputs, spec.outputs);
  auto wide = RunKernel(Registry(), spec, {(*narrow)[0]});
  ASSERT_TRUE(wide.ok()) << wide.status();
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = ToFloat(ToFloat16(static_cast<float>(x[i])));
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan((*narrow)[0][i]) && std::isnan((*wide)[0][i]));
    } else {
      ASSERT_EQ((*narrow)[0][i], want);
      ASSERT_EQ((*wide)[0][i], want);
    }
  }
}

Values Cast(const Values& x, DType from, DType to) {
  const auto n = static_cast<int64_t>(x.size());
  KernelSpec spec = Spec("cast", {{n}}, {n}, 2);
  spec.inputs[0].dtype = from;
  spec.outputs[0].dtype = to;
  const auto y = RunKernel(Registry(), spec, {x});
  EXPECT_TRUE(y.ok()) << y.status();
  return y.ok() ? (*y)[0] : Values();
}

TEST(ElementwiseTest, CastsToIntegersCutOffWhatIsBehindThePointAndStopAtTheirEnds) {
  const double nan = std::nan("");
  const Values x = {2.9, -2.9, 0.5, -0.5, nan, INFINITY, -INFINITY, 3e9, -3e9, 300, 255.5, 2147483520};
  const double i32 = 2147483647, i64 = 9223372036854775807.0;
  EXPECT_EQ(Cast(x, DType::kF32, DType::kI32),
            Values({2, -2, 0, 0, 0, i32, -i32 - 1, i32, -i32 - 1, 300, 255, 2147483520}));
  EXPECT_EQ(Cast(x, DType::kF32, DType::kI64), Values({2, -2, 0, 0, 0, i64, -i64, 3e9, -3e9, 300, 255, 2147483520}));
  EXPECT_EQ(Cast(x, DType::kF32, DType::kU8), Values({2, 0, 0, 0, 0, 255, 0, 255, 0, 255, 255, 255}));
  EXPECT_EQ(Cast({2.75, -300}, DType::kBF16, DType::kI32), Values({2, -300}));
  EXPECT_EQ(Cast({2.75, -300}, DType::kF16, DType::kU8), Values({2, 0}));
}

TEST(ElementwiseTest, CastsFromIntegersRoundToNearestEven) {
  const Values x = {0, 1, -5, 16777217, 16777219, 257, 259};
  EXPECT_EQ(Cast(x, DType::kI32, DType::kF32), Values({0, 1, -5, 16777216, 16777220, 257, 259}));
  EXPECT_EQ(Cast(x, DType::kI64, DType::kF32), Values({0, 1, -5, 16777216, 16777220, 257, 259}));
  EXPECT_EQ(Cast(x, DType::kI64, DType::kBF16), Values({0, 1, -5, 16777216, 16777216, 256, 260}));
  EXPECT_EQ(Cast({0, 255, 2049}, DType::kI32, DType::kF16), Values({0, 255, 2048}));
  Values bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<double>(i);
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64}) {
    EXPECT_EQ(Cast(bytes, DType::kU8, type), bytes) << NameOf(type);
  }
}

TEST(ElementwiseTest, CastsBetweenIntegersKeepTheLowestBits) {
  EXPECT_EQ(Cast({4294967301.0, -1, 7}, DType::kI64, DType::kI32), Values({5, -1, 7}));
  EXPECT_EQ(Cast({-1, 2147483647, -2147483648.0}, DType::kI32, DType::kI64), Values({-1, 2147483647, -2147483648.0}));
  EXPECT_EQ(Cast({256, 257, -1}, DType::kI32, DType::kU8), Values({0, 1, 255}));
}

TEST(ElementwiseTest, BroadcastTo) {
  const std::pair<Dims, Dims> cases[] = {{{}, {}},
                                         {{}, {5}},
                                         {{1}, {3, 40000}},
                                         {{7}, {3, 4, 7}},
                                         {{3, 1, 7}, {3, 4, 7}},
                                         {{3, 4, 1}, {3, 4, 7}},
                                         {{3, 1, 7, 1}, {2, 3, 300, 7, 5}},
                                         {{3, 4}, {3, 4}}};
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI64, DType::kU8}) {
    for (const auto& [from, to] : cases) {
      for (int threads : {1, 2}) {
        KernelSpec spec = Spec("broadcast_to", {from}, to, threads);
        spec.inputs[0].dtype = spec.outputs[0].dtype = type;
        const bool integer = !RowOf(type)->is_float;
        const Values x = RandomValues(Count(from), 8, integer ? 0 : -1, integer ? 99 : 1, integer ? DType::kI32 : type);
        auto y = RunKernel(Registry(), spec, {x});
        ASSERT_TRUE(y.ok()) << y.status();
        for (int64_t i = 0; i < Count(to); ++i) ASSERT_EQ((*y)[0][i], x[BroadcastIndex(i, to, from)]);
      }
    }
  }
}

void ExpectError(const KernelSpec& spec, const char* message) {
  auto kernel = Registry().Create(spec);
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(std::string(kernel.status().message()), HasSubstr(message));
}

TEST(ElementwiseTest, RefusesWhatDoesNotFit) {
  ExpectError(Spec("add", {{2, 3}}, {2, 3}), "add: expected 2 inputs and 1 outputs, got 1 and 1");
  ExpectError(Spec("add", {{2, 3}, {2}}, {2, 3}), "input 1: expected a shape that broadcasts to f32[2,3], got f32[2]");
  ExpectError(Spec("add", {{4, 2, 3}, {3}}, {2, 3}), "input 0: expected a shape that broadcasts to f32[2,3]");
  ExpectError(Spec("add", {{1}, {2, 1}}, {2, 3}),
              "output 0: expected the extents of the inputs, got f32[2,3] of f32[1]");
  ExpectError(Spec("exp", {{2, 3}}, {3, 2}), "output 0: expected leading dims [2,3], got f32[3,2]");
  ExpectError(Spec("scale", {{2}}, {2}), "attribute `factor`: expected a float, got none");
  ExpectError(Spec("add_n", {}, {2}), "expected one or more inputs, got none");
  ExpectError(Spec("broadcast_to", {{3}}, {3, 2}), "input 0: expected a shape that broadcasts to f32[3,2], got f32[3]");
  KernelSpec integer = Spec("mul", {{2}, {2}}, {2});
  integer.inputs[1].dtype = DType::kI32;
  ExpectError(integer, "input 1: expected f32, got i32[2]");
  std::swap(integer.inputs[0], integer.inputs[1]);
  ExpectError(integer, "input 1: expected i32, got f32[2]");
  integer.name = "div";
  ExpectError(integer, "input 0: expected f32, bf16 or f16, got i32[2]");
  ExpectError(Spec("add_scalar", {{2}}, {2}), "attribute `addend`: expected a float, got none");
  ExpectError(Spec("power", {{2}}, {2}), "attribute `exponent`: expected a float, got none");
  KernelSpec half = Spec("cast", {{2}}, {2});
  half.outputs[0].dtype = DType::kF64;
  ExpectError(half, "expected f32, bf16, f16, i32, i64 or u8, got f64");
}

}  // namespace
}  // namespace weft
