// Einsums through cuBLASLt, played by an emulation that does what the
// descriptors say: the numbers of the CPU's kernel, whatever the layout.
#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/cpu_kernels.h"
#include "tests/cuda/device_run.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/kernel_testing.h"

namespace weft::tests {
namespace {

using weft::testing::RandomValues;
using weft::testing::RunKernel;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

// What RunOnDevice() does; `products`: how often the library was called.
absl::StatusOr<std::vector<Values>> RunProducts(EmulatedGpu& gpu, const KernelSpec& spec,
                                                const std::vector<Values>& inputs, int64_t& products) {
  // Creating the kernel tries algorithms; only what comes after counts.
  int64_t tried = 0;
  auto results = RunOnDevice(gpu, spec, inputs, [&] { tried = gpu.cublaslt.products(); });
  products = gpu.cublaslt.products() - tried;
  return results;
}

struct Case {
  const char* equation;
  Dims left, right, result;
  int64_t products;  // calls of the library; 0: our own kernel
};

const Case kCases[] = {
    // A linear layer, forward, and its two gradients.
    {"bsi,io->bso", {2, 5, 17}, {17, 70}, {2, 5, 70}, 1},
    {"bso,io->bsi", {2, 5, 70}, {17, 70}, {2, 5, 17}, 1},
    {"bsi,bso->io", {2, 35, 17}, {2, 35, 66}, {17, 66}, 1},
    // A tied head, and its gradients.
    {"bsh,vh->bsv", {2, 3, 8}, {24, 8}, {2, 3, 24}, 1},
    {"bsv,vh->bsh", {2, 3, 24}, {24, 8}, {2, 3, 8}, 1},
    {"bsh,bsv->vh", {2, 3, 8}, {2, 3, 24}, {24, 8}, 1},
    // Query, key and value; heads joined.
    {"bsi,icnd->bscnd", {2, 5, 8}, {8, 3, 2, 4}, {2, 5, 3, 2, 4}, 1},
    {"bsnd,ndo->bso", {2, 5, 2, 4}, {2, 4, 8}, {2, 5, 8}, 1},
    {"bsnd,bso->ndo", {2, 5, 2, 4}, {2, 5, 8}, {2, 4, 8}, 1},
    // The windows of a convolution by its weights, and the gradients.
    {"bhwijc,oijc->bhwo", {2, 3, 4, 3, 2, 5}, {7, 3, 2, 5}, {2, 3, 4, 7}, 1},
    {"bhwo,oijc->bhwijc", {2, 3, 4, 7}, {7, 3, 2, 5}, {2, 3, 4, 3, 2, 5}, 1},
    {"bhwijc,bhwo->oijc", {2, 3, 4, 3, 2, 5}, {2, 3, 4, 7}, {7, 3, 2, 5}, 1},
    // Batches: one axis, two that merge, two that do not (the longer is the library's).
    {"bhqd,bhkd->bhqk", {2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 5, 7}, 1},
    {"bsnd,btnd->bnst", {2, 5, 3, 8}, {2, 7, 3, 8}, {2, 3, 5, 7}, 2},
    {"bnst,btnd->bsnd", {2, 3, 5, 7}, {2, 7, 3, 8}, {2, 5, 3, 8}, 2},
    {"bnst,bsnd->btnd", {2, 3, 5, 7}, {2, 5, 3, 8}, {2, 7, 3, 8}, 2},
    {"ebi,eio->ebo", {3, 4, 5}, {3, 5, 6}, {3, 4, 6}, 1},
    // Rows that the result keeps apart: a product for each, the other operand again and again.
    {"bsd,cdhe->cbhse", {2, 3, 4}, {3, 4, 2, 5}, {3, 2, 2, 3, 5}, 4},
    // Vectors, numbers, an outer product, a transposed result.
    {"ij,j->i", {6, 9}, {9}, {6}, 1},
    {"i,ij->j", {6}, {6, 9}, {9}, 1},
    {"i,i->", {40}, {40}, {}, 1},
    {"i,j->ij", {3}, {5}, {3, 5}, 1},
    {"ij,jk->ki", {6, 9}, {9, 4}, {4, 6}, 1},
    {"bij,bjk->bki", {2, 6, 9}, {2, 9, 4}, {2, 4, 6}, 1},
    // No neighbours in a row of the result, two inner axes: our own kernel.
    {"bi,bj->ijb", {4, 3}, {4, 5}, {3, 5, 4}, 0},
    {"cbhse,cdhe->bsd", {3, 2, 2, 3, 5}, {3, 4, 2, 5}, {2, 3, 4}, 0},
};

void PrintTo(const Case& it, std::ostream* out) { *out << it.equation; }

class EinsumLibraryTest : public ::testing::TestWithParam<Case> {};

TEST_P(EinsumLibraryTest, AgreesWithTheCpu) {
  const Case& it = GetParam();
  static const auto* cpu = [] {
    auto* registry = new KernelRegistry;
    RegisterCpuKernels(*registry);
    return registry;
  }();
  for (const DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const DType result : {type, DType::kF32}) {
      EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true);
      const auto specOf = [&](DType operands, DType sums) {
        KernelSpec spec{.name = "einsum",
                        .inputs = {TensorSpec::Whole(operands, it.left), TensorSpec::Whole(operands, it.right)},
                        .outputs = {TensorSpec::Whole(sums, it.result)}};
        spec.attributes.Set("equation", std::string(it.equation));
        return spec;
      };
      const KernelSpec spec = specOf(type, result);
      // Exact in all types: eighths below 8.
      std::vector<Values> inputs = {RandomValues(spec.inputs[0].elements(), 1, -8, 8),
                                    RandomValues(spec.inputs[1].elements(), 2, -8, 8)};
      for (Values& values : inputs) {
        for (double& x : values) x = std::round(x * 8) / 8;
      }
      const auto expected = RunKernel(*cpu, specOf(DType::kF32, DType::kF32), inputs);
      ASSERT_TRUE(expected.ok()) << expected.status();
      int64_t products = 0;
      const auto got = RunProducts(gpu, spec, inputs, products);
      ASSERT_TRUE(got.ok()) << got.status();
      const double unit = result == DType::kF32 ? 0 : result == DType::kF16 ? 0x1.0p-11 : 0x1.0p-8;
      for (size_t i = 0; i < (*got)[0].size(); ++i) {
        // Sums of multiples of 1/64 below 2^18 are exact in float32.
        ASSERT_NEAR((*got)[0][i], (*expected)[0][i], unit * std::fabs((*expected)[0][i])) << NameOf(type) << " " << i;
      }
      EXPECT_THAT(gpu.driver.complaints(), ::testing::IsEmpty());
      EXPECT_EQ(products, it.products);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Equations, EinsumLibraryTest, ::testing::ValuesIn(kCases));

struct EpilogueCase {
  const char* epilogue;
  const char* equation;
  Dims left, right, result;
  Dims input, output;  // the third input and the second output, or none
  int64_t products, launches;
};

const EpilogueCase kEpilogues[] = {
    // A GPT-2 layer's, forward and backward, all by the library.
    {"bias", "bsi,icnd->bscnd", {2, 5, 8}, {8, 3, 2, 4}, {2, 5, 3, 2, 4}, {3, 2, 4}, {}, 1, 0},
    {"bias", "bsnd,ndo->bso", {2, 5, 2, 4}, {2, 4, 8}, {2, 5, 8}, {8}, {}, 1, 0},
    {"bias gelu keep", "bsi,io->bso", {2, 5, 8}, {8, 32}, {2, 5, 32}, {32}, {2, 5, 32}, 1, 0},
    {"bias gelu", "bsi,io->bso", {2, 5, 8}, {8, 33}, {2, 5, 33}, {33}, {}, 1, 0},
    {"sum_rhs", "bsi,bscnd->icnd", {2, 5, 8}, {2, 5, 3, 2, 4}, {8, 3, 2, 4}, {}, {3, 2, 4}, 1, 0},
    {"sum_lhs", "bso,bsi->io", {2, 5, 7}, {2, 5, 8}, {8, 7}, {}, {7}, 1, 0},
    // The second of two products that give one gradient; also of a batch.
    {"add", "bso,io->bsi", {2, 5, 33}, {8, 33}, {2, 5, 8}, {2, 5, 8}, {}, 1, 0},
    {"add", "ebi,eio->ebo", {3, 4, 5}, {3, 5, 6}, {3, 4, 6}, {3, 4, 6}, {}, 1, 0},
    // What the library keeps has rows of eights; a bias goes along all columns. The rest follows its product.
    {"bias gelu keep", "bsi,io->bso", {2, 5, 8}, {8, 33}, {2, 5, 33}, {33}, {2, 5, 33}, 1, 1},
    {"bias", "bsi,icd->bscd", {2, 5, 8}, {8, 3, 4}, {2, 5, 3, 4}, {4}, {}, 1, 1},
    {"bias", "ebi,eio->ebo", {3, 4, 5}, {3, 5, 6}, {3, 4, 6}, {6}, {}, 1, 1},
    // No product of the library's.
    {"bias", "cbhse,cdhe->bsd", {3, 2, 2, 3, 5}, {3, 4, 2, 5}, {2, 3, 4}, {4}, {}, 0, 1},
    {"add", "cbhse,cdhe->bsd", {3, 2, 2, 3, 5}, {3, 4, 2, 5}, {2, 3, 4}, {2, 3, 4}, {}, 0, 1},
};

void PrintTo(const EpilogueCase& it, std::ostream* out) { *out << it.epilogue << " of " << it.equation; }

class EpilogueLibraryTest : public ::testing::TestWithParam<EpilogueCase> {};

TEST_P(EpilogueLibraryTest, AgreesWithTheCpu) {
  const EpilogueCase& it = GetParam();
  KernelRegistry cpu;
  RegisterCpuKernels(cpu);
  for (const DType type : {DType::kF32, DType::kBF16}) {
    EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true);
    const auto specOf = [&](DType operands) {
      const auto f32 = [](const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims); };
      KernelSpec spec{.name = "einsum",
                      .inputs = {TensorSpec::Whole(operands, it.left), TensorSpec::Whole(operands, it.right)},
                      .outputs = {f32(it.result)}};
      if (!it.input.empty()) spec.inputs.push_back(f32(it.input));
      if (!it.output.empty()) spec.outputs.push_back(f32(it.output));
      spec.attributes = {{"equation", std::string(it.equation)}, {"epilogue", std::string(it.epilogue)}};
      return spec;
    };
    const KernelSpec spec = specOf(type);
    std::vector<Values> inputs;
    for (const TensorSpec& tensor : spec.inputs) {
      inputs.push_back(RandomValues(tensor.elements(), inputs.size() + 1, -1, 1));
      for (double& x : inputs.back()) x = std::round(x * 64) / 64;
    }
    const auto expected = RunKernel(cpu, specOf(DType::kF32), inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    int64_t products = 0;
    const int64_t launched = gpu.driver.launches();
    const auto got = RunProducts(gpu, spec, inputs, products);
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t o = 0; o < expected->size(); ++o) {
      for (size_t i = 0; i < (*expected)[o].size(); ++i) {
        ASSERT_NEAR((*got)[o][i], (*expected)[o][i], 1e-5) << NameOf(type) << " " << o << " " << i;
      }
    }
    EXPECT_THAT(gpu.driver.complaints(), ::testing::IsEmpty());
    EXPECT_EQ(products, it.products);
    EXPECT_EQ(gpu.driver.launches() - launched, it.launches);
  }
}

// The library adds to what is there, where it does the product; else our own kernel does.
TEST(AccumulateLibraryTest, AddsToTheSum) {
  KernelRegistry cpu;
  RegisterCpuKernels(cpu);
  const struct {
    const char* equation;
    Dims left, right, result;
    int64_t products, launches;
  } cases[] = {{"bsi,bso->io", {2, 35, 17}, {2, 35, 66}, {17, 66}, 1, 0},
               {"bsi,bscnd->icnd", {2, 5, 8}, {2, 5, 3, 2, 4}, {8, 3, 2, 4}, 1, 0},
               {"cbhse,cdhe->bsd", {3, 2, 2, 3, 5}, {3, 4, 2, 5}, {2, 3, 4}, 0, 1}};
  for (const auto& it : cases) {
    for (DType type : {DType::kF32, DType::kBF16}) {
      SCOPED_TRACE(std::string(it.equation) + " " + NameOf(type));
      KernelSpec spec{.name = "einsum",
                      .inputs = {TensorSpec::Whole(DType::kF32, it.left), TensorSpec::Whole(DType::kF32, it.right)},
                      .outputs = {TensorSpec::Whole(DType::kF32, it.result)},
                      .attributes = {{"equation", std::string(it.equation)}}};
      std::vector<Values> inputs;
      for (const auto* list : {&spec.inputs, &spec.outputs}) {
        for (const TensorSpec& tensor : *list) {
          inputs.push_back(RandomValues(tensor.elements(), inputs.size() + 1, -8, 8));
          for (double& x : inputs.back()) x = std::round(x * 8) / 8;  // exact in all types, and so are the sums
        }
      }
      const auto term = RunKernel(cpu, spec, {inputs[0], inputs[1]});
      ASSERT_TRUE(term.ok()) << term.status();
      spec.name = "accumulate_einsum";
      spec.inputs[0].dtype = spec.inputs[1].dtype = type;
      spec.inputs.push_back(spec.outputs[0]);
      for (int64_t micro_batch : {0, 2}) {
        EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true);
        int64_t tried = 0;
        const auto got = RunOnDevice(gpu, spec, inputs, [&] { tried = gpu.cublaslt.products(); },
                                     {.micro_batch = micro_batch}, {{2, 0}});
        ASSERT_TRUE(got.ok()) << got.status();
        for (size_t i = 0; i < (*got)[0].size(); ++i) {
          ASSERT_EQ((*got)[0][i], (*term)[0][i] + (micro_batch == 0 ? 0 : inputs[2][i])) << micro_batch << " " << i;
        }
        EXPECT_EQ(gpu.cublaslt.products() - tried, it.products);
        EXPECT_EQ(gpu.driver.launches(), it.launches);
        EXPECT_THAT(gpu.driver.complaints(), ::testing::IsEmpty());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Epilogues, EpilogueLibraryTest, ::testing::ValuesIn(kEpilogues));

}  // namespace
}  // namespace weft::tests
