#include "runtime/data/record_shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "runtime/data/record_batches.h"

namespace weft::data {
namespace {

using ::testing::ElementsAre;

// Records of bytes `first`, `first` + 1, ...
Array Bytes(const std::string& where, uint8_t first, int64_t records, std::vector<int64_t> rest = {}) {
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  for (int64_t i = 0; i < records; ++i) bytes->push_back(static_cast<uint8_t>(first + i));
  rest.insert(rest.begin(), records);
  return {.where = where, .type = TypeOfNumpy("|u1"), .shape = rest, .data = bytes->data(), .owner = bytes};
}

TEST(RecordShardsTest, ShardsAreOneArray) {
  auto shards = RecordShards::Create("set", "x", {Bytes("a", 0, 3), Bytes("b", 3, 1), Bytes("c", 4, 2)});
  ASSERT_TRUE(shards.ok()) << shards.status();
  EXPECT_EQ(shards->records(), 6);
  for (const auto& [record, where, own] : {std::tuple(0, "a", 0), {2, "a", 2}, {3, "b", 0}, {4, "c", 0}, {5, "c", 1}}) {
    EXPECT_EQ(shards->At(record).array.where, where) << record;
    EXPECT_EQ(shards->At(record).record, own) << record;
  }
  for (const DataOrder order : {SEQUENTIAL, SHUFFLED}) {
    const SampleOrder::Options options = {.global_batch = 4, .order = order, .seed = 3};
    const auto cut = RecordBatches::Create({{"x", *shards}}, options);
    const auto whole = RecordBatches::Create({{"x", Bytes("all", 0, 6)}}, options);
    const TensorSpec spec = TensorSpec::Whole(DType::kU8, {4});
    for (int64_t step = 0; step < 5; ++step) {
      uint8_t got[4], expected[4];
      ASSERT_TRUE((*cut)->Fill(spec, "x", step, 0, got).ok());
      ASSERT_TRUE((*whole)->Fill(spec, "x", step, 0, expected).ok());
      EXPECT_THAT(got, ElementsAre(expected[0], expected[1], expected[2], expected[3])) << step;
    }
  }
}

TEST(RecordShardsTest, TheHashKnowsEveryShardAndItsPlace) {
  const auto hash = [](std::vector<Array> arrays) {
    return (*RecordBatches::Create({{"x", *RecordShards::Create("set", "x", std::move(arrays))}}, {.global_batch = 1}))
        ->Hash();
  };
  const uint64_t one = hash({Bytes("a", 0, 3), Bytes("b", 3, 2)});
  EXPECT_EQ(hash({Bytes("c", 0, 3), Bytes("d", 3, 2)}), one);
  EXPECT_NE(hash({Bytes("b", 3, 2), Bytes("a", 0, 3)}), one);
  EXPECT_NE(hash({Bytes("a", 0, 3), Bytes("b", 4, 2)}), one);
}

TEST(RecordShardsTest, RaggedShardsAreNamed) {
  EXPECT_EQ(RecordShards::Create("set", "x", {Bytes("a", 0, 2), Bytes("b", 0, 2, {1})}).status().message(),
            "b: `x`: expected records of u8, as a has, got u8[1]");
}

}  // namespace
}  // namespace weft::data
