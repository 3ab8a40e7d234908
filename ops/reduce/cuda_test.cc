#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using Dims = std::vector<int64_t>;

const KernelRegistry& Cpu() { return Registered<&RegisterReduceKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterReduceCudaKernels>(); }

struct Case {
  Dims dims, over, result;
};
const Case kCases[] = {
    {{}, {}, {}},
    {{1031}, {0}, {}},
    {{5, 70}, {1}, {5}},
    {{70, 33}, {0}, {33}},
    {{3, 4, 5, 6}, {1, 3}, {3, 5}},
    {{3, 4, 5, 6}, {0, 2}, {4, 6}},
    {{3, 1, 5}, {0, 1, 2}, {}},
    {{4, 5}, {}, {4, 5}},
    {{0, 5}, {0}, {5}},
    {{0, 5}, {1}, {0}},
    {{5, 0}, {0}, {0}},
    {{5, 0}, {1}, {5}},
    {{3, 0, 4}, {1}, {3, 4}},
};

TEST(ReduceCudaTest, AgreesWithItsTwin) {
  for (const Case& it : kCases) {
    for (const char* kind : {"sum", "mean", "max"}) {
      KernelSpec spec{.name = "reduce",
                      .inputs = {TensorSpec::Whole(DType::kF32, it.dims)},
                      .outputs = {TensorSpec::Whole(DType::kF32, it.result)}};
      spec.attributes.Set("kind", std::string(kind));
      spec.attributes.Set("dims", it.over);
      const int64_t n = spec.inputs[0].elements();
      // Sums in double on both sides, in other orders: at most one rounding apart.
      ExpectTwins(Cpu(), Cuda(), spec, {RandomValues(n, 1)}, {.relative = 0x1.0p-23, .absolute = n * 0x1.0p-52});
    }
  }
}

}  // namespace
}  // namespace weft
