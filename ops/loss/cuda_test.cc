#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;
using weft::testing::Tile;
using weft::testing::Values;

const KernelRegistry& Cpu() { return Registered<&RegisterLossKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterLossCudaKernels>(); }

// A tile of 3 quarters of a vocabulary, labels all over it, some to ignore.
struct Sample {
  int64_t rows, n;
  TensorSpec logits = Tile(DType::kF32, {rows, n}, {rows, 2 * n}, {0, n / 2});
  TensorSpec row = TensorSpec::Whole(DType::kF32, {rows});
  TensorSpec labels = TensorSpec::Whole(DType::kI32, {rows});
  TensorSpec scalar = TensorSpec::Whole(DType::kF32, {});
  Values x = RandomValues(rows * n, 1, -5, 5), max = Values(rows, 5), sum = RandomValues(rows, 2, 1, 9);
  Values picked = RandomValues(rows, 3, -5, 5);
  Values weight() const {
    Values values = RandomValues(rows, 6, 0.25, 2);
    for (int64_t i = 0; i < rows; i += 3) values[i] = 0;
    return values;
  }
  Values label() const {
    Values values = RandomValues(rows, 4, 0, static_cast<double>(2 * n), DType::kI32);
    for (int64_t i = 0; i < rows; i += 5) values[i] = -100;
    return values;
  }
};

TEST(LossCudaTest, AgreesWithItsTwin) {
  for (int64_t rows : {1, 7, 300}) {
    for (int64_t n : {1, 33, 513}) {
      const Sample s{rows, n};
      ExpectTwins(Cpu(), Cuda(), {.name = "sum_exp", .inputs = {s.logits, s.row}, .outputs = {s.row}}, {s.x, s.max},
                  {.relative = 0x1.0p-20});
      ExpectTwins(Cpu(), Cuda(), {.name = "pick", .inputs = {s.logits, s.labels}, .outputs = {s.row}},
                  {s.x, s.label()});
      ExpectTwins(
          Cpu(), Cuda(),
          {.name = "cross_entropy_loss", .inputs = {s.row, s.row, s.row, s.labels}, .outputs = {s.scalar, s.scalar}},
          {s.max, s.sum, s.picked, s.label()}, {.relative = 0x1.0p-22});
      const Values weights = s.weight();
      ExpectTwins(Cpu(), Cuda(),
                  {.name = "cross_entropy_loss",
                   .inputs = {s.row, s.row, s.row, s.labels, s.row},
                   .outputs = {s.scalar, s.scalar}},
                  {s.max, s.sum, s.picked, s.label(), weights}, {.relative = 0x1.0p-22});
      KernelSpec smoothed = {.name = "cross_entropy_grad",
                             .inputs = {s.scalar, s.logits, s.row, s.row, s.labels, s.row},
                             .outputs = {s.logits}};
      smoothed.attributes.Set("label_smoothing", 0.1);
      ExpectTwins(Cpu(), Cuda(), smoothed, {{0.5}, s.x, s.max, s.sum, s.label(), weights},
                  {.relative = 0x1.0p-19, .absolute = 0x1.0p-21});
      for (const auto& in_place : {std::vector<std::pair<int, int>>{}, {{1, 0}}}) {
        ExpectTwins(Cpu(), Cuda(),
                    {.name = "cross_entropy_grad",
                     .inputs = {s.scalar, s.logits, s.row, s.row, s.labels},
                     .outputs = {s.logits}},
                    {{0.5}, s.x, s.max, s.sum, s.label()}, {.relative = 0x1.0p-19, .absolute = 0x1.0p-22}, {},
                    in_place);
      }
    }
  }
}

TEST(LossCudaTest, ALabelOutsideTheVocabularyIsAnAlarm) {
  const Sample s{2, 4};
  const auto result =
      RunGpuKernel(Cuda(), {.name = "pick", .inputs = {s.logits, s.labels}, .outputs = {s.row}}, {s.x, {-100, 8}});
  EXPECT_EQ(result.status().message(), "pick: label of position 1: expected 0 to 7 or -100 to ignore it, got 8");
}

}  // namespace
}  // namespace weft
