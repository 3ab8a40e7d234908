#include <cmath>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::Bound;
using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

// Scalars, odd sizes, several blocks.
const Dims kShapes[] = {{}, {1}, {7}, {3, 5}, {2, 3, 257}, {4, 1031}};

const KernelRegistry& Cpu() { return Registered<&RegisterElementwiseKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterElementwiseCudaKernels>(); }

KernelSpec Spec(const char* name, const std::vector<Dims>& inputs, const Dims& output, DType type = DType::kF32) {
  KernelSpec spec;
  spec.name = name;
  for (const Dims& dims : inputs) spec.inputs.push_back(TensorSpec::Whole(type, dims));
  spec.outputs.push_back(TensorSpec::Whole(type, output));
  return spec;
}

int64_t Count(const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims).elements(); }

// CUDA's mathematics and ours are each within some units of 2^-23.
constexpr Bound kMath{.relative = 8 * 0x1.0p-23};

TEST(ElementwiseCudaTest, UnaryAgreesWithItsTwin) {
  for (const char* name : {"neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "square", "abs", "sign"}) {
    for (const Dims& dims : kShapes) {
      const Values x = RandomValues(Count(dims), 1, 0.01, 9);
      ExpectTwins(Cpu(), Cuda(), Spec(name, {dims}, dims), {x}, kMath);
      ExpectTwins(Cpu(), Cuda(), Spec(name, {dims}, dims), {x}, kMath, {}, {{0, 0}});
    }
  }
}

// Close to zeros the error is one of the angle: 2 units of 2^-23 of 1 or so.
TEST(ElementwiseCudaTest, SinAndCos) {
  for (const char* name : {"sin", "cos"}) {
    for (const Dims& dims : kShapes) {
      ExpectTwins(Cpu(), Cuda(), Spec(name, {dims}, dims), {RandomValues(Count(dims), 1, -1e5, 1e5)}, kMath);
      ExpectTwins(Cpu(), Cuda(), Spec(name, {dims}, dims), {RandomValues(Count(dims), 1, -1e7, 1e7)}, kMath);
    }
  }
}

TEST(ElementwiseCudaTest, WithNumbers) {
  for (const Dims& dims : kShapes) {
    KernelSpec spec = Spec("", {dims}, dims);
    spec.attributes = Attributes({{"factor", 0.3}, {"addend", 0.3}, {"min", -0.5}, {"max", 0.25}});
    for (const char* name : {"scale", "add_scalar", "clamp"}) {
      spec.name = name;
      ExpectTwins(Cpu(), Cuda(), spec, {RandomValues(Count(dims), 5)});
    }
  }
}

TEST(ElementwiseCudaTest, Power) {
  for (double exponent : {0.0, 2.0, -3.0, 0.5, 1.7}) {
    KernelSpec spec = Spec("power", {{1031}}, {1031});
    spec.attributes.Set("exponent", exponent);
    ExpectTwins(Cpu(), Cuda(), spec, {RandomValues(1031, 5, 0.1, 4)}, kMath);
    if (exponent == std::floor(exponent)) ExpectTwins(Cpu(), Cuda(), spec, {RandomValues(1031, 5, -4, -0.1)}, kMath);
  }
}

struct Shapes {
  Dims a, b, y;
};
const Shapes kBroadcasts[] = {
    {{}, {}, {}},
    {{7}, {}, {7}},
    {{}, {7}, {7}},
    {{2, 3, 5}, {2, 3, 5}, {2, 3, 5}},
    {{30, 4, 32}, {32}, {30, 4, 32}},
    {{30, 4, 33}, {33}, {30, 4, 33}},
    {{33}, {30, 4, 33}, {30, 4, 33}},
    {{4, 5, 8}, {4, 5, 1}, {4, 5, 8}},
    {{4, 1, 6}, {1, 5, 1}, {4, 5, 6}},
    {{5, 1}, {1, 9}, {5, 9}},
    {{2, 1, 3, 1}, {5, 1, 4}, {2, 5, 3, 4}},
};

TEST(ElementwiseCudaTest, BinaryBroadcasts) {
  for (const char* name : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
    for (const Shapes& it : kBroadcasts) {
      Values a = RandomValues(Count(it.a), 2), b = RandomValues(Count(it.b), 3);
      for (size_t i = 0; i < std::min(a.size(), b.size()); i += 3) a[i] = b[i];
      ExpectTwins(Cpu(), Cuda(), Spec(name, {it.a, it.b}, it.y), {a, b});
    }
  }
}

// Products of i32 wrap around.
TEST(ElementwiseCudaTest, Integers) {
  for (const char* name : {"add", "sub", "mul", "maximum", "minimum"}) {
    for (DType type : {DType::kI32, DType::kI64}) {
      for (const Shapes& it : kBroadcasts) {
        const Values a = RandomValues(Count(it.a), 2, -99999, 99999, DType::kI32);
        const Values b = RandomValues(Count(it.b), 3, -99999, 99999, DType::kI32);
        ExpectTwins(Cpu(), Cuda(), Spec(name, {it.a, it.b}, it.y, type), {a, b});
      }
    }
  }
}

TEST(ElementwiseCudaTest, BinaryInPlaceOfEitherOperand) {
  const Values a = RandomValues(4001, 2), b = RandomValues(4001, 3);
  ExpectTwins(Cpu(), Cuda(), Spec("sub", {{4001}, {4001}}, {4001}), {a, b}, {}, {}, {{0, 0}});
  ExpectTwins(Cpu(), Cuda(), Spec("sub", {{4001}, {4001}}, {4001}), {a, b}, {}, {}, {{1, 0}});
}

TEST(ElementwiseCudaTest, AddNSumsInOrder) {
  for (int count : {1, 2, 5, 64}) {  // the most that weft.add_n has
    std::vector<Values> x;
    for (int k = 0; k < count; ++k) x.push_back(RandomValues(1031, 10 + k));
    ExpectTwins(Cpu(), Cuda(), Spec("add_n", std::vector<Dims>(count, {1031}), {1031}), x);
    ExpectTwins(Cpu(), Cuda(), Spec("add_n", std::vector<Dims>(count, {1031}), {1031}), x, {}, {}, {{count - 1, 0}});
  }
}

TEST(ElementwiseCudaTest, CastRounds) {
  for (DType from : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (DType to : {DType::kF32, DType::kBF16, DType::kF16}) {
      for (int64_t n : {1, 8, 1031}) {
        KernelSpec spec = Spec("cast", {{n}}, {n});
        spec.inputs[0].dtype = from;
        spec.outputs[0].dtype = to;
        ExpectTwins(Cpu(), Cuda(), spec, {RandomValues(n, 6, -100, 100, from)});
      }
    }
  }
}

TEST(ElementwiseCudaTest, CastsIntegers) {
  const DType types[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8};
  Values x = RandomValues(1031, 6, 0, 250, DType::kI32);
  for (DType from : types) {
    for (DType to : types) {
      KernelSpec spec = Spec("cast", {{1031}}, {1031}, from);
      spec.outputs[0].dtype = to;
      ExpectTwins(Cpu(), Cuda(), spec, {x});
    }
  }
  // What no integer type holds.
  const Values odd = {2.9, -2.9, std::nan(""), INFINITY, -INFINITY, 3e9, -3e9, 300, 1e30, -1e30};
  for (DType to : {DType::kI32, DType::kI64, DType::kU8}) {
    KernelSpec spec = Spec("cast", {{10}}, {10});
    spec.outputs[0].dtype = to;
    ExpectTwins(Cpu(), Cuda(), spec, {odd});
  }
}

// What the CPU has no twin of: the same as f32, rounded.
TEST(ElementwiseCudaTest, HalvesAreFloatsRounded) {
  for (DType type : {DType::kBF16, DType::kF16}) {
    for (const char* name : {"exp", "add"}) {
      const int64_t n = 1031;
      const bool binary = std::string(name) == "add";
      std::vector<Values> in = {RandomValues(n, 1, -1, 1, DType::kBF16)};
      if (binary) in.push_back(RandomValues(n, 2, -1, 1, DType::kBF16));
      const std::vector<Dims> dims(in.size(), {n});
      const auto wide = RunGpuKernel(Cuda(), Spec(name, dims, {n}), in);
      const auto half = RunGpuKernel(Cuda(), Spec(name, dims, {n}, type), in);
      ASSERT_TRUE(wide.ok() && half.ok()) << half.status();
      const double unit = type == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11;
      for (int64_t i = 0; i < n; ++i) {
        // f16 has subnormal numbers below 2^-14.
        ASSERT_NEAR((*half)[0][i], (*wide)[0][i], unit * std::fabs((*wide)[0][i]) + 0x1.0p-25) << name;
      }
    }
  }
}

TEST(ElementwiseCudaTest, BroadcastTo) {
  const std::pair<Dims, Dims> cases[] = {{{}, {}}, {{}, {5}}, {{3, 1, 7}, {3, 4, 7}}, {{3, 1, 7, 1}, {2, 3, 30, 7, 5}}};
  for (DType type : {DType::kF32, DType::kBF16, DType::kU8, DType::kI64}) {
    for (const auto& [from, to] : cases) {
      ExpectTwins(Cpu(), Cuda(), Spec("broadcast_to", {from}, to, type),
                  {RandomValues(Count(from), 8, 0, 99, RowOf(type)->is_float ? type : DType::kI32)});
    }
  }
}

TEST(ElementwiseCudaTest, RefusesWhatDoesNotFit) {
  weft::testing::EmulatedGpu gpu;
  auto error = [&](KernelSpec spec) {
    spec.gpu = &gpu;
    return std::string(Cuda().Create(spec).status().message());
  };
  EXPECT_EQ(error(Spec("add", {{2, 3}, {2}}, {2, 3})),
            "add: input 1: expected a shape that broadcasts to f32[2,3], got f32[2]");
  EXPECT_EQ(error(Spec("exp", {{2}}, {2}, DType::kI32)), "exp: expected f32, bf16 or f16, got i32[2]");
  EXPECT_EQ(error(Spec("div", {{2}, {2}}, {2}, DType::kI32)), "div: expected f32, bf16 or f16, got i32[2]");
  EXPECT_EQ(error(Spec("cast", {{2}}, {2}, DType::kF64)), "cast: expected f32, bf16, f16, i32, i64 or u8, got f64[2]");
  EXPECT_EQ(error(Spec("scale", {{2}}, {2})), "scale: attribute `factor`: expected a float, got none");
}

}  // namespace
}  // namespace weft
