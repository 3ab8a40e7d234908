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

const KernelRegistry& Cpu() { return Registered<&RegisterBatchNormKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterBatchNormCudaKernels>(); }

struct Case {
  Dims dims, over, kept;
};
const Case kCases[] = {
    {{37, 70}, {0}, {70}},                 // a batch of vectors, columns that are no multiple of a block's
    {{1031, 3}, {0}, {3}},                 // more of a batch than a block has threads
    {{5, 7, 3, 11}, {0, 2, 3}, {7}},       // images, channels first
    {{3, 4, 5, 33}, {0, 1, 2}, {33}},      // channels last
    {{3, 5, 6}, {1}, {3, 6}},              // parts of a batch
    {{2, 3, 4, 5, 6}, {1, 3}, {2, 4, 6}},  // dims apart
    {{4, 1}, {0}, {1}},
};

struct Calls {
  explicit Calls(const Case& it)
      : x(TensorSpec::Whole(DType::kF32, it.dims)),
        k(TensorSpec::Whole(DType::kF32, it.kept)),
        c(TensorSpec::Whole(DType::kF32, {it.kept.back()})),
        over(it.over) {}

  KernelSpec Spec(const char* name, std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs) const {
    KernelSpec spec{.name = name, .inputs = std::move(inputs), .outputs = std::move(outputs)};
    spec.attributes.Set("dims", over);
    spec.attributes.Set("eps", 1e-5);
    return spec;
  }
  Values X(uint64_t seed) const { return RandomValues(x.elements(), seed, -2, 5); }
  Values K(uint64_t seed, double low, double high) const { return RandomValues(k.elements(), seed, low, high); }
  Values C(uint64_t seed) const { return RandomValues(c.elements(), seed); }

  TensorSpec x, k, c;
  Dims over;
};

TEST(BatchNormCudaTest, AgreesWithItsTwin) {
  for (const Case& it : kCases) {
    const Calls calls(it);
    const auto &x = calls.x, &k = calls.k, &c = calls.c;
    const auto n = static_cast<double>(x.elements());
    // Sums in double, of floats that are the same but for one rounding each.
    ExpectTwins(Cpu(), Cuda(), calls.Spec("batch_variance", {x, k}, {k}), {calls.X(1), calls.K(2, 1, 2)},
                {.relative = 0x1.0p-22, .absolute = 0});
    ExpectTwins(Cpu(), Cuda(), calls.Spec("batch_norm_sums", {x, x, k, k}, {k, k}),
                {calls.X(1), calls.X(2), calls.K(3, 1, 2), calls.K(4, 0.5, 2)},
                {.relative = 0x1.0p-22, .absolute = n * 50 * 0x1.0p-22});
    // Some roundings of numbers up to 8.
    const testing::Bound bound = {.relative = 0, .absolute = 64 * 0x1.0p-22};
    ExpectTwins(Cpu(), Cuda(), calls.Spec("batch_norm_apply", {x, k, k, c, c}, {x}),
                {calls.X(1), calls.K(2, 1, 2), calls.K(3, 0.5, 2), calls.C(4), calls.C(5)}, bound);
    ExpectTwins(Cpu(), Cuda(), calls.Spec("batch_norm_grad", {x, x, k, k, c, k, k}, {x}),
                {calls.X(1), calls.X(2), calls.K(3, 1, 2), calls.K(4, 0.5, 2), calls.C(5), calls.K(6, -3, 3),
                 calls.K(7, -3, 3)},
                bound, {}, {{0, 0}});
  }
}

}  // namespace
}  // namespace weft
