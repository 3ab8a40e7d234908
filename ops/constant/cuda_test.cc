#include <bit>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::Registered;

const KernelRegistry& Cpu() { return Registered<&RegisterConstantKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterConstantCudaKernels>(); }

// Whole tensors, and tiles cut in several dims; the largest constant takes two launches.
TEST(ConstantCudaTest, AgreesWithItsTwin) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8}) {
    for (const TensorSpec& tile : {TensorSpec::Whole(type, {1}), TensorSpec::Whole(type, {5, 7, 31}),
                                   weft::testing::Tile(type, {3, 7, 10}, {6, 7, 31}, {2, 0, 21})}) {
      KernelSpec spec{.outputs = {tile}};
      int64_t elements = 1;
      for (int64_t extent : tile.global_dims) elements *= extent;
      std::vector<int64_t> values(static_cast<size_t>(elements));
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int64_t>(i % 251);
        if (RowOf(type)->is_float) values[i] = std::bit_cast<int64_t>(0.5 * static_cast<double>(i % 251));
      }
      spec.attributes = Attributes({{"value", int64_t{3}}, {"values", values}});
      for (const char* name : {"fill", "constant"}) {
        spec.name = name;
        ExpectTwins(Cpu(), Cuda(), spec, {});
      }
      if (type != DType::kI32 && type != DType::kI64 && type != DType::kF32) continue;
      spec.name = "iota";
      for (int64_t dim = 0; dim < tile.rank(); ++dim) {
        spec.attributes.Set("dim", dim);
        ExpectTwins(Cpu(), Cuda(), spec, {});
      }
    }
  }
}

}  // namespace
}  // namespace weft
