#include "runtime/checkpoint/tile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "runtime/checkpoint/checksum.h"

namespace weft::checkpoint {
namespace {

using ::testing::HasSubstr;

// The index in the whole tensor of every element of the tile, one by one.
std::vector<int64_t> Indices(const TensorSpec& spec) {
  std::vector<int64_t> indices;
  for (int64_t e = 0; e < spec.elements(); ++e) {
    int64_t rest = e, index = 0, stride = 1;
    for (int64_t d = spec.rank() - 1; d >= 0; --d) {
      index += (spec.origin[d] + rest % spec.dims[d]) * stride;
      rest /= spec.dims[d];
      stride *= spec.global_dims[d];
    }
    indices.push_back(index);
  }
  return indices;
}

TEST(TileTest, RunsCoverExactlyTheTile) {
  const std::vector<int64_t> global = {3, 1, 4, 2};
  int64_t tiles = 0;
  // Every tile of the tensor: every origin and extent of every dim.
  for (int64_t code = 0; code < 6 * 1 * 10 * 3; ++code) {
    TensorSpec spec{DType::kF32, {}, global, {}};
    int64_t rest = code;
    for (int64_t extent : global) {
      int64_t pick = rest % (extent * (extent + 1) / 2);
      rest /= extent * (extent + 1) / 2;
      int64_t origin = 0;
      for (; pick >= extent - origin; ++origin) pick -= extent - origin;
      spec.origin.push_back(origin);
      spec.dims.push_back(pick + 1);
    }
    std::vector<int64_t> indices(spec.elements(), -1);
    int64_t next = 0;
    ASSERT_TRUE(ForEachRun(spec, [&](int64_t index, int64_t offset, int64_t count) {
                  EXPECT_EQ(offset, next);
                  next += count;
                  for (int64_t i = 0; i < count; ++i) indices[offset + i] = index + i;
                  return absl::OkStatus();
                }).ok());
    EXPECT_EQ(indices, Indices(spec)) << spec.ToString();
    ++tiles;
  }
  EXPECT_EQ(tiles, 180);
}

TEST(TileTest, RunsAreAsLongAsTheyCanBe) {
  auto runs = [](const TensorSpec& spec) {
    int64_t n = 0;
    EXPECT_TRUE(ForEachRun(spec, [&](int64_t, int64_t, int64_t) { return ++n, absl::OkStatus(); }).ok());
    return n;
  };
  EXPECT_EQ(runs(TensorSpec::Whole(DType::kF32, {})), 1);
  EXPECT_EQ(runs(TensorSpec::Whole(DType::kF32, {4, 5, 6})), 1);
  EXPECT_EQ(runs(TensorSpec::Whole(DType::kF32, {4, 0})), 0);
  EXPECT_EQ(runs({DType::kF32, {2, 5, 6}, {4, 5, 6}, {2, 0, 0}}), 1);
  EXPECT_EQ(runs({DType::kF32, {4, 2, 6}, {4, 5, 6}, {0, 1, 0}}), 4);
  EXPECT_EQ(runs({DType::kF32, {4, 5, 3}, {4, 5, 6}, {0, 0, 3}}), 20);
}

TEST(TileTest, StopsAtTheFirstError) {
  int64_t calls = 0;
  const absl::Status status = ForEachRun({DType::kF32, {4, 1}, {4, 2}, {0, 0}}, [&](int64_t, int64_t, int64_t) {
    return ++calls == 2 ? absl::InternalError("stop") : absl::OkStatus();
  });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(status.message(), "stop");
}

TEST(TileTest, RefusesWhatIsNoTile) {
  auto message = [](const TensorSpec& spec, const std::vector<int64_t>& shape) {
    return std::string(CheckTile("w", spec, shape).message());
  };
  EXPECT_EQ(message({DType::kF32, {2, 3}, {4, 6}, {2, 3}}, {24}), "");
  EXPECT_THAT(message({DType::kF32, {2, 3}, {4, 6}, {3, 3}}, {24}), HasSubstr("got [2,3] of [4,6] at [3,3]"));
  EXPECT_THAT(message({DType::kF32, {2, 3}, {4, 6}, {-1, 0}}, {24}), HasSubstr("expected a tile"));
  EXPECT_THAT(message({DType::kF32, {2}, {4, 6}, {0, 0}}, {24}), HasSubstr("expected a tile"));
  EXPECT_THAT(message({DType::kF32, {2, 3}, {4, 6}, {2, 3}}, {5, 5}),
              HasSubstr("w: shape: expected as many elements as [4,6], got [5,5]"));
  const int64_t huge = int64_t{1} << 40;
  EXPECT_THAT(message({DType::kF32, {1, 1}, {huge, huge}, {0, 0}}, {0}), HasSubstr("expected a tile"));
}

TEST(TileTest, ElementsOfDetectsOverflow) {
  EXPECT_EQ(ElementsOf({}), 1);
  EXPECT_EQ(ElementsOf({3, 4}), 12);
  EXPECT_EQ(ElementsOf({3, 0}), 0);
  EXPECT_EQ(ElementsOf({3, -1}), -1);
  EXPECT_EQ(ElementsOf({int64_t{1} << 32, int64_t{1} << 31}), -1);
}

TEST(ChecksumTest, AddsUpOverAnyTiles) {
  std::vector<float> whole(6 * 8);
  for (size_t i = 0; i < whole.size(); ++i) whole[i] = 0.5f * static_cast<float>(i);
  const uint64_t expected = Checksum(4, 0, whole.data(), 48);
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {2, 2}, {3, 1}, {1, 4}, {6, 8}}) {
    uint64_t sum = 0;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const TensorSpec tile{DType::kF32, {6 / rows, 8 / columns}, {6, 8}, {6 / rows * r, 8 / columns * c}};
        ASSERT_TRUE(ForEachRun(tile, [&](int64_t index, int64_t, int64_t count) {
                      sum += Checksum(4, index, whole.data() + index, count);
                      return absl::OkStatus();
                    }).ok());
      }
    }
    EXPECT_EQ(sum, expected) << rows << "x" << columns;
  }
}

TEST(ChecksumTest, SeesFlippedBitsAndMovedElements) {
  for (size_t size : {1, 2, 4, 8}) {
    std::vector<uint8_t> bytes(64);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(37 * i + 1);
    const int64_t count = static_cast<int64_t>(bytes.size() / size);
    const uint64_t expected = Checksum(size, 0, bytes.data(), count);
    EXPECT_NE(Checksum(size, 1, bytes.data(), count), expected);
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::vector<uint8_t> other = bytes;
      other[bit / 8] ^= 1u << bit % 8;
      EXPECT_NE(Checksum(size, 0, other.data(), count), expected) << "bit " << bit << " of elements of " << size;
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        std::vector<uint8_t> other = bytes;
        std::swap_ranges(&other[i * size], &other[i * size] + size, &other[j * size]);
        EXPECT_NE(Checksum(size, 0, other.data(), count), expected) << "elements " << i << " and " << j;
      }
    }
  }
}

// Checkpoints that are there would no longer load with another checksum.
TEST(ChecksumTest, StaysAsItWas) {
  const float values[] = {0.0f, 1.0f, -2.5f};
  EXPECT_EQ(ToHex(Checksum(4, 0, values, 3)), "6f7904e4ca6e184b");
}

}  // namespace
}  // namespace weft::checkpoint
