// What is generated of comparisons and choices, on the host and on a GPU, beside plain loops.
#include "tests/support/generated.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using testing::BroadcastIndex;
using testing::ExpectTwins;
using testing::RandomValues;
using testing::Registered;
using testing::RunKernel;
using testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Generated() { return Registered<&testing::RegisterGeneratedKernels>(); }

struct Operand {
  DType type;
  Dims dims;
};

KernelSpec Spec(const char* name, const std::vector<Operand>& inputs, const Operand& output, int threads = 1) {
  KernelSpec spec;
  spec.name = name;
  spec.threads = threads;
  for (const Operand& it : inputs) spec.inputs.push_back(TensorSpec::Whole(it.type, it.dims));
  spec.outputs.push_back(TensorSpec::Whole(output.type, output.dims));
  return spec;
}

int64_t Count(const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims).elements(); }

struct Comparison {
  const char* name;
  std::function<bool(double, double)> formula;
};
const Comparison kComparisons[] = {
    {"greater", [](double a, double b) { return a > b; }}, {"greater_equal", [](double a, double b) { return a >= b; }},
    {"less", [](double a, double b) { return a < b; }},    {"less_equal", [](double a, double b) { return a <= b; }},
    {"equal", [](double a, double b) { return a == b; }},  {"not_equal", [](double a, double b) { return a != b; }},
};

struct Shapes {
  Dims a, b, y;
};
const Shapes kBroadcasts[] = {
    {{}, {}, {}},
    {{7}, {}, {7}},
    {{}, {7}, {7}},
    {{20000, 3}, {20000, 3}, {20000, 3}},
    {{30, 40, 33}, {33}, {30, 40, 33}},
    {{33}, {30, 40, 33}, {30, 40, 33}},
    {{4, 1, 6}, {1, 5, 1}, {4, 5, 6}},
    {{2, 1, 3, 1}, {5, 1, 4}, {2, 5, 3, 4}},
    {{1, 1}, {1, 1}, {1, 1}},
};

// Whole numbers around 0, so that many are equal.
TEST(LogicTest, ComparisonsOfEveryTypeToTruthValuesAndNumbers) {
  for (const Comparison& op : kComparisons) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8}) {
      const double low = type == DType::kU8 ? 0 : -2;
      for (const Shapes& it : kBroadcasts) {
        const Values a = RandomValues(Count(it.a), 2, low, 3, DType::kI32);
        const Values b = RandomValues(Count(it.b), 3, low, 3, DType::kI32);
        for (DType to : {DType::kU8, type}) {
          for (int threads : {1, 2}) {
            const auto y =
                RunKernel(Generated(), Spec(op.name, {{type, it.a}, {type, it.b}}, {to, it.y}, threads), {a, b});
            ASSERT_TRUE(y.ok()) << y.status();
            for (int64_t i = 0; i < Count(it.y); ++i) {
              const bool expected = op.formula(a[BroadcastIndex(i, it.y, it.a)], b[BroadcastIndex(i, it.y, it.b)]);
              ASSERT_EQ((*y)[0][i], expected ? 1 : 0) << op.name << " " << NameOf(type) << " element " << i;
            }
          }
        }
      }
    }
  }
}

TEST(LogicTest, AComparisonWithNaNIsFalseButForNotEqual) {
  const double nan = std::nan("");
  for (const Comparison& op : kComparisons) {
    const auto y = RunKernel(Generated(), Spec(op.name, {{DType::kF32, {3}}, {DType::kF32, {3}}}, {DType::kU8, {3}}),
                             {{nan, 1, nan}, {1, nan, nan}});
    EXPECT_EQ((*y)[0], Values(3, std::string(op.name) == "not_equal" ? 1 : 0)) << op.name;
  }
}

TEST(LogicTest, LargeIntegersAreComparedAsThemselves) {
  // Neighbours that are one float32.
  const Values a = {16777217, 16777216}, b = {16777216, 16777217};
  for (DType type : {DType::kI32, DType::kI64}) {
    const Operand pair = {type, {2}};
    EXPECT_EQ((*RunKernel(Generated(), Spec("greater", {pair, pair}, {DType::kU8, {2}}), {a, b}))[0], Values({1, 0}));
    EXPECT_EQ((*RunKernel(Generated(), Spec("equal", {pair, pair}, {DType::kU8, {2}}), {a, b}))[0], Values({0, 0}));
  }
}

TEST(LogicTest, AnythingButZeroIsTrue) {
  const Operand bytes = {DType::kU8, {6}};
  const Values a = {0, 0, 1, 255, 2, 0}, b = {0, 1, 0, 2, 4, 128};
  EXPECT_EQ((*RunKernel(Generated(), Spec("logical_and", {bytes, bytes}, bytes), {a, b}))[0],
            Values({0, 0, 0, 1, 1, 0}));
  EXPECT_EQ((*RunKernel(Generated(), Spec("logical_or", {bytes, bytes}, bytes), {a, b}))[0],
            Values({0, 1, 1, 1, 1, 1}));
  EXPECT_EQ((*RunKernel(Generated(), Spec("logical_not", {bytes}, bytes), {a}, {}, {{0, 0}}))[0],
            Values({1, 1, 0, 0, 0, 1}));
}

struct Three {
  Dims condition, a, b, y;
};
const Three kThree[] = {
    {{}, {}, {}, {}},
    {{7}, {7}, {7}, {7}},
    {{}, {7}, {7}, {7}},
    {{7}, {}, {7}, {7}},
    {{7}, {7}, {}, {7}},
    {{7}, {}, {}, {7}},
    {{}, {}, {7}, {7}},
    {{}, {7}, {}, {7}},
    {{30, 40, 33}, {33}, {40, 1}, {30, 40, 33}},
    {{1, 5, 1}, {4, 1, 1}, {1, 1, 6}, {4, 5, 6}},
    {{20000, 3}, {20000, 3}, {20000, 3}, {20000, 3}},
};

TEST(LogicTest, SelectsElementsOfAnyType) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kI32, DType::kI64, DType::kU8}) {
    for (const Three& it : kThree) {
      const Values condition = RandomValues(Count(it.condition), 1, 0, 3, DType::kI32);
      const Values a = RandomValues(Count(it.a), 2, 0, 99, DType::kI32);
      const Values b = RandomValues(Count(it.b), 3, 100, 199, DType::kI32);
      for (int threads : {1, 2}) {
        const KernelSpec spec =
            Spec("select", {{DType::kU8, it.condition}, {type, it.a}, {type, it.b}}, {type, it.y}, threads);
        const auto y = RunKernel(Generated(), spec, {condition, a, b});
        ASSERT_TRUE(y.ok()) << y.status();
        for (int64_t i = 0; i < Count(it.y); ++i) {
          const double expected = condition[BroadcastIndex(i, it.y, it.condition)] != 0
                                      ? a[BroadcastIndex(i, it.y, it.a)]
                                      : b[BroadcastIndex(i, it.y, it.b)];
          ASSERT_EQ((*y)[0][i], expected) << NameOf(type) << " element " << i;
        }
        if (it.a == it.y) EXPECT_EQ(*RunKernel(Generated(), spec, {condition, a, b}, {}, {{1, 0}}), *y);
        if (it.b == it.y) EXPECT_EQ(*RunKernel(Generated(), spec, {condition, a, b}, {}, {{2, 0}}), *y);
      }
    }
  }
}

// Small whole numbers, of which many are equal and some are 0.
Values Small(const Dims& dims, uint64_t seed) {
  return RandomValues(TensorSpec::Whole(DType::kF32, dims).elements(), seed, 0, 3, DType::kI32);
}

const Shapes kOnGpu[] = {
    {{}, {}, {}},
    {{}, {7}, {7}},
    {{2, 3, 257}, {2, 3, 257}, {2, 3, 257}},
    {{30, 4, 33}, {33}, {30, 4, 33}},
    {{4, 1, 6}, {1, 5, 1}, {4, 5, 6}},
    {{2, 1, 3, 1}, {5, 1, 4}, {2, 5, 3, 4}},
};
constexpr DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8};

TEST(LogicTest, ComparisonsHaveTheHostsBitsOnAGpu) {
  for (const char* name : {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}) {
    for (DType type : kTypes) {
      for (const Shapes& it : kOnGpu) {
        for (DType to : {DType::kU8, type}) {
          ExpectTwins(Generated(), Generated(), Spec(name, {{type, it.a}, {type, it.b}}, {to, it.y}),
                      {Small(it.a, 1), Small(it.b, 2)});
        }
      }
    }
    const double nan = std::nan("");
    const Operand three = {DType::kF32, {3}};
    ExpectTwins(Generated(), Generated(), Spec(name, {three, three}, {DType::kU8, {3}}),
                {{nan, 1, nan}, {1, nan, nan}});
  }
}

TEST(LogicTest, AndOrNotHaveTheHostsBitsOnAGpu) {
  for (const Shapes& it : kOnGpu) {
    for (const char* name : {"logical_and", "logical_or"}) {
      ExpectTwins(Generated(), Generated(), Spec(name, {{DType::kU8, it.a}, {DType::kU8, it.b}}, {DType::kU8, it.y}),
                  {Small(it.a, 1), Small(it.b, 2)});
    }
    ExpectTwins(Generated(), Generated(), Spec("logical_not", {{DType::kU8, it.a}}, {DType::kU8, it.a}),
                {Small(it.a, 1)});
  }
}

TEST(LogicTest, SelectHasTheHostsBitsOnAGpu) {
  for (DType type : kTypes) {
    for (const Shapes& it : kOnGpu) {
      const KernelSpec spec = Spec("select", {{DType::kU8, it.a}, {type, it.y}, {type, it.b}}, {type, it.y});
      const std::vector<Values> inputs = {Small(it.a, 1), Small(it.y, 2), Small(it.b, 3)};
      ExpectTwins(Generated(), Generated(), spec, inputs);
      ExpectTwins(Generated(), Generated(), spec, inputs, {}, {}, {{1, 0}});
    }
  }
}

}  // namespace
}  // namespace weft
