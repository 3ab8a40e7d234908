#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using Dims = std::vector<int64_t>;

const KernelRegistry& Cpu() { return Registered<&RegisterSortKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterSortCudaKernels>(); }

TEST(SortCudaTest, AgreesWithItsTwin) {
  const std::pair<Dims, int64_t> shapes[] = {{{1}, 0}, {{70}, 0}, {{3, 40}, 1}, {{7, 5, 30}, 1}};
  for (const auto& [dims, dim] : shapes) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32}) {
      for (const char* name : {"sort", "descending", "top_k"}) {
        const int64_t kept = name == std::string("top_k") ? (dims[dim] + 1) / 2 : dims[dim];
        KernelSpec spec;
        spec.name = name == std::string("descending") ? "sort" : name;
        spec.attributes = Attributes({{"dim", dim}, {"k", kept}});
        if (spec.name != name) spec.attributes.Set("descending", int64_t{1});
        Dims out = dims;
        out[dim] = kept;
        spec.inputs = {TensorSpec::Whole(type, dims)};
        spec.outputs = {TensorSpec::Whole(type, out), TensorSpec::Whole(DType::kI32, out)};
        // Ties, negative zeros among them.
        auto x = RandomValues(spec.inputs[0].elements(), 3, -4, 4, DType::kI32);
        for (size_t i = 0; i < x.size(); i += 5) x[i] = -0.0;
        ExpectTwins(Cpu(), Cuda(), spec, {x});
      }
    }
  }
}

}  // namespace
}  // namespace weft
