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

const KernelRegistry& Cpu() { return Registered<&RegisterScanKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterScanCudaKernels>(); }

// The same order of sums in double: the same bits.
TEST(ScanCudaTest, AgreesWithItsTwin) {
  const std::pair<Dims, int64_t> shapes[] = {{{1}, 0}, {{257}, 0}, {{3, 40}, 1}, {{7, 5, 130}, 1}, {{2, 30, 65}, 2}};
  for (const auto& [dims, dim] : shapes) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64}) {
      for (int flags = 0; flags < 4; ++flags) {
        KernelSpec spec;
        spec.name = "cumsum";
        spec.inputs = spec.outputs = {TensorSpec::Whole(type, dims)};
        spec.attributes.Set("dim", dim);
        if (flags & 1) spec.attributes.Set("exclusive", int64_t{1});
        if (flags & 2) spec.attributes.Set("reverse", int64_t{1});
        const bool is_float = RowOf(type)->is_float;
        const Values x = RandomValues(spec.inputs[0].elements(), 3, is_float ? -1 : -99, is_float ? 1 : 99,
                                      is_float ? type : DType::kI32);
        ExpectTwins(Cpu(), Cuda(), spec, {x});
        ExpectTwins(Cpu(), Cuda(), spec, {x}, {}, {}, {{0, 0}});
      }
    }
  }
}

}  // namespace
}  // namespace weft
