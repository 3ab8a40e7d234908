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

const KernelRegistry& Cpu() { return Registered<&RegisterGatherKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterGatherCudaKernels>(); }

// Of a table [2, 3, 40, inner] the rows `begin` and on, by ids [2, positions] along dim 2.
KernelSpec Spec(const std::string& name, DType type, DType id_type, int64_t positions, int64_t inner, int64_t begin,
                int64_t count) {
  const TensorSpec table = Tile(type, {2, 3, count, inner}, {2, 3, 40, inner}, {0, 0, begin, 0});
  const TensorSpec ids = TensorSpec::Whole(id_type, {2, positions});
  const TensorSpec rows = TensorSpec::Whole(type, {2, 3, positions, inner});
  KernelSpec spec{.name = name, .inputs = {table, ids}, .outputs = {rows}};
  if (name == "scatter_add") spec.inputs = {rows, ids}, spec.outputs = {table};
  if (name == "scatter_set") spec.inputs = {table, ids, rows}, spec.outputs = {table};
  spec.attributes = Attributes({{"dim", int64_t{2}}, {"batch", int64_t{1}}, {"size", int64_t{40}}});
  return spec;
}

// Sums in one order in double: the same bits.
TEST(GatherCudaTest, AgreesWithItsTwin) {
  for (const auto& [positions, inner] : {std::pair<int64_t, int64_t>{1, 1}, {31, 5}, {70, 20}}) {
    for (const auto& [begin, count] : {std::pair<int64_t, int64_t>{0, 40}, {10, 20}}) {
      for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64}) {
        const bool is_float = RowOf(type)->is_float;
        const auto draw = [&](const TensorSpec& spec, uint64_t seed) {
          return is_float ? RandomValues(spec.elements(), seed, -1, 1, type)
                          : RandomValues(spec.elements(), seed, -99, 99, DType::kI32);
        };
        for (const char* name : {"take", "take_last", "scatter_add", "scatter_set"}) {
          const bool last = name == std::string("take_last");
          KernelSpec spec =
              Spec(last ? "take" : name, type, inner == 5 ? DType::kI64 : DType::kI32, positions, inner, begin, count);
          if (last) spec.attributes.Set("last", int64_t{1});
          std::vector<Values> inputs;
          for (size_t i = 0; i < spec.inputs.size(); ++i) inputs.push_back(draw(spec.inputs[i], 5 + i));
          inputs[1] = RandomValues(2 * positions, 1, 0, 40, DType::kI32);
          for (size_t i = 0; i < inputs[1].size(); i += 3) inputs[1][i] = 11;  // a frequent one
          ExpectTwins(Cpu(), Cuda(), spec, inputs);
          if (inputs.size() == 3) ExpectTwins(Cpu(), Cuda(), spec, inputs, {}, {}, {{0, 0}});
        }
      }
    }
  }
}

TEST(GatherCudaTest, AnIdOutsideTheTableIsAnAlarm) {
  for (const char* name : {"take", "scatter_add", "scatter_set"}) {
    const KernelSpec spec = Spec(name, DType::kF32, DType::kI32, 3, 1, 0, 40);
    std::vector<Values> inputs;
    for (const TensorSpec& input : spec.inputs) inputs.push_back(RandomValues(input.elements(), 2));
    inputs[1] = {1, 2, 3, 4, 40, 5};
    EXPECT_EQ(RunGpuKernel(Cuda(), spec, inputs).status().message(),
              std::string(name) + ": id of position 4: expected 0 to 39, got 40");
  }
}

}  // namespace
}  // namespace weft
