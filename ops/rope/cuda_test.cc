#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;

const KernelRegistry& Cpu() { return Registered<&RegisterRopeKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterRopeCudaKernels>(); }

KernelSpec Spec(const TensorSpec& x, int64_t interleaved, int64_t inverse) {
  KernelSpec spec{.name = "rope", .inputs = {x}, .outputs = {x}};
  spec.attributes.Set("theta", 10000.0);
  spec.attributes.Set("interleaved", interleaved);
  spec.attributes.Set("inverse", inverse);
  return spec;
}

// Angles are reduced in double, then cosine and sine in float: an error of some 2^-23 for numbers below 1.
constexpr weft::testing::Bound kBound = {.absolute = 8 * 0x1.0p-24};

TEST(RopeCudaTest, AgreesWithItsTwin) {
  // The last ones lie far in a long sequence.
  for (const TensorSpec& x :
       {TensorSpec::Whole(DType::kF32, {1, 1, 1, 2}), TensorSpec::Whole(DType::kF32, {2, 5, 3, 6}),
        TensorSpec::Whole(DType::kF32, {1, 3, 2, 512}),
        weft::testing::Tile(DType::kF32, {2, 30, 2, 64}, {2, 1 << 20, 4, 64}, {0, 1000000, 2, 0})}) {
    const auto values = RandomValues(x.elements(), 1);
    for (int64_t interleaved : {0, 1}) {
      ExpectTwins(Cpu(), Cuda(), Spec(x, interleaved, 0), {values}, kBound);
      ExpectTwins(Cpu(), Cuda(), Spec(x, interleaved, 1), {values}, kBound, {}, {{0, 0}});
    }
  }
}

TEST(RopeCudaTest, TakesPositions) {
  KernelSpec spec = Spec(TensorSpec::Whole(DType::kF32, {2, 5, 3, 6}), 0, 0);
  spec.inputs.push_back(TensorSpec::Whole(DType::kI32, {2, 5}));
  ExpectTwins(Cpu(), Cuda(), spec, {RandomValues(2 * 5 * 3 * 6, 1), {0, 1, 2, 0, 1, 0, 0, 7, 100000, 3}}, kBound);
}

TEST(RopeCudaTest, HalvesAreFloatsRounded) {
  for (const auto& [type, unit] : {std::pair{DType::kBF16, 0x1.0p-8}, {DType::kF16, 0x1.0p-11}}) {
    const TensorSpec x = TensorSpec::Whole(type, {2, 5, 3, 6});
    ExpectTwins(Cpu(), Cuda(), Spec(x, 0, 0), {RandomValues(x.elements(), 1, -1, 1, type)},
                {.relative = unit, .absolute = 1e-6});
  }
}

}  // namespace
}  // namespace weft
