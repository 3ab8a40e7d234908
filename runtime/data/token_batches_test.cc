#include "runtime/data/token_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "runtime/data/token_file.h"

namespace weft::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file whose token at position p is p.
std::unique_ptr<const TokenFile> Counting(int64_t count) {
  const std::string path = testing::TempDir() + "/counting.bin";
  std::ofstream out(path, std::ios::binary);
  for (uint32_t p = 0; p < count; ++p) out.write(reinterpret_cast<const char*>(&p), 4);
  out.close();
  auto file = TokenFile::Open(path, U32);
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

std::unique_ptr<const TokenBatches> Batches(int64_t count, TokenBatches::Options options) {
  auto batches = TokenBatches::Create(Counting(count), options);
  EXPECT_TRUE(batches.ok()) << batches.status();
  return *std::move(batches);
}

TensorSpec Tile(int64_t rows, int64_t columns, std::vector<int64_t> dims, std::vector<int64_t> origin) {
  return {DType::kI32, std::move(dims), {rows, columns}, std::move(origin)};
}

std::vector<int32_t> Fill(const TokenBatches& batches, const TensorSpec& spec, const std::string& field, int64_t step,
                          int64_t micro_batch) {
  std::vector<int32_t> out(spec.elements(), -1);
  const absl::Status status = batches.Fill(spec, field, step, micro_batch, out.data());
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

// What a step reads, in the order of its sequences.
std::vector<int32_t> Step(const TokenBatches& batches, int64_t batch, int64_t sequence, int64_t micro, int64_t step) {
  std::vector<int32_t> all;
  for (int64_t m = 0; m < batch / micro; ++m) {
    for (int32_t t : Fill(batches, TensorSpec::Whole(DType::kI32, {micro, sequence}), "tokens", step, m)) {
      all.push_back(t);
    }
  }
  return all;
}

TEST(TokenBatchesTest, SequentialGoesThroughTheFileAndWraps) {
  // 14 tokens: 3 windows of 4 (13 tokens are needed), one token is left over.
  auto batches = Batches(14, {.sequence = 4, .order = {.global_batch = 2, .order = SEQUENTIAL}});
  EXPECT_EQ(batches->windows(), 3);
  const TensorSpec spec = TensorSpec::Whole(DType::kI32, {2, 4});
  EXPECT_THAT(Fill(*batches, spec, "tokens", 0, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Fill(*batches, spec, "labels", 0, 0), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(Fill(*batches, spec, "tokens", 1, 0), ElementsAre(8, 9, 10, 11, 0, 1, 2, 3));
  EXPECT_THAT(Fill(*batches, spec, "labels", 1, 0), ElementsAre(9, 10, 11, 12, 1, 2, 3, 4));
}

TEST(TokenBatchesTest, TheLastWindowNeedsItsLabel) {
  EXPECT_EQ(Batches(12, {.sequence = 4, .order = {.global_batch = 1, .order = SEQUENTIAL}})->windows(), 2);
  EXPECT_EQ(Batches(13, {.sequence = 4, .order = {.global_batch = 1, .order = SEQUENTIAL}})->windows(), 3);
}

TEST(TokenBatchesTest, MicroBatchesAndTilesAreCutsOfOneBatch) {
  for (DataOrder order : {SEQUENTIAL, SHUFFLED}) {
    auto batches = Batches(1000, {.sequence = 8, .order = {.global_batch = 8, .order = order, .seed = 5}});
    const std::vector<int32_t> whole = Step(*batches, 8, 8, 8, 3);
    EXPECT_EQ(Step(*batches, 8, 8, 4, 3), whole);
    EXPECT_EQ(Step(*batches, 8, 8, 1, 3), whole);
    // Rows over 2 ranks, columns over 2.
    for (int64_t r = 0; r < 2; ++r) {
      for (int64_t c = 0; c < 2; ++c) {
        const std::vector<int32_t> tile = Fill(*batches, Tile(8, 8, {4, 4}, {4 * r, 4 * c}), "tokens", 3, 0);
        const std::vector<int32_t> labels = Fill(*batches, Tile(8, 8, {4, 4}, {4 * r, 4 * c}), "labels", 3, 0);
        for (int64_t i = 0; i < 16; ++i) {
          EXPECT_EQ(tile[i], whole[(4 * r + i / 4) * 8 + 4 * c + i % 4]);
          EXPECT_EQ(labels[i], tile[i] + 1);
        }
      }
    }
  }
}

TEST(TokenBatchesTest, ShuffledReadsEveryWindowOnceAnEpoch) {
  // 21 windows, 6 sequences a step: epochs do not begin with steps.
  auto batches = Batches(21 * 4 + 1, {.sequence = 4, .order = {.global_batch = 6, .order = SHUFFLED, .seed = 11}});
  std::vector<int32_t> starts;
  for (int64_t step = 0; step < 7; ++step) {
    const std::vector<int32_t> tokens = Step(*batches, 6, 4, 6, step);
    for (int64_t row = 0; row < 6; ++row) {
      starts.push_back(tokens[row * 4]);
      EXPECT_EQ(tokens[row * 4] % 4, 0);
      EXPECT_EQ(tokens[row * 4 + 3], tokens[row * 4] + 3);
    }
  }
  const std::vector<int32_t> first(starts.begin(), starts.begin() + 21), second(starts.begin() + 21, starts.end());
  EXPECT_EQ(std::set<int32_t>(first.begin(), first.end()).size(), 21u);
  EXPECT_EQ(std::set<int32_t>(second.begin(), second.end()).size(), 21u);
  EXPECT_NE(first, second);
}

TEST(TokenBatchesTest, ThreadsMayReadTogether) {
  auto batches = Batches(1000, {.sequence = 8, .order = {.global_batch = 8, .order = SHUFFLED, .seed = 5}});
  const std::vector<int32_t> whole = Step(*batches, 8, 8, 8, 2);
  std::vector<std::vector<int32_t>> parts(4);
  std::vector<std::thread> threads;
  for (int64_t r = 0; r < 4; ++r) {
    threads.emplace_back([&, r] { parts[r] = Fill(*batches, Tile(8, 8, {2, 8}, {2 * r, 0}), "tokens", 2, 0); });
  }
  for (std::thread& thread : threads) thread.join();
  for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(parts[i / 16][i % 16], whole[i]);
}

TEST(TokenBatchesTest, NamesWhatIsWrong) {
  auto short_file = TokenBatches::Create(Counting(8), {.sequence = 8, .order = {.global_batch = 1}});
  EXPECT_THAT(std::string(short_file.status().message()),
              HasSubstr("counting.bin: expected at least 9 tokens, for 1 sequence a step of 8 each and a label for the "
                        "last, got 8"));
  auto short_step = TokenBatches::Create(Counting(24), {.sequence = 8, .order = {.global_batch = 3}});
  EXPECT_THAT(std::string(short_step.status().message()), HasSubstr("expected at least 25 tokens, for 3 sequences a "));
  EXPECT_TRUE(TokenBatches::Create(Counting(25), {.sequence = 8, .order = {.global_batch = 3}}).ok());
  EXPECT_FALSE(TokenBatches::Create(Counting(8), {.sequence = 0, .order = {.global_batch = 1}}).ok());

  auto batches = Batches(100, {.sequence = 8, .order = {.global_batch = 4, .order = SEQUENTIAL}});
  int32_t out[64];
  auto message = [&](const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch) {
    return std::string(batches->Fill(spec, field, step, micro_batch, out).message());
  };
  const TensorSpec spec = TensorSpec::Whole(DType::kI32, {2, 8});
  EXPECT_EQ(message(spec, "tokens", 0, 0), "");
  EXPECT_THAT(message(spec, "mask", 0, 0),
              HasSubstr("expected `tokens`, `labels`, `documents`, `positions`, `loss_mask`, got `mask`"));
  EXPECT_THAT(message(TensorSpec::Whole(DType::kF32, {2, 8}), "tokens", 0, 0),
              HasSubstr("`tokens`: expected i32[rows,8], got f32[2,8]"));
  EXPECT_THAT(message(TensorSpec::Whole(DType::kI32, {2, 4}), "labels", 0, 0), HasSubstr("got i32[2,4]"));
  EXPECT_THAT(message(TensorSpec::Whole(DType::kI32, {5, 8}), "tokens", 0, 0),
              HasSubstr("`tokens`: expected 1 to 4 rows, of the samples of a step, got 5"));
  EXPECT_THAT(message(Tile(2, 8, {2, 8}, {1, 0}), "tokens", 0, 0), HasSubstr("expected a tile inside the tensor"));
  EXPECT_THAT(message(spec, "tokens", 0, 2), HasSubstr("expected micro-batch 0 to 1"));
}

}  // namespace
}  // namespace weft::data
