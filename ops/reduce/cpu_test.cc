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
using weft::testing::Tile;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterReduceKernels(*made);
    return made;
  }();
  return *registry;
}

bool Contains(const Dims& dims, size_t d) {
  return std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end();
}

KernelSpec Spec(const std::string& kind, const Dims& shape, const Dims& dims, bool keep, int threads) {
  KernelSpec spec;
  spec.name = "reduce";
  spec.threads = threads;
  spec.attributes.Set("kind", kind);
  spec.attributes.Set("dims", dims);
  if (keep) spec.attributes.Set("keep_dims", int64_t{1});
  Dims result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!Contains(dims, d)) {
      result.push_back(shape[d]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  spec.inputs = {TensorSpec::Whole(DType::kF32, shape)};
  spec.outputs = {TensorSpec::Whole(DType::kF32, result)};
  return spec;
}

struct Reference {
  Values sum, magnitude, max;
  int64_t count = 1;
};

Reference Reduce(const Values& x, const Dims& shape, const Dims& dims) {
  Reference reference;
  int64_t outputs = 1;
  for (size_t d = 0; d < shape.size(); ++d) (Contains(dims, d) ? reference.count : outputs) *= shape[d];
  reference.sum.resize(outputs, 0);
  reference.magnitude.resize(outputs, 0);
  reference.max.resize(outputs, -INFINITY);
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), at = 0, stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      if (!Contains(dims, d)) {
        at += rest % shape[d] * stride;
        stride *= shape[d];
      }
      rest /= shape[d];
    }
    reference.sum[at] += x[i];
    reference.magnitude[at] += std::fabs(x[i]);
    reference.max[at] = std::max(reference.max[at], x[i]);
  }
  return reference;
}

struct Case {
  Dims shape, dims;
};

const Case kCases[] = {
    {{}, {}},
    {{1}, {0}},
    {{7}, {0}},
    {{7}, {}},
    {{200003}, {0}},            // one output, parts
    {{3, 100001}, {1}},         // few rows, parts of pieces
    {{50, 1000}, {1}},          // last dim
    {{50, 1000}, {0}},          // leading dim
    {{3000, 3}, {0}},           // few columns
    {{90000, 3}, {0}},          // few columns, parts
    {{20, 30, 700}, {0, 1}},    // the gradient of a bias
    {{4, 5, 6}, {1}},           // middle
    {{4, 50, 600}, {1}},        //
    {{4, 5, 6}, {0, 2}},        // reduced dims apart, rows reduced
    {{40, 50, 60}, {0, 2}},     //
    {{3, 4, 5, 6, 7}, {1, 3}},  // reduced dims apart, rows kept
    {{3, 4, 5, 6, 7}, {0, 2, 4}},
    {{1, 4, 1, 6, 1}, {0, 2, 4}},
    {{2, 3, 4}, {0, 1, 2}},
    {{2, 3, 4}, {2, 0}},
};

// No output, or outputs of no summands.
const Case kEmptyCases[] = {{{0, 5}, {0}},    {{0, 5}, {1}},    {{5, 0}, {0}},       {{5, 0}, {1}},
                            {{0, 5}, {0, 1}}, {{3, 0, 4}, {1}}, {{3, 0, 4}, {0, 2}}, {{0}, {}}};

TEST(ReduceTest, AgreesWithAPlainLoopOnAnyNumberOfThreads) {
  for (const Case& c : kCases) {
    const int64_t n = TensorSpec::Whole(DType::kF32, c.shape).elements();
    const Values x = RandomValues(n, 1, -1, 3);
    const Reference expected = Reduce(x, c.shape, c.dims);
    for (bool keep : {false, true}) {
      for (std::string kind : {"sum", "mean", "max"}) {
        auto y = RunKernel(Registry(), Spec(kind, c.shape, c.dims, keep, 1), {x});
        ASSERT_TRUE(y.ok()) << y.status();
        ASSERT_EQ((*y)[0].size(), expected.sum.size());
        for (size_t i = 0; i < expected.sum.size(); ++i) {
          const double factor = kind == "mean" ? 1.0 / static_cast<double>(expected.count) : 1;
          const double value = kind == "max" ? expected.max[i] : expected.sum[i] * factor;
          const double adding = 2 * static_cast<double>(expected.count) * 0x1.0p-53 * expected.magnitude[i] * factor;
          const double bound = kind == "max" ? 0 : 0x1.0p-24 * std::fabs(value) + adding;
          ASSERT_NEAR((*y)[0][i], value, bound) << kind << " of " << TensorSpec::Whole(DType::kF32, c.shape).ToString();
        }
        for (int threads : {2, 3}) {
          EXPECT_EQ(*y, *RunKernel(Registry(), Spec(kind, c.shape, c.dims, keep, threads), {x}));
        }
      }
    }
  }
}

TEST(ReduceTest, EmptyInputs) {
  for (const Case& c : kEmptyCases) {
    for (int threads : {1, 2}) {
      const auto sum = RunKernel(Registry(), Spec("sum", c.shape, c.dims, false, threads), {Values()});
      const auto max = RunKernel(Registry(), Spec("max", c.shape, c.dims, false, threads), {Values()});
      const auto mean = RunKernel(Registry(), Spec("mean", c.shape, c.dims, false, threads), {Values()});
      ASSERT_TRUE(sum.ok() && max.ok() && mean.ok());
      const Reference expected = Reduce({}, c.shape, c.dims);
      EXPECT_EQ((*sum)[0], expected.sum);
      EXPECT_EQ((*max)[0], expected.max);
      for (double value : (*mean)[0]) EXPECT_TRUE(std::isnan(value));
    }
  }
}

TEST(ReduceTest, SumOfManyDoesNotDrift) {
  // In f32, adding 0.1 four million times one by one is off by one per cent.
  const Values x(4000000, 0.1);
  auto y = RunKernel(Registry(), Spec("sum", {4000000}, {0}, false, 2), {x});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_NEAR((*y)[0][0], 4000000 * static_cast<double>(0.1f), 400000 * 0x1.0p-24);
}

TEST(ReduceTest, MeanOfATileIsItsPartOfTheWholeMean) {
  KernelSpec spec = Spec("mean", {4, 6}, {0}, false, 1);
  spec.inputs[0] = Tile(DType::kF32, {4, 6}, {16, 6}, {8, 0});
  const Values x(24, 2.0);
  auto y = RunKernel(Registry(), spec, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0], Values(6, 0.5));
}

TEST(ReduceTest, NaNIsKept) {
  for (std::string kind : {"sum", "max"}) {
    for (int at : {0, 17, 99}) {
      Values x = RandomValues(100, 3);
      x[at] = std::nan("");
      auto row = RunKernel(Registry(), Spec(kind, {100}, {0}, false, 1), {x});
      ASSERT_TRUE(row.ok()) << row.status();
      EXPECT_TRUE(std::isnan((*row)[0][0])) << kind << " " << at;
      auto column = RunKernel(Registry(), Spec(kind, {20, 5}, {0}, false, 1), {x});
      ASSERT_TRUE(column.ok()) << column.status();
      EXPECT_TRUE(std::isnan((*column)[0][at % 5])) << kind << " " << at;
      EXPECT_FALSE(std::isnan((*column)[0][(at + 1) % 5])) << kind << " " << at;
    }
  }
}

void ExpectError(const KernelSpec& spec, const char* message) {
  auto kernel = Registry().Create(spec);
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(std::string(kernel.status().message()), HasSubstr(message));
}

TEST(ReduceTest, RefusesWhatDoesNotFit) {
  ExpectError(Spec("median", {2, 3}, {0}, false, 1), "attribute `kind`: expected sum, mean or max, got median");
  KernelSpec spec = Spec("sum", {2, 3}, {0}, false, 1);
  spec.attributes.Set("dims", Dims{2});
  ExpectError(spec, "attribute `dims`: expected distinct dims from 0 to 1, got [2]");
  spec.attributes.Set("dims", Dims{1, 1});
  ExpectError(spec, "got [1,1]");
  spec.attributes.Set("dims", Dims{1});
  ExpectError(spec, "output 0: expected dims [2], got f32[3]");
  spec.inputs[0].dtype = DType::kBF16;
  spec.outputs[0] = TensorSpec::Whole(DType::kF16, {2});
  ExpectError(spec, "reduce: output 0: expected bf16, got f16[2]");
  spec.inputs[0].dtype = DType::kI32;
  ExpectError(spec, "reduce: input 0: expected f32, bf16 or f16, got i32[2,3]");
}

}  // namespace
}  // namespace weft
