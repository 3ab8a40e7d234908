#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;
using weft::testing::RunKernel;

const KernelRegistry& Cpu() { return Registered<&RegisterEmbeddingKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterEmbeddingCudaKernels>(); }

// `count` rows from `begin` on of a vocabulary of 40.
KernelSpec Spec(bool grad, int64_t positions, int64_t width, int64_t begin, int64_t count) {
  const TensorSpec ids = TensorSpec::Whole(DType::kI32, {positions});
  const TensorSpec rows = TensorSpec::Whole(DType::kF32, {positions, width});
  const TensorSpec table = weft::testing::Tile(DType::kF32, {count, width}, {40, width}, {begin, 0});
  KernelSpec spec{.name = grad ? "embedding_grad" : "embedding",
                  .inputs = {ids, grad ? rows : table},
                  .outputs = {grad ? table : rows}};
  spec.attributes.Set("vocab", int64_t{40});
  return spec;
}

TEST(EmbeddingCudaTest, AgreesWithItsTwin) {
  for (int64_t positions : {1, 31, 300}) {
    for (int64_t width : {1, 5, 260}) {
      const auto ids = RandomValues(positions, 1, 0, 40, DType::kI32);
      for (const auto& [begin, count] : {std::pair<int64_t, int64_t>{0, 40}, {10, 20}}) {
        ExpectTwins(Cpu(), Cuda(), Spec(false, positions, width, begin, count), {ids, RandomValues(count * width, 2)});
        ExpectTwins(Cpu(), Cuda(), Spec(true, positions, width, begin, count),
                    {ids, RandomValues(positions * width, 3)});
      }
    }
  }
}

// More positions than are sorted at once, to a number of runs that is no power of 2; half of them of one id.
TEST(EmbeddingCudaTest, ManyPositionsAgreeWithTheTwin) {
  for (int64_t positions : {2047, 2048, 2049, 4096, 6200, 10300}) {
    auto ids = RandomValues(positions, 1, 0, 40, DType::kI32);
    for (size_t i = 0; i < ids.size(); i += 2) ids[i] = 13;
    const auto rows = RandomValues(positions * 6, 3);
    ExpectTwins(Cpu(), Cuda(), Spec(true, positions, 6, 0, 40), {ids, rows});
    ExpectTwins(Cpu(), Cuda(), Spec(true, positions, 6, 10, 20), {ids, rows});
  }
}

TEST(EmbeddingCudaTest, GradientsOfHalvesAreThoseOfFloats) {
  const auto ids = RandomValues(300, 1, 0, 40, DType::kI32);
  const auto rows = RandomValues(300 * 5, 3, -1, 1, DType::kBF16);
  const auto want = RunGpuKernel(Cuda(), Spec(true, 300, 5, 0, 40), {ids, rows});
  for (DType type : {DType::kBF16, DType::kF16}) {
    KernelSpec spec = Spec(true, 300, 5, 0, 40);
    spec.inputs[1].dtype = type;
    const auto got = RunGpuKernel(Cuda(), spec, {ids, rows});
    ASSERT_TRUE(want.ok() && got.ok()) << got.status();
    EXPECT_EQ((*got)[0], (*want)[0]) << NameOf(type);
  }
}

// Rows whose positions are in one chunk of keys, and in several.
TEST(EmbeddingCudaTest, AddsToATableAsItsTwinDoes) {
  for (int64_t positions : {31, 300, 2049}) {
    auto ids = RandomValues(positions, 1, 0, 40, DType::kI32);
    for (size_t i = 0; i < ids.size(); i += 2) ids[i] = 13;
    KernelSpec adds = Spec(true, positions, 6, 10, 20);
    adds.inputs.push_back(adds.outputs[0]);
    const std::vector<weft::testing::Values> inputs = {ids, RandomValues(positions * 6, 3), RandomValues(20 * 6, 4)};
    KernelSpec sums = adds;
    adds.attributes.Set("epilogue", std::string("add"));
    sums.name = "accumulate_embedding_grad";
    ExpectTwins(Cpu(), Cuda(), adds, inputs);
    const auto want = RunKernel(Cpu(), adds, inputs),
               new_sum = RunKernel(Cpu(), Spec(true, positions, 6, 10, 20), {inputs[0], inputs[1]});
    for (int64_t micro_batch : {0, 1}) {
      const auto got = RunGpuKernel(Cuda(), sums, inputs, {.micro_batch = micro_batch}, {{2, 0}});
      ASSERT_TRUE(got.ok() && want.ok() && new_sum.ok()) << got.status() << want.status();
      EXPECT_EQ((*got)[0], micro_batch == 0 ? (*new_sum)[0] : (*want)[0]) << positions;
    }
  }
}

TEST(EmbeddingCudaTest, AnIdOutsideTheVocabularyIsAnAlarm) {
  const auto table = RandomValues(40 * 3, 2);
  const auto result = RunGpuKernel(Cuda(), Spec(false, 3, 3, 0, 40), {{1, 2, 40}, table});
  EXPECT_EQ(result.status().message(), "embedding: id of position 2: expected 0 to 39, got 40");
  EXPECT_EQ(RunGpuKernel(Cuda(), Spec(true, 1, 3, 0, 40), {{-1}, {1, 2, 3}}).status().message(),
            "embedding_grad: id of position 0: expected 0 to 39, got -1");
}

}  // namespace
}  // namespace weft
