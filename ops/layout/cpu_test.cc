#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using weft::testing::RandomValues;
using weft::testing::RunKernel;
using weft::testing::SliceOf;
using weft::testing::Tile;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kF64, DType::kU8};

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterLayoutKernels(*made);
    return made;
  }();
  return *registry;
}

KernelSpec Spec(const char* name, DType type, const Dims& input, const Dims& output, int threads = 1) {
  KernelSpec spec;
  spec.name = name;
  spec.threads = threads;
  spec.inputs = {TensorSpec::Whole(type, input)};
  spec.outputs = {TensorSpec::Whole(type, output)};
  return spec;
}

// Numbers that tell elements apart, as far as the type can hold them.
Values Numbered(int64_t n, DType type) {
  Values values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<double>(1 + i % (SizeOf(type) >= 4 ? n : 127));
  return values;
}

int64_t Count(const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims).elements(); }

void ExpectError(const KernelSpec& spec, const char* message) {
  auto kernel = Registry().Create(spec);
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(std::string(kernel.status().message()), HasSubstr(message));
}

TEST(LayoutTest, CopyAndReshapeKeepTheOrder) {
  for (DType type : kTypes) {
    for (int threads : {1, 2}) {
      const Values x = Numbered(2 * 3 * 10007, type);
      for (const Dims& dims : {Dims{2, 3, 10007}, Dims{6, 10007}, Dims{60042}}) {
        EXPECT_EQ(x, RunKernel(Registry(), Spec("reshape", type, {2, 3, 10007}, dims, threads), {x})->at(0));
      }
      EXPECT_EQ(x, RunKernel(Registry(), Spec("copy", type, {60042}, {60042}, threads), {x})->at(0));
      EXPECT_EQ(x, RunKernel(Registry(), Spec("copy", type, {60042}, {60042}, threads), {x}, {}, {{0, 0}})->at(0));
    }
    EXPECT_EQ(Values{5}, RunKernel(Registry(), Spec("reshape", type, {}, {1, 1}), {{5}})->at(0));
  }
  ExpectError(Spec("reshape", DType::kF32, {2, 3}, {5}), "output 0: expected 6 elements, got f32[5]");
  ExpectError(Spec("copy", DType::kF32, {2, 3}, {3, 2}), "output 0: expected leading dims [2,3], got f32[3,2]");
  KernelSpec spec = Spec("copy", DType::kF32, {2}, {2});
  spec.outputs[0].dtype = DType::kI32;
  ExpectError(spec, "output 0: expected f32, got i32[2]");
}

void CheckTranspose(DType type, const Dims& shape, const Dims& perm, int threads) {
  Dims result;
  for (int64_t d : perm) result.push_back(shape[d]);
  KernelSpec spec = Spec("transpose", type, shape, result, threads);
  spec.attributes.Set("perm", perm);
  const Values x = Numbered(Count(shape), type);
  auto y = RunKernel(Registry(), spec, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t i = 0; i < Count(result); ++i) {
    int64_t rest = i, from = 0;
    for (size_t d = perm.size(); d-- > 0;) {
      int64_t stride = 1;
      for (size_t k = static_cast<size_t>(perm[d]) + 1; k < shape.size(); ++k) stride *= shape[k];
      from += rest % result[d] * stride;
      rest /= result[d];
    }
    ASSERT_EQ((*y)[0][i], x[from]) << spec.inputs[0].ToString() << " element " << i;
  }
}

TEST(LayoutTest, TransposeAllPermutations) {
  for (DType type : kTypes) {
    for (int threads : {1, 2}) {
      for (const Dims& shape :
           {Dims{}, Dims{5}, Dims{3, 7}, Dims{0, 3}, Dims{3, 0}, Dims{33, 70}, Dims{4, 17, 35}, Dims{2, 3, 1, 19}}) {
        Dims perm(shape.size());
        std::iota(perm.begin(), perm.end(), 0);
        do {
          CheckTranspose(type, shape, perm, threads);
        } while (std::next_permutation(perm.begin(), perm.end()));
      }
      CheckTranspose(type, {5, 16, 12, 33}, {0, 2, 1, 3}, threads);
      CheckTranspose(type, {200, 301}, {1, 0}, threads);
    }
  }
  KernelSpec spec = Spec("transpose", DType::kF32, {2, 3}, {3, 2});
  spec.attributes.Set("perm", Dims{1, 1});
  ExpectError(spec, "attribute `perm`: expected a permutation of 2 dims, got [1,1]");
  spec.attributes.Set("perm", Dims{0, 1});
  ExpectError(spec, "output 0: expected dims [2,3], got f32[3,2]");
}

TEST(LayoutTest, SliceAndPadAreInverse) {
  for (DType type : kTypes) {
    for (int threads : {1, 2}) {
      for (const Dims& shape : {Dims{9}, Dims{5, 6}, Dims{40, 50, 60}, Dims{3, 1, 4, 2}}) {
        for (size_t dim = 0; dim < shape.size(); ++dim) {
          const Values x = Numbered(Count(shape), type);
          const int64_t offset = shape[dim] / 3, size = std::max<int64_t>(1, shape[dim] / 2);
          Dims part = shape, origin(shape.size(), 0);
          part[dim] = size;
          origin[dim] = offset;
          KernelSpec slice = Spec("slice", type, shape, part, threads);
          slice.attributes.Set("dim", static_cast<int64_t>(dim));
          slice.attributes.Set("offset", offset);
          slice.attributes.Set("size", size);
          auto sliced = RunKernel(Registry(), slice, {x});
          ASSERT_TRUE(sliced.ok()) << sliced.status();
          EXPECT_EQ((*sliced)[0], SliceOf(x, Tile(type, part, shape, origin)));

          KernelSpec pad = Spec("pad", type, part, shape, threads);
          pad.attributes.Set("dim", static_cast<int64_t>(dim));
          pad.attributes.Set("before", offset);
          pad.attributes.Set("after", shape[dim] - offset - size);
          auto padded = RunKernel(Registry(), pad, {(*sliced)[0]});
          ASSERT_TRUE(padded.ok()) << padded.status();
          EXPECT_EQ(SliceOf((*padded)[0], Tile(type, part, shape, origin)), (*sliced)[0]);
          EXPECT_EQ(std::accumulate((*padded)[0].begin(), (*padded)[0].end(), 0.0),
                    std::accumulate((*sliced)[0].begin(), (*sliced)[0].end(), 0.0));
        }
      }
    }
  }
}

TEST(LayoutTest, SliceAndPadRefuseWhatDoesNotFit) {
  KernelSpec spec = Spec("slice", DType::kF32, {2, 6}, {2, 3});
  spec.attributes.Set("dim", int64_t{1});
  spec.attributes.Set("size", int64_t{3});
  spec.attributes.Set("offset", int64_t{4});
  ExpectError(spec, "attribute `offset`: expected 0 to 3, got 4");
  spec.attributes.Set("dim", int64_t{2});
  ExpectError(spec, "attribute `dim`: expected 0 to 1, got 2");
  spec = Spec("pad", DType::kF32, {2, 3}, {2, 6});
  spec.attributes.Set("dim", int64_t{1});
  spec.attributes.Set("before", int64_t{1});
  spec.attributes.Set("after", int64_t{1});
  ExpectError(spec, "output 0: expected dims [2,5], got f32[2,6]");
  spec.attributes.Set("after", int64_t{-1});
  ExpectError(spec, "expected 0 or more, got 1 and -1");
}

TEST(LayoutTest, Concat) {
  for (DType type : kTypes) {
    for (int threads : {1, 2}) {
      for (const Dims& shape : {Dims{9}, Dims{5, 9}, Dims{9, 50, 600}, Dims{3, 9, 4, 2}}) {
        const auto dim = static_cast<size_t>(std::find(shape.begin(), shape.end(), 9) - shape.begin());
        const Values whole = Numbered(Count(shape), type);
        KernelSpec spec = Spec("concat", type, shape, shape, threads);
        spec.inputs.clear();
        spec.attributes.Set("dim", static_cast<int64_t>(dim));
        std::vector<Values> parts;
        Dims origin(shape.size(), 0);
        for (int64_t size : {2, 1, 6}) {
          Dims part = shape;
          part[dim] = size;
          spec.inputs.push_back(TensorSpec::Whole(type, part));
          parts.push_back(SliceOf(whole, Tile(type, part, shape, origin)));
          origin[dim] += size;
        }
        auto y = RunKernel(Registry(), spec, parts);
        ASSERT_TRUE(y.ok()) << y.status();
        EXPECT_EQ((*y)[0], whole);
        spec.inputs.pop_back();
        ExpectError(spec, "to be 3, got ");
      }
    }
  }
}

// The element of `global` coordinates in every tile that covers it, else 0.
void CheckCopyTile(DType type, const Dims& global, const TensorSpec& from, const TensorSpec& to, int threads) {
  const Values whole = Numbered(Count(global), type);
  Values masked(whole.size(), 0);  // `whole` where `from` covers it
  for (size_t i = 0; i < whole.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i);
    bool covered = true;
    for (size_t d = global.size(); d-- > 0;) {
      const int64_t at = rest % global[d] - from.origin[d];
      covered = covered && at >= 0 && at < from.dims[d];
      rest /= global[d];
    }
    if (covered) masked[i] = whole[i];
  }
  KernelSpec spec = Spec("copy_tile", type, {}, {}, threads);
  spec.inputs = {from};
  spec.outputs = {to};
  auto y = RunKernel(Registry(), spec, {SliceOf(whole, from)});
  ASSERT_TRUE(y.ok()) << y.status();
  ASSERT_EQ((*y)[0], SliceOf(masked, to)) << from.ToString() << " to " << to.ToString();
}

TEST(LayoutTest, CopyTileSlicesPadsAndShifts) {
  for (const Dims& global : {Dims{8}, Dims{6, 8}, Dims{4, 3, 8}, Dims{2, 4, 3, 4}}) {
    // Every pair of these ranges, dim by dim taken from a different place.
    struct Range {
      int64_t begin, end;  // in halves of the extent
    };
    const Range ranges[] = {{0, 2}, {0, 1}, {1, 2}};
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
      CheckCopyTile(DType::kF32, global, tiles[0], tiles[1], 1);
    }
  }
}

TEST(LayoutTest, CopyTileOfPartialOverlapsAndLargeTiles) {
  for (DType type : kTypes) {
    for (int threads : {1, 2}) {
      CheckCopyTile(type, {}, Tile(type, {}, {}, {}), Tile(type, {}, {}, {}), threads);
      CheckCopyTile(type, {10}, Tile(type, {6}, {10}, {0}), Tile(type, {7}, {10}, {3}), threads);
      CheckCopyTile(type, {10}, Tile(type, {2}, {10}, {4}), Tile(type, {8}, {10}, {1}), threads);
      CheckCopyTile(type, {5, 7}, Tile(type, {3, 4}, {5, 7}, {0, 2}), Tile(type, {4, 3}, {5, 7}, {1, 3}), threads);
      CheckCopyTile(type, {400000}, Tile(type, {200000}, {400000}, {100000}), Tile(type, {200000}, {400000}, {200000}),
                    threads);
      CheckCopyTile(type, {200, 2000}, Tile(type, {100, 2000}, {200, 2000}, {100, 0}),
                    Tile(type, {200, 1000}, {200, 2000}, {0, 500}), threads);
    }
  }
  KernelSpec spec = Spec("copy_tile", DType::kF32, {4}, {8});
  ExpectError(spec, "output 0: expected a tile of the tensor that f32[4] is of, got f32[8]");
}

TEST(LayoutTest, MaskRankKeepsTheFirstRankOfItsAxes) {
  const Values x = RandomValues(40000, 1), zeros(40000, 0);
  KernelSpec spec = Spec("mask_rank", DType::kF32, {40000}, {40000}, 2);
  for (bool in_place : {false, true}) {
    std::vector<std::pair<int, int>> pairs;
    if (in_place) pairs.push_back({0, 0});
    spec.attributes.Set("axes", Dims{0, 2});
    spec.coordinates = {0, 5, 0};
    EXPECT_EQ(RunKernel(Registry(), spec, {x}, {}, pairs)->at(0), x);
    spec.coordinates = {0, 0, 1};
    EXPECT_EQ(RunKernel(Registry(), spec, {x}, {}, pairs)->at(0), zeros);
    spec.coordinates = {1, 0, 0};
    EXPECT_EQ(RunKernel(Registry(), spec, {x}, {}, pairs)->at(0), zeros);
  }
  spec.coordinates = {0, 0};
  ExpectError(spec, "attribute `axes`: expected axes of a mesh of 2, got 2");
}

}  // namespace
}  // namespace weft
