#include "ops/abi/tile_runs.h"

#include "gtest/gtest.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using weft::testing::Tile;

// What the tile's elements are in the global tensor, one by one.
std::vector<double> GlobalIndices(const TensorSpec& tile) {
  weft::testing::Values whole;
  for (int64_t i = 0; i < TensorSpec::Whole(tile.dtype, tile.global_dims).elements(); ++i) whole.push_back(i);
  return weft::testing::SliceOf(whole, tile);
}

TEST(TileRunsTest, RunsCoverAnyRange) {
  for (const TensorSpec& tile :
       {Tile(DType::kF32, {}, {}, {}), Tile(DType::kF32, {4}, {10}, {3}),
        Tile(DType::kF32, {2, 3, 4}, {2, 3, 4}, {0, 0, 0}), Tile(DType::kF32, {2, 3, 4}, {6, 3, 4}, {4, 0, 0}),
        Tile(DType::kF32, {2, 2, 4}, {2, 3, 4}, {0, 1, 0}), Tile(DType::kF32, {2, 3, 1}, {5, 7, 3}, {1, 4, 2})}) {
    const TileRuns runs(tile);
    const std::vector<double> expected = GlobalIndices(tile);
    EXPECT_EQ(runs.elements(), tile.elements());
    EXPECT_EQ(runs.global_elements(), TensorSpec::Whole(tile.dtype, tile.global_dims).elements());
    for (int64_t begin = 0; begin <= tile.elements(); ++begin) {
      for (int64_t end = begin; end <= tile.elements(); ++end) {
        int64_t next = begin;
        runs.ForRange(begin, end, [&](int64_t local, int64_t global, int64_t count) {
          ASSERT_EQ(local, next);
          for (int64_t i = 0; i < count; ++i) ASSERT_EQ(global + i, expected[local + i]) << tile.ToString();
          next += count;
        });
        ASSERT_EQ(next, end);
      }
    }
  }
}

TEST(TileRunsTest, AWholeTensorIsOneRun) {
  int calls = 0;
  TileRuns(TensorSpec::Whole(DType::kF32, {5, 6, 7})).ForRange(0, 210, [&](int64_t, int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace weft
