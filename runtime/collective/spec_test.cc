#include "runtime/collective/spec.h"

#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/collective/share.h"
#include "runtime/collective/tile_copy.h"

namespace weft::collective {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CollectiveSpecTest, OutputDims) {
  CollectiveSpec spec{.dims = {4, 6}};
  EXPECT_THAT(*OutputDims(spec, 3), ElementsAre(4, 6));
  spec.kind = Kind::kReduceScatter;
  spec.dim = 1;
  EXPECT_THAT(*OutputDims(spec, 3), ElementsAre(4, 2));
  spec.kind = Kind::kAllGather;
  EXPECT_THAT(*OutputDims(spec, 3), ElementsAre(4, 18));
  spec.kind = Kind::kAllToAll;
  spec.split_dim = 0;
  EXPECT_THAT(*OutputDims(spec, 2), ElementsAre(2, 12));
  spec = {.kind = Kind::kShift, .dims = {4, 6}, .by = 2};
  EXPECT_THAT(*OutputDims(spec, 3), ElementsAre(4, 6));
  spec = {.kind = Kind::kZigzag, .dims = {4, 6}, .dim = 1};
  EXPECT_THAT(*OutputDims(spec, 3), ElementsAre(4, 6));
}

TEST(CollectiveSpecTest, RefusesWhatDoesNotFit) {
  auto message = [](const CollectiveSpec& spec, int members) {
    return std::string(OutputDims(spec, members).status().message());
  };
  EXPECT_THAT(message({.kind = Kind::kReduceScatter, .dims = {4, 6}, .dim = 1}, 4),
              HasSubstr("reduce_scatter f32[4,6] along dim 1: expected a multiple of 4 along dim 1, got 6"));
  EXPECT_THAT(message({.kind = Kind::kAllGather, .dims = {4}, .dim = 1}, 2),
              HasSubstr("expected a dim below 1, got 1"));
  EXPECT_THAT(message({.kind = Kind::kAllToAll, .dims = {4, 4}, .dim = 1, .split_dim = 1}, 2),
              HasSubstr("expected two different dims"));
  EXPECT_THAT(message({.kind = Kind::kShift, .dims = {4}, .by = 2}, 2),
              HasSubstr("shift f32[4] along dim 0 by 2: expected 1 or more places, fewer than 2 members"));
  EXPECT_THAT(message({.kind = Kind::kShift, .dims = {4}}, 2), HasSubstr("by 0: expected 1 or more places"));
  EXPECT_THAT(message({.kind = Kind::kZigzag, .dims = {4, 5}, .dim = 1}, 3),
              HasSubstr("zigzag f32[4,5] along dim 1: expected a multiple of 2 along dim 1, got 5"));
}

TEST(CollectiveSpecTest, Describes) {
  EXPECT_EQ((CollectiveSpec{.kind = Kind::kAllToAll, .dims = {2, 3}, .dim = 1, .split_dim = 0}.ToString()),
            "all_to_all f32[2,3] along dim 1 split along dim 0");
  EXPECT_EQ((CollectiveSpec{.reduction = Reduction::kMax, .dtype = DType::kBF16}.ToString()),
            "all_reduce bf16[] by maximum");
}

// Whatever the tensors: the members' shares follow each other without a gap, in
// whole elements, and no member has much more than its part of the bundle.
TEST(ShareTest, CutsABundleInEqualParts) {
  const std::vector<CollectiveSpec> bundle = {{.dims = {3}},
                                              {.dims = {10000}},
                                              {.kind = Kind::kAllGather, .dims = {10000}},
                                              {.dtype = DType::kBF16, .dims = {33, 77}},
                                              {.dims = {0}},
                                              {.dtype = DType::kF64, .dims = {500}}};
  constexpr int64_t kMembers = 5;
  std::vector<int64_t> end(bundle.size(), 0);
  for (int64_t m = 0; m < kMembers; ++m) {
    const std::vector<Share> shares = SharesOf(bundle, kMembers, m);
    int64_t bytes = 0;
    for (size_t i = 0; i < bundle.size(); ++i) {
      EXPECT_EQ(shares[i].begin % static_cast<int64_t>(SizeOf(bundle[i].dtype)), 0);
      if (shares[i].begin == shares[i].end) continue;
      EXPECT_EQ(shares[i].begin, end[i]) << "member " << m << " tensor " << i;
      end[i] = shares[i].end;
      bytes += shares[i].end - shares[i].begin;
    }
    EXPECT_LE(bytes, (12 + 40000 + 33 * 77 * 2 + 4000) / kMembers + 3 * 64);
  }
  EXPECT_THAT(end, ElementsAre(12, 40000, 0, 33 * 77 * 2, 0, 4000));
}

TEST(TileCopyTest, MovesARectangle) {
  std::vector<int> from(2 * 4 * 5), to(3 * 3 * 6, -1);
  std::iota(from.begin(), from.end(), 0);
  TileCopy({2, 2, 3}, {2, 4, 5}, {0, 1, 2}, {3, 3, 6}, {1, 0, 3}, sizeof(int)).Run(from.data(), to.data());
  int written = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 6; ++k) {
        const bool inside = i >= 1 && j < 2 && k >= 3;
        const int expected = inside ? ((i - 1) * 4 + j + 1) * 5 + k - 3 + 2 : -1;
        EXPECT_EQ(to[(i * 3 + j) * 6 + k], expected) << i << " " << j << " " << k;
        written += inside;
      }
    }
  }
  EXPECT_EQ(written, 12);
}

TEST(TileCopyTest, WholeRowsAreOneRun) {
  int runs = 0;
  TileCopy({2, 4, 5}, {2, 4, 5}, {0, 0, 0}, {4, 4, 5}, {2, 0, 0}, 4)
      .ForEachRun([&](int64_t from, int64_t to, int64_t bytes) {
        EXPECT_EQ(from, 0);
        EXPECT_EQ(to, 2 * 4 * 5 * 4);
        EXPECT_EQ(bytes, 2 * 4 * 5 * 4);
        ++runs;
      });
  EXPECT_EQ(runs, 1);
}

TEST(TileCopyTest, ScalarsAndNothing) {
  float from = 3, to = 0;
  TileCopy({}, {}, {}, {}, {}, 4).Run(&from, &to);
  EXPECT_EQ(to, 3);
  TileCopy({0, 2}, {0, 2}, {0, 0}, {3, 2}, {1, 0}, 4).ForEachRun([](int64_t, int64_t, int64_t) { FAIL(); });
}

}  // namespace
}  // namespace weft::collective
