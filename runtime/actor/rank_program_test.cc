#include "runtime/actor/rank_program.h"

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fixtures/fake_work.h"

namespace weft::actor {
namespace {

using ::testing::ElementsAre;

absl::Status Nothing(const ActIndex&) { return absl::OkStatus(); }

// Collects what ran, from all streams.
class Log {
 public:
  std::function<absl::Status(const ActIndex&)> Entry(const std::string& name) {
    return [this, name](const ActIndex& act) {
      std::lock_guard<std::mutex> lock(mutex_);
      entries_.push_back(absl::StrCat(name, act.step, ".", act.micro_batch));
      return absl::OkStatus();
    };
  }
  std::vector<std::string> entries() {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> entries_;
};

TEST(ProgramTest, OneStreamKeepsThePlansOrder) {
  Log log;
  FakeProgram fake;
  fake.spec.micro_batches = 2;
  const int x = fake.AddRegister("x"), g = fake.AddRegister("g");
  const int forward = fake.AddActor("forward", 0, {}, {x}, log.Entry("f"));
  const int backward = fake.AddActor("backward", 0, {x}, {g}, log.Entry("b"));
  const int update = fake.AddActor("update", 0, {g}, {}, log.Entry("u"), Section::kStep);
  fake.spec.streams = {{"compute", {{{forward, backward}, 0, 2}, {{update}, 0, 1}}}};
  Fault fault;
  RankProgram program(fake.spec, &fault);
  for (int step = 5; step < 7; ++step) EXPECT_TRUE(RunStep({&program}, step).ok());
  EXPECT_THAT(log.entries(),
              ElementsAre("f5.0", "b5.0", "f5.1", "b5.1", "u5.0", "f6.0", "b6.0", "f6.1", "b6.1", "u6.0"));
  EXPECT_EQ(program.acts(), 10u);
}

// A producer and a consumer on two streams. However they interleave, the
// consumer sees each value, and the producer is never more than `slots` ahead.
void PassValues(int64_t slots, int64_t micro_batches) {
  std::vector<int64_t> values(slots, -1);
  std::atomic<int64_t> made{0}, used{0}, worst{0};
  int wrong = 0;
  FakeProgram fake;
  fake.spec.micro_batches = micro_batches;
  const int x = fake.AddRegister("x", slots);
  const int producer = fake.AddActor("producer", 0, {}, {x}, [&](const ActIndex& act) {
    if (const int64_t ahead = ++made - used.load(); ahead > worst.load()) worst.store(ahead);
    values[act.micro_batch % slots] = act.step * 100 + act.micro_batch;
    return absl::OkStatus();
  });
  const int consumer = fake.AddActor("consumer", 1, {x}, {}, [&](const ActIndex& act) {
    wrong += values[act.micro_batch % slots] != act.step * 100 + act.micro_batch;
    ++used;
    return absl::OkStatus();
  });
  fake.spec.streams = {{"a", {{{producer}, 0, micro_batches}}}, {"b", {{{consumer}, 0, micro_batches}}}};
  Fault fault;
  RankProgram program(fake.spec, &fault);
  for (int step = 0; step < 20; ++step) ASSERT_TRUE(RunStep({&program}, step).ok());
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(worst.load(), slots);
}

TEST(ProgramTest, OneSlotPassesEveryValue) { PassValues(1, 7); }
TEST(ProgramTest, TwoSlotsPassEveryValue) { PassValues(2, 7); }
TEST(ProgramTest, MoreSlotsThanMicroBatches) { PassValues(5, 3); }

TEST(ProgramTest, AStepActorReadsTheLastMicroBatch) {
  int64_t sum = 0, seen = -1;
  FakeProgram fake;
  fake.spec.micro_batches = 4;
  const int g = fake.AddRegister("gradient");
  // One slot and a reader that comes after all micro-batches: no credit is needed between them.
  const int backward = fake.AddActor("backward", 0, {}, {g}, [&](const ActIndex& act) {
    sum = act.micro_batch == 0 ? 1 : sum + 1;
    return absl::OkStatus();
  });
  const int update = fake.AddActor(
      "update", 1, {g}, {},
      [&](const ActIndex&) {
        seen = sum;
        return absl::OkStatus();
      },
      Section::kStep);
  fake.spec.streams = {{"a", {{{backward}, 0, 4}}}, {"b", {{{update}, 0, 1}}}};
  Fault fault;
  RankProgram program(fake.spec, &fault);
  for (int step = 0; step < 10; ++step) {
    ASSERT_TRUE(RunStep({&program}, step).ok());
    EXPECT_EQ(seen, 4);
  }
}

TEST(ProgramTest, AMicroActorMayReadWhatAStepActorWrote) {
  FakeProgram fake;
  fake.spec.micro_batches = 3;
  int64_t weight = 0, sum = 0;
  const int w = fake.AddRegister("gathered weight");
  const int gather = fake.AddActor(
      "gather", 0, {}, {w},
      [&](const ActIndex& act) {
        weight = act.step + 1;
        return absl::OkStatus();
      },
      Section::kStep);
  const int use = fake.AddActor("use", 1, {w}, {}, [&](const ActIndex&) {
    sum += weight;
    return absl::OkStatus();
  });
  fake.spec.streams = {{"a", {{{gather}, 0, 1}}}, {"b", {{{use}, 0, 3}}}};
  Fault fault;
  RankProgram program(fake.spec, &fault);
  for (int step = 0; step < 4; ++step) ASSERT_TRUE(RunStep({&program}, step).ok());
  EXPECT_EQ(sum, 3 * (1 + 2 + 3 + 4));
}

TEST(ProgramTest, TheFirstErrorStopsEveryRankAndSaysWhere) {
  Fault fault;
  std::vector<std::unique_ptr<RankProgram>> programs;
  std::vector<std::unique_ptr<FakeProgram>> fakes;
  std::atomic<int> late{0};
  for (int rank = 0; rank < 3; ++rank) {
    fakes.push_back(std::make_unique<FakeProgram>());
    FakeProgram& fake = *fakes.back();
    fake.spec.where = absl::StrCat("rank ", rank);
    fake.spec.micro_batches = 2;
    const int x = fake.AddRegister("x");
    // Only rank 1 fails; the others' consumers wait for a value that nobody makes.
    const int producer = fake.AddActor("h.5.bwd", 0, {}, {x}, [&fault, rank](const ActIndex& act) {
      if (rank == 1 && act.micro_batch == 1) return absl::InvalidArgumentError("token: expected below 256, got 300");
      while (rank != 1 && !fault.raised()) std::this_thread::yield();
      return absl::OkStatus();
    });
    const int consumer = fake.AddActor("late", 1, {x}, {}, [&](const ActIndex& act) {
      late += act.micro_batch == 1;
      return absl::OkStatus();
    });
    fake.spec.streams = {{"a", {{{producer}, 0, 2}}}, {"b", {{{consumer}, 0, 2}}}};
    programs.push_back(std::make_unique<RankProgram>(fake.spec, &fault));
  }
  const absl::Status status = RunStep({programs[0].get(), programs[1].get(), programs[2].get()}, 12);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "rank 1: actor `h.5.bwd` (step 13, micro-batch 1): token: expected below 256, got 300");
  EXPECT_EQ(late.load(), 0);
}

TEST(ProgramTest, TracesActs) {
  FakeProgram fake;
  fake.spec.micro_batches = 2;
  const int a = fake.AddActor("a", 0, {}, {}, Nothing);
  fake.spec.streams = {{"compute", {{{a}, 0, 2}}}};
  Fault fault;
  RankProgram program(fake.spec, &fault);
  trace::Timeline timeline(16);
  program.Trace(timeline, 3);
  ASSERT_TRUE(RunStep({&program}, 0).ok());
  const nlohmann::json json = nlohmann::json::parse(timeline.ToJson());
  const auto& last = json["traceEvents"].back();
  EXPECT_EQ(last["name"], "a");
  EXPECT_EQ(last["pid"], 3);
  EXPECT_EQ(last["args"]["micro_batch"], 1);
}

}  // namespace
}  // namespace weft::actor
