#include <cmath>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Cpu() { return Registered<&RegisterLogicKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterLogicCudaKernels>(); }

struct Operand {
  DType type;
  Dims dims;
};

KernelSpec Spec(const char* name, const std::vector<Operand>& inputs, const Operand& output) {
  KernelSpec spec;
  spec.name = name;
  for (const Operand& it : inputs) spec.inputs.push_back(TensorSpec::Whole(it.type, it.dims));
  spec.outputs.push_back(TensorSpec::Whole(output.type, output.dims));
  return spec;
}

// Small whole numbers, of which many are equal and some are 0.
Values Small(const Dims& dims, uint64_t seed) {
  return RandomValues(TensorSpec::Whole(DType::kF32, dims).elements(), seed, 0, 3, DType::kI32);
}

struct Shapes {
  Dims a, b, y;
};
const Shapes kBroadcasts[] = {
    {{}, {}, {}},
    {{}, {7}, {7}},
    {{2, 3, 257}, {2, 3, 257}, {2, 3, 257}},
    {{30, 4, 33}, {33}, {30, 4, 33}},
    {{4, 1, 6}, {1, 5, 1}, {4, 5, 6}},
    {{2, 1, 3, 1}, {5, 1, 4}, {2, 5, 3, 4}},
};
constexpr DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8};

TEST(LogicCudaTest, ComparisonsAgreeWithTheirTwins) {
  for (const char* name : {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}) {
    for (DType type : kTypes) {
      for (const Shapes& it : kBroadcasts) {
        for (DType to : {DType::kU8, type}) {
          ExpectTwins(Cpu(), Cuda(), Spec(name, {{type, it.a}, {type, it.b}}, {to, it.y}),
                      {Small(it.a, 1), Small(it.b, 2)});
        }
      }
    }
    const double nan = std::nan("");
    const Operand three = {DType::kF32, {3}};
    ExpectTwins(Cpu(), Cuda(), Spec(name, {three, three}, {DType::kU8, {3}}), {{nan, 1, nan}, {1, nan, nan}});
  }
}

TEST(LogicCudaTest, Logical) {
  for (const Shapes& it : kBroadcasts) {
    for (const char* name : {"logical_and", "logical_or"}) {
      ExpectTwins(Cpu(), Cuda(), Spec(name, {{DType::kU8, it.a}, {DType::kU8, it.b}}, {DType::kU8, it.y}),
                  {Small(it.a, 1), Small(it.b, 2)});
    }
    ExpectTwins(Cpu(), Cuda(), Spec("logical_not", {{DType::kU8, it.a}}, {DType::kU8, it.a}), {Small(it.a, 1)});
  }
}

TEST(LogicCudaTest, Select) {
  for (DType type : kTypes) {
    for (const Shapes& it : kBroadcasts) {
      const KernelSpec spec = Spec("select", {{DType::kU8, it.a}, {type, it.y}, {type, it.b}}, {type, it.y});
      const std::vector<Values> inputs = {Small(it.a, 1), Small(it.y, 2), Small(it.b, 3)};
      ExpectTwins(Cpu(), Cuda(), spec, inputs);
      ExpectTwins(Cpu(), Cuda(), spec, inputs, {}, {}, {{1, 0}});
    }
  }
}

TEST(LogicCudaTest, RefusesWhatDoesNotFit) {
  weft::testing::EmulatedGpu gpu;
  auto error = [&](KernelSpec spec) {
    spec.gpu = &gpu;
    return std::string(Cuda().Create(spec).status().message());
  };
  const Operand floats = {DType::kF32, {2}}, bytes = {DType::kU8, {2}}, ids = {DType::kI32, {2}};
  EXPECT_EQ(error(Spec("less", {floats, ids}, bytes)), "less: input 1: expected f32, got i32[2]");
  EXPECT_EQ(error(Spec("less", {floats, floats}, ids)), "less: output 0: expected u8 or f32, got i32[2]");
  EXPECT_EQ(error(Spec("select", {bytes, floats, ids}, floats)), "select: input 2: expected f32, got i32[2]");
}

}  // namespace
}  // namespace weft
