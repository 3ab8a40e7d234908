#include "runtime/data/record_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <set>
#include <vector>

namespace weft::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Value>
Array Make(const std::string& numpy_type, std::vector<int64_t> shape, const std::vector<Value>& values) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(values.size() * sizeof(Value));
  std::memcpy(bytes->data(), values.data(), bytes->size());
  return {.where = "x.npy",
          .type = TypeOfNumpy(numpy_type),
          .shape = std::move(shape),
          .data = bytes->data(),
          .owner = bytes};
}

// Records of [2,3] whose elements count up from 0.
Array Counting(int64_t records) {
  std::vector<int32_t> values(records * 6);
  std::iota(values.begin(), values.end(), 0);
  return Make("<i4", {records, 2, 3}, values);
}

std::unique_ptr<RecordBatches> Batches(RecordBatches::Fields fields, const SampleOrder::Options& options) {
  auto batches = RecordBatches::Create(std::move(fields), options);
  EXPECT_TRUE(batches.ok()) << batches.status();
  return *std::move(batches);
}

template <typename Value>
std::vector<Value> Fill(const RecordBatches& batches, const TensorSpec& spec, int64_t step, int64_t micro_batch) {
  std::vector<Value> out(spec.elements());
  const absl::Status status = batches.Fill(spec, "x", step, micro_batch, out.data());
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

TEST(RecordBatchesTest, SequentialGoesThroughTheRecordsAndWraps) {
  auto batches = Batches({{"x", Counting(3)}}, {.global_batch = 2, .order = SEQUENTIAL});
  const TensorSpec spec = TensorSpec::Whole(DType::kI32, {2, 2, 3});
  EXPECT_THAT(Fill<int32_t>(*batches, spec, 0, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(Fill<int32_t>(*batches, spec, 1, 0), ElementsAre(12, 13, 14, 15, 16, 17, 0, 1, 2, 3, 4, 5));
}

TEST(RecordBatchesTest, OnceReadsTheRecordsInOrderAndEndsWithTheLast) {
  auto batches = Batches({{"x", Counting(3)}}, {.global_batch = 2, .order = SHUFFLED, .seed = 7, .once = true});
  const TensorSpec first = {DType::kI32, {2, 1, 1}, {2, 2, 3}, {0, 0, 0}};  // of each record its first element
  EXPECT_THAT(Fill<int32_t>(*batches, first, 0, 0), ElementsAre(0, 6));
  EXPECT_THAT(Fill<int32_t>(*batches, first, 1, 0), ElementsAre(12, 12));
  EXPECT_TRUE(RecordBatches::Create({{"x", Counting(3)}}, {.global_batch = 4, .once = true}).ok());
}

TEST(RecordBatchesTest, ADimensionOfOneElementMayBeMissing) {
  auto batches = Batches({{"x", Counting(2)}}, {.global_batch = 2, .order = SEQUENTIAL});
  const TensorSpec tile = {DType::kI32, {2, 1, 1, 2}, {2, 1, 2, 3}, {0, 0, 1, 1}};
  EXPECT_THAT(Fill<int32_t>(*batches, tile, 0, 0), ElementsAre(4, 5, 10, 11));
  EXPECT_FALSE(batches->Check(TensorSpec::Whole(DType::kI32, {2, 1, 3, 2}), "x").ok());
}

TEST(RecordBatchesTest, MicroBatchesAndTilesAreCutsOfOneBatch) {
  auto batches = Batches({{"x", Counting(21)}}, {.global_batch = 8, .order = SHUFFLED, .seed = 5});
  // Step 2 goes from the first epoch into the second.
  const std::vector<int32_t> whole = Fill<int32_t>(*batches, TensorSpec::Whole(DType::kI32, {8, 2, 3}), 2, 0);
  std::vector<int32_t> cut;
  for (int64_t m = 0; m < 4; ++m) {
    for (int32_t x : Fill<int32_t>(*batches, TensorSpec::Whole(DType::kI32, {2, 2, 3}), 2, m)) cut.push_back(x);
  }
  EXPECT_EQ(cut, whole);
  // Rows 4 to 7; of each record row 1, and columns 0 and 1.
  const TensorSpec tile = {DType::kI32, {4, 1, 2}, {8, 2, 3}, {4, 1, 0}};
  const std::vector<int32_t> part = Fill<int32_t>(*batches, tile, 2, 0);
  for (int64_t row = 0; row < 4; ++row) {
    for (int64_t column = 0; column < 2; ++column) EXPECT_EQ(part[2 * row + column], whole[(4 + row) * 6 + 3 + column]);
  }
}

TEST(RecordBatchesTest, ShuffledReadsEveryRecordOnceAnEpoch) {
  auto batches = Batches({{"x", Counting(21)}}, {.global_batch = 7, .order = SHUFFLED, .seed = 3});
  std::vector<int32_t> firsts;
  for (int64_t step = 0; step < 6; ++step) {
    const std::vector<int32_t> all = Fill<int32_t>(*batches, TensorSpec::Whole(DType::kI32, {7, 2, 3}), step, 0);
    for (int64_t row = 0; row < 7; ++row) firsts.push_back(all[row * 6]);
  }
  const std::vector<int32_t> first(firsts.begin(), firsts.begin() + 21), second(firsts.begin() + 21, firsts.end());
  EXPECT_EQ(std::set<int32_t>(first.begin(), first.end()).size(), 21u);
  EXPECT_EQ(std::set<int32_t>(second.begin(), second.end()).size(), 21u);
  EXPECT_NE(first, second);
}

TEST(RecordBatchesTest, WidensWhatKeepsItsValue) {
  const SampleOrder::Options options = {.global_batch = 2, .order = SEQUENTIAL};
  const auto spec = [](DType type) { return TensorSpec::Whole(type, {2}); };
  auto bytes = Batches({{"x", Make<uint8_t>("|u1", {2}, {255, 3})}}, options);
  EXPECT_THAT(Fill<uint8_t>(*bytes, spec(DType::kU8), 0, 0), ElementsAre(255, 3));
  EXPECT_THAT(Fill<int32_t>(*bytes, spec(DType::kI32), 0, 0), ElementsAre(255, 3));
  EXPECT_THAT(Fill<int64_t>(*bytes, spec(DType::kI64), 0, 0), ElementsAre(255, 3));
  EXPECT_THAT(Fill<float>(*bytes, spec(DType::kF32), 0, 0), ElementsAre(255, 3));
  auto shorts = Batches({{"x", Make<uint16_t>("<u2", {2}, {65535, 3})}}, options);
  EXPECT_THAT(Fill<int32_t>(*shorts, spec(DType::kI32), 0, 0), ElementsAre(65535, 3));
  auto longs = Batches({{"x", Make<int64_t>("<i8", {2}, {-100, 1ll << 31})}}, {.global_batch = 1, .order = SEQUENTIAL});
  EXPECT_THAT(Fill<int32_t>(*longs, TensorSpec::Whole(DType::kI32, {1}), 0, 0), ElementsAre(-100));
  int32_t out = 0;
  const absl::Status status = longs->Fill(TensorSpec::Whole(DType::kI32, {1}), "x", 1, 0, &out);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(status.message(), "x.npy: `x`: expected numbers that i32 has, got others in record 1");
  auto halves = Batches({{"x", Make<uint16_t>("<f2", {2}, {0x3c00, 0xc000})}}, options);
  EXPECT_THAT(Fill<float>(*halves, spec(DType::kF32), 0, 0), ElementsAre(1, -2));
}

TEST(RecordBatchesTest, NamesWhatIsWrong) {
  const auto two = RecordBatches::Create({{"a", Counting(3)}, {"b", Counting(4)}}, {.global_batch = 1});
  EXPECT_EQ(two.status().message(), "x.npy: `b`: expected 3 records, as `a` has, got 4");
  const auto few = RecordBatches::Create({{"a", Counting(3)}}, {.global_batch = 4});
  EXPECT_EQ(few.status().message(), "x.npy: `a`: expected at least 4 records, for a step, got 3");
  auto batches = Batches({{"x", Counting(3)}}, {.global_batch = 2});
  const auto message = [&](const TensorSpec& spec, const std::string& field) {
    return std::string(batches->Check(spec, field).message());
  };
  EXPECT_EQ(message(TensorSpec::Whole(DType::kI32, {2, 2, 3}), "x"), "");
  EXPECT_THAT(message(TensorSpec::Whole(DType::kI32, {2, 2, 3}), "y"), HasSubstr("expected `x`, got `y`"));
  EXPECT_EQ(message(TensorSpec::Whole(DType::kI32, {2, 6}), "x"),
            "x.npy: `x`: expected what fits the plan's i32[rows,6], got records of i32[2,3]");
  EXPECT_EQ(message(TensorSpec::Whole(DType::kF32, {2, 2, 3}), "x"),
            "x.npy: `x`: expected what fits the plan's f32[rows,2,3], got records of i32[2,3]");
  EXPECT_THAT(message(TensorSpec::Whole(DType::kI32, {3, 2, 3}), "x"),
              HasSubstr("expected 1 to 2 rows, of the samples of a step, got 3"));
  EXPECT_THAT(message(TensorSpec::Whole(DType::kI32, {}), "x"), HasSubstr("got a scalar"));
}

TEST(RecordBatchesTest, TheHashIsOfWhatIsHeld) {
  const SampleOrder::Options options = {.global_batch = 1};
  const auto hash = [&](RecordBatches::Fields fields) { return Batches(std::move(fields), options)->Hash(); };
  const Array a = Counting(3), b = Counting(3);
  Array moved = b, other = Counting(3);
  moved.where = "y.npy";
  const_cast<uint8_t*>(other.data)[71] ^= 1;
  EXPECT_EQ(hash({{"x", a}}), hash({{"x", moved}}));
  EXPECT_NE(hash({{"x", a}}), hash({{"x", other}}));
  EXPECT_NE(hash({{"x", a}}), hash({{"y", a}}));
  // The same records in another order.
  EXPECT_NE(hash({{"x", Make<int64_t>("<i8", {2}, {1, 2})}}), hash({{"x", Make<int64_t>("<i8", {2}, {2, 1})}}));
  EXPECT_NE(hash({{"x", a}, {"y", other}}), hash({{"x", other}, {"y", a}}));
}

TEST(LookAtIdsTest, FindsTheExtremesButForTheIgnoredOne) {
  const Array array = Make<int64_t>("<i8", {3, 2}, {4, -100, 7, 0, 2, 7});
  const IdLook look = LookAtIds(array, /*skip=*/-100);
  EXPECT_EQ(look.ids.largest, 7);
  EXPECT_EQ(look.ids.largest_at, 1);
  EXPECT_EQ(look.ids.least, 0);
  EXPECT_EQ(look.ids.least_at, 1);
  EXPECT_TRUE(look.whole);
  EXPECT_EQ(LookAtIds(array, /*skip=*/-1).ids.least, -100);
}

}  // namespace
}  // namespace weft::data
