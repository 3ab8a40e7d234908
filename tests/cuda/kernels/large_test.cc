// Shapes of real models, too large for the emulation: every kind of kernel of GPT-2 in
// every type that it takes, beside the CPU's kernel in float32 on the same numbers. The
// suite `Small` has the same cases with short axes, for the emulation.
#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ops/cpu_kernels.h"
#include "ops/cuda_kernels.h"
#include "tests/cuda/kernels/gpu.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft::tests {
namespace {

using testing::RandomValues;
using testing::Registered;
using testing::RunKernel;
using testing::Values;
using Dims = std::vector<int64_t>;

// kFloat: of the type under test. kSingle: always f32. kId: i32.
enum class Part { kFloat, kSingle, kId };
struct Tensor {
  Dims dims;
  Part part = Part::kFloat;
  double low = -1, high = 1;
};

struct Case {
  std::string name;
  std::vector<Tensor> inputs, outputs;
  Attributes attributes;
  double error;  // absolute, in float32: what sums in another order may do
};

DType TypeOf(Part part, DType type) {
  return part == Part::kFloat ? type : part == Part::kSingle ? DType::kF32 : DType::kI32;
}

KernelSpec SpecOf(const Case& it, DType type) {
  KernelSpec spec{.name = it.name, .attributes = it.attributes, .threads = 8};
  for (const Tensor& t : it.inputs) spec.inputs.push_back(TensorSpec::Whole(TypeOf(t.part, type), t.dims));
  for (const Tensor& t : it.outputs) spec.outputs.push_back(TensorSpec::Whole(TypeOf(t.part, type), t.dims));
  return spec;
}

// A sum of n products of numbers in [-1, 1) in another order: n 2^-24 at most, of sqrt(n) in the mean.
double SumError(int64_t n) { return static_cast<double>(n) * 0x1.0p-22; }

Case Product(const char* equation, Dims left, Dims right, Dims result, int64_t n) {
  return {"einsum", {{left}, {right}}, {{result}}, Attributes({{"equation", std::string(equation)}}), SumError(n)};
}

const std::vector<Case>& Cases() {
  const Tensor rows{{4096, 1600}};
  const Tensor logits{{512, 50304}, Part::kFloat, -5, 5}, per_row{{512}, Part::kSingle, 5, 6};
  const Tensor labels{{512}, Part::kId, 0, 50304}, heads{{2, 1024, 16, 64}}, lse{{2, 16, 1024}, Part::kSingle};
  const Tensor odd_heads{{2, 1024, 16, 100}};  // of a size that is padded
  const Tensor number{{}, Part::kSingle, 0.01, 0.02}, flat{{4194307}};
  static const auto* cases = new std::vector<Case>{
      {"add", {flat, flat}, {flat}, {}, 0},
      {"transpose", {{{64, 517, 16, 8}}}, {{{64, 16, 517, 8}}}, Attributes({{"perm", Dims{0, 2, 1, 3}}}), 0},
      {"reduce",
       {rows},
       {{{1600}, Part::kSingle}},
       Attributes({{"kind", std::string("sum")}, {"dims", Dims{0}}}),
       SumError(4096)},
      {"square_sum", {flat}, {{{}, Part::kSingle}}, {}, 1},
      {"attention", {heads, heads, heads}, {heads, lse}, Attributes({{"causal", int64_t{1}}, {"scale", 0.125}}), 1e-5},
      {"attention_grad",
       {heads, heads, heads, heads, heads, {{2, 16, 1024}, Part::kSingle, 6, 8}},
       {heads, heads, heads},
       Attributes({{"causal", int64_t{1}}, {"scale", 0.125}}),
       1e-5},
      {"attention",
       {odd_heads, odd_heads, odd_heads},
       {odd_heads, lse},
       Attributes({{"causal", int64_t{1}}, {"scale", 0.1}}),
       1e-5},
      {"attention_grad",
       {odd_heads, odd_heads, odd_heads, odd_heads, odd_heads, {{2, 16, 1024}, Part::kSingle, 6, 8}},
       {odd_heads, odd_heads, odd_heads},
       Attributes({{"causal", int64_t{1}}, {"scale", 0.1}}),
       1e-5},
      {"embedding",
       {{{2048}, Part::kId, 0, 50304}, {{50304, 128}}},
       {{{2048, 128}}},
       Attributes({{"vocab", int64_t{50304}}}),
       0},
      {"embedding_grad",
       {{{2048}, Part::kId, 0, 11}, {{2048, 128}}},
       {{{50304, 128}}},
       Attributes({{"vocab", int64_t{50304}}}),
       SumError(512)},
      {"embedding_grad",
       {{{8192}, Part::kId, 0, 50304}, {{8192, 768}}},
       {{{50304, 768}, Part::kSingle}},
       Attributes({{"vocab", int64_t{50304}}}),
       SumError(512)},
      {"sum_exp", {logits, per_row}, {per_row}, {}, 1e-2},
      {"pick", {logits, labels}, {per_row}, {}, 0},
      {"cross_entropy_grad", {number, logits, per_row, {{512}, Part::kSingle, 5000, 6000}, labels}, {logits}, {}, 1e-8},
      Product("bsi,io->bso", {2, 1024, 1600}, {1600, 6400}, {2, 1024, 6400}, 1600),
      Product("bsi,bso->io", {2, 1024, 768}, {2, 1024, 2304}, {768, 2304}, 2048),
      Product("bsh,vh->bsv", {1, 256, 768}, {50304, 768}, {1, 256, 50304}, 768),
      Product("ik,kj->ij", {1031, 517}, {517, 2049}, {1031, 2049}, 517),
  };
  return *cases;
}

// An axis, or a number that labels and ids stay below, of the small suite.
int64_t Shrunk(int64_t extent) { return extent <= 16 ? extent : 16 + extent % 23; }

Case Shrunk(Case it) {
  for (std::vector<Tensor>* tensors : {&it.inputs, &it.outputs}) {
    for (Tensor& t : *tensors) {
      for (int64_t& extent : t.dims) extent = Shrunk(extent);
      if (t.part == Part::kId) t.high = static_cast<double>(Shrunk(static_cast<int64_t>(t.high)));
    }
  }
  if (const auto vocab = it.attributes.Int("vocab"); vocab.ok()) it.attributes.Set("vocab", Shrunk(*vocab));
  return it;
}

std::vector<Case> SmallCases() {
  std::vector<Case> cases;
  for (const Case& it : Cases()) cases.push_back(Shrunk(it));
  return cases;
}

class LargeTest : public ::testing::TestWithParam<std::tuple<Case, DType>> {};

void PrintTo(const Case& it, std::ostream* out) { *out << it.name; }

TEST_P(LargeTest, AgreesWithTheCpu) {
  const auto& [it, type] = GetParam();
  const KernelSpec spec = SpecOf(it, type);
  std::vector<Values> inputs;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const Tensor& t = it.inputs[i];
    inputs.push_back(RandomValues(spec.inputs[i].elements(), i + 1, t.low, t.high, spec.inputs[i].dtype));
  }
  const auto expected = RunKernel(Registered<&RegisterCpuKernels>(), SpecOf(it, DType::kF32), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto got = TestGpu::Get().Run(Registered<&RegisterCudaKernels>(), spec, inputs, {}, {});
  if (type != DType::kF32 && got.status().code() == absl::StatusCode::kInvalidArgument) {
    GTEST_SKIP() << got.status().message();
  }
  ASSERT_TRUE(got.ok()) << got.status();
  for (size_t o = 0; o < spec.outputs.size(); ++o) {
    const DType result = spec.outputs[o].dtype;
    // A result is rounded once; attention also rounds what it multiplies.
    const double unit = result == DType::kF32 ? 0x1.0p-20 : result == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11;
    const double least = result == DType::kF16 ? 0x1.0p-25 : 0;  // half of what is between two of the smallest
    const double rounded =
        least + (it.name.starts_with("attention") && type != DType::kF32 ? (type == DType::kBF16 ? 4e-3 : 5e-4) : 0);
    double worst = 0;
    for (size_t i = 0; i < (*expected)[o].size(); ++i) {
      const double want = (*expected)[o][i], is = (*got)[o][i];
      worst = std::max(worst, std::fabs(is - want) - unit * std::fabs(want));
      ASSERT_LE(std::fabs(is - want), unit * std::fabs(want) + it.error + rounded)
          << it.name << " " << NameOf(type) << " output " << o << " element " << i << ": expected " << want << ", got "
          << is;
    }
    RecordProperty("worst_" + std::to_string(o), std::to_string(worst));
  }
}

std::string TitleOf(const ::testing::TestParamInfo<std::tuple<Case, DType>>& info) {
  return std::get<0>(info.param).name + "_" + NameOf(std::get<1>(info.param)) + "_" + std::to_string(info.index);
}

const auto kTypes = ::testing::Values(DType::kF32, DType::kBF16, DType::kF16);
INSTANTIATE_TEST_SUITE_P(Shapes, LargeTest, ::testing::Combine(::testing::ValuesIn(Cases()), kTypes), TitleOf);
INSTANTIATE_TEST_SUITE_P(Small, LargeTest, ::testing::Combine(::testing::ValuesIn(SmallCases()), kTypes), TitleOf);

}  // namespace
}  // namespace weft::tests
