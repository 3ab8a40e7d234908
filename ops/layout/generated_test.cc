// What is generated of transposes and slices, on the host and on a GPU: the elements, bit by bit.
#include "tests/support/generated.h"

#include <algorithm>
#include <numeric>

#include "gtest/gtest.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using testing::Registered;
using testing::RunGpuKernel;
using testing::RunKernel;
using testing::Values;
using Dims = std::vector<int64_t>;

const DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kF64, DType::kU8};

const KernelRegistry& Generated() { return Registered<&testing::RegisterGeneratedKernels>(); }

int64_t Count(const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims).elements(); }

// Where the element `index` of a tensor of `shape` lies, of which dimension d goes in steps of strides[d].
int64_t PlaceOf(int64_t index, const Dims& shape, const Dims& strides) {
  int64_t place = 0;
  for (size_t d = shape.size(); d-- > 0; index /= shape[d]) place += index % shape[d] * strides[d];
  return place;
}

Dims StridesOf(const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

// Numbers that tell elements apart, as far as the type can hold them.
Values Numbered(int64_t n, DType type) {
  Values values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<double>(1 + i % (SizeOf(type) >= 4 ? n : 127));
  return values;
}

// Element i of the result is element `offset` + the place of i.
void Expect(KernelSpec spec, const Dims& strides, int64_t offset) {
  const Values x = Numbered(spec.inputs[0].elements(), spec.inputs[0].dtype);
  Values want;
  for (int64_t i = 0; i < spec.outputs[0].elements(); ++i) {
    want.push_back(x[offset + PlaceOf(i, spec.outputs[0].dims, strides)]);
  }
  for (int threads : {1, 2}) {
    spec.threads = threads;
    const auto got = RunKernel(Generated(), spec, {x});
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_EQ((*got)[0], want) << spec.inputs[0].ToString();
  }
  const auto gpu = RunGpuKernel(Generated(), spec, {x});
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  ASSERT_EQ((*gpu)[0], want) << spec.inputs[0].ToString() << " on a GPU";
}

KernelSpec Spec(const char* name, DType type, const Dims& input, const Dims& output) {
  return {.name = name, .inputs = {TensorSpec::Whole(type, input)}, .outputs = {TensorSpec::Whole(type, output)}};
}

KernelSpec Transpose(DType type, const Dims& shape, const Dims& perm) {
  Dims result;
  for (int64_t d : perm) result.push_back(shape[d]);
  KernelSpec spec = Spec("transpose", type, shape, result);
  spec.attributes.Set("perm", perm);
  return spec;
}

TEST(LayoutTest, TransposesOfRows) {
  for (DType type : kTypes) {
    for (const Dims& shape : {Dims{3, 7}, Dims{4, 17, 35}, Dims{2, 3, 1, 19}, Dims{2, 3, 5, 16}}) {
      Dims perm(shape.size());
      std::iota(perm.begin(), perm.end(), 0);
      do {
        if (perm.back() != static_cast<int64_t>(perm.size()) - 1) continue;
        Dims strides;
        for (int64_t d : perm) strides.push_back(StridesOf(shape)[d]);
        Expect(Transpose(type, shape, perm), strides, 0);
      } while (std::next_permutation(perm.begin(), perm.end()) && !HasFatalFailure());
    }
  }
}

TEST(LayoutTest, OtherTransposesAreNoRows) {
  EXPECT_EQ(Generated().Create(Transpose(DType::kF32, {33, 70}, {1, 0})).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(LayoutTest, Slices) {
  for (DType type : kTypes) {
    for (const Dims& shape : {Dims{9}, Dims{5, 9}, Dims{9, 50, 60}, Dims{3, 9, 4, 2}, Dims{9, 16}}) {
      for (size_t dim = 0; dim < shape.size(); ++dim) {
        const int64_t extent = shape[dim], size = (extent + 1) / 2;
        for (int64_t offset : {int64_t{0}, extent / 3, extent - size}) {
          Dims part = shape;
          part[dim] = size;
          if (part.back() == 1) continue;  // no rows
          KernelSpec spec = Spec("slice", type, shape, part);
          spec.attributes.Set("dim", static_cast<int64_t>(dim));
          spec.attributes.Set("offset", offset);
          spec.attributes.Set("size", size);
          Expect(spec, StridesOf(shape), offset * StridesOf(shape)[dim]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft
