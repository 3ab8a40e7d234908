#include <algorithm>
#include <cmath>
#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::Tile;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Cpu() { return Registered<&RegisterLayoutKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterLayoutCudaKernels>(); }

// One of each size, and both that are less known.
const DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kF64, DType::kU8};

KernelSpec Spec(const char* name, DType type, const Dims& input, const Dims& output) {
  return {.name = name, .inputs = {TensorSpec::Whole(type, input)}, .outputs = {TensorSpec::Whole(type, output)}};
}

// Numbers that every type holds exactly.
Values Numbers(const TensorSpec& tensor) {
  Values values = RandomValues(tensor.elements(), 1, 1, 120);
  for (double& value : values) value = std::floor(value);
  return values;
}

void ExpectBits(const KernelSpec& spec, const std::vector<std::pair<int, int>>& in_place = {}) {
  std::vector<Values> inputs;
  for (const TensorSpec& input : spec.inputs) inputs.push_back(Numbers(input));
  ExpectTwins(Cpu(), Cuda(), spec, inputs, {}, {}, in_place);
}

TEST(LayoutCudaTest, CopyReshapeAndMaskRank) {
  for (DType type : kTypes) {
    for (const Dims& dims : {Dims{}, Dims{0, 5}, Dims{3, 7}}) {
      const int64_t n = TensorSpec::Whole(type, dims).elements();
      ExpectBits(Spec("reshape", type, dims, {n}));
      KernelSpec spec = Spec("mask_rank", type, dims, dims);
      spec.attributes.Set("axes", Dims{0, 2});
      for (const Dims& coordinates : {Dims{0, 5, 0}, Dims{0, 0, 1}}) {
        spec.coordinates = coordinates;
        for (const char* name : {"copy", "mask_rank"}) {
          spec.name = name;
          ExpectBits(spec);
          ExpectBits(spec, {{0, 0}});
        }
      }
    }
  }
}

TEST(LayoutCudaTest, TransposeAllPermutations) {
  for (DType type : kTypes) {
    for (const Dims& shape : {Dims{}, Dims{5}, Dims{3, 7}, Dims{0, 3}, Dims{3, 0}, Dims{33, 70}, Dims{4, 17, 35},
                              Dims{2, 3, 1, 16}, Dims{2, 3, 2, 4, 3}}) {
      Dims perm(shape.size());
      std::iota(perm.begin(), perm.end(), 0);
      do {
        Dims result;
        for (int64_t d : perm) result.push_back(shape[d]);
        KernelSpec spec = Spec("transpose", type, shape, result);
        spec.attributes.Set("perm", perm);
        ExpectBits(spec);
        // The others are the same with other words.
      } while (std::next_permutation(perm.begin(), perm.end()) && (type == DType::kF32 || shape.size() < 4));
    }
  }
}

TEST(LayoutCudaTest, SlicePadAndConcat) {
  for (DType type : kTypes) {
    for (const Dims& shape : {Dims{9}, Dims{5, 9}, Dims{9, 50, 60}, Dims{3, 9, 4, 2}, Dims{9, 16}, Dims{9, 0}}) {
      for (size_t dim = 0; dim < shape.size(); ++dim) {
        const int64_t extent = shape[dim], offset = extent / 3, size = extent / 2;
        Dims part = shape;
        part[dim] = size;
        KernelSpec slice = Spec("slice", type, shape, part), pad = Spec("pad", type, part, shape);
        slice.attributes.Set("dim", static_cast<int64_t>(dim));
        slice.attributes.Set("offset", offset);
        slice.attributes.Set("size", size);
        ExpectBits(slice);
        pad.attributes.Set("dim", static_cast<int64_t>(dim));
        pad.attributes.Set("before", offset);
        pad.attributes.Set("after", extent - offset - size);
        ExpectBits(pad);
        if (extent != 9) continue;
        KernelSpec concat = Spec("concat", type, shape, shape);
        concat.inputs.clear();
        concat.attributes.Set("dim", static_cast<int64_t>(dim));
        for (int64_t piece : {2, 0, 1, 6}) {
          part[dim] = piece;
          concat.inputs.push_back(TensorSpec::Whole(type, part));
        }
        ExpectBits(concat);
      }
    }
  }
}

void ExpectCopyTile(const TensorSpec& from, const TensorSpec& to) {
  ExpectBits({.name = "copy_tile", .inputs = {from}, .outputs = {to}});
}

TEST(LayoutCudaTest, CopyTile) {
  struct Range {
    int64_t begin, end;  // in halves of the extent
  };
  const Range ranges[] = {{0, 2}, {0, 1}, {1, 2}};
  for (const Dims& global : {Dims{8}, Dims{6, 8}, Dims{4, 2, 6}}) {
    int64_t cases = 1;
    for (size_t d = 0; d < 2 * global.size(); ++d) cases *= 3;
    for (int64_t c = 0; c < cases; ++c) {
      int64_t rest = c;
      TensorSpec tiles[2];
      for (TensorSpec& tile : tiles) {
        tile = Tile(DType::kF32, {}, global, {});
        for (int64_t extent : global) {
          const Range range = ranges[rest % 3];
          rest /= 3;
          tile.origin.push_back(extent * range.begin / 2);
          tile.dims.push_back(extent * range.end / 2 - extent * range.begin / 2);
        }
      }
      ExpectCopyTile(tiles[0], tiles[1]);
    }
  }
  for (DType type : kTypes) {
    ExpectCopyTile(Tile(type, {}, {}, {}), Tile(type, {}, {}, {}));
    ExpectCopyTile(Tile(type, {6}, {10}, {0}), Tile(type, {7}, {10}, {3}));
    ExpectCopyTile(Tile(type, {2}, {10}, {4}), Tile(type, {8}, {10}, {1}));
    ExpectCopyTile(Tile(type, {2}, {10}, {0}), Tile(type, {2}, {10}, {8}));
    ExpectCopyTile(Tile(type, {3, 4}, {5, 7}, {0, 2}), Tile(type, {4, 3}, {5, 7}, {1, 3}));
    ExpectCopyTile(Tile(type, {100, 2000}, {200, 2000}, {100, 0}), Tile(type, {120, 1000}, {200, 2000}, {60, 500}));
  }
}

TEST(LayoutCudaTest, RefusesWhatDoesNotFit) {
  const auto error = [](const KernelSpec& spec) {
    return std::string(testing::RunGpuKernel(Cuda(), spec, {Numbers(spec.inputs[0])}).status().message());
  };
  EXPECT_THAT(error(Spec("reshape", DType::kF32, {2, 3}, {5})), HasSubstr("output 0: expected 6 elements, got f32[5]"));
  KernelSpec spec = Spec("slice", DType::kF32, {2, 6}, {2, 3});
  spec.attributes.Set("dim", int64_t{1});
  spec.attributes.Set("size", int64_t{3});
  spec.attributes.Set("offset", int64_t{4});
  EXPECT_THAT(error(spec), HasSubstr("attribute `offset`: expected 0 to 3, got 4"));
}

}  // namespace
}  // namespace weft
