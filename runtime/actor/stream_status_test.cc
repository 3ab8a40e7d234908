#include "runtime/actor/stream_status.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/fixtures/fake_work.h"

namespace weft::actor {
namespace {

std::vector<int64_t> Words(const std::vector<std::atomic<int64_t>>& words) { return {words.begin(), words.end()}; }

// One stream's act runs, the other's waits for what it writes.
TEST(StreamStatusTest, OthersSeeWhereAStreamStands) {
  FakeProgram fake;
  const int x = fake.AddRegister("x");
  std::vector<std::atomic<int64_t>> words(2 * StreamStatus::kWords);
  std::string seen;
  const auto look = [&](const ActIndex&) {
    while (words[StreamStatus::kWords + StreamStatus::kWaits] == 0) std::this_thread::yield();
    seen = TextOfStatus(fake.spec, Words(words));
    return absl::OkStatus();
  };
  const int a = fake.AddActor("a", 0, {}, {x}, look);
  const int b = fake.AddActor("b", 1, {x}, {}, [](const ActIndex&) { return absl::OkStatus(); });
  fake.spec.streams = {{"compute", {{{a}, 0, 1}}}, {"copies", {{{b}, 0, 1}}}};
  fake.spec.status_words = absl::MakeSpan(words);
  Fault fault;
  RankProgram program(fake.spec, &fault);
  EXPECT_EQ(TextOfStatus(fake.spec, Words(words)), "");
  ASSERT_TRUE(RunStep({&program}, 7).ok());
  EXPECT_EQ(seen, "actor `a` (step 8, micro-batch 0)");
  EXPECT_EQ(TextOfStatus(fake.spec, Words(words)), "");
}

TEST(StreamStatusTest, WaitingStreamsCountIfNoneRuns) {
  FakeProgram fake;
  for (const char* name : {"a", "b", "c"})
    fake.AddActor(name, 0, {}, {}, [](const ActIndex&) { return absl::OkStatus(); });
  fake.spec.actors[2].section = Section::kStep;
  std::vector<int64_t> words(3 * StreamStatus::kWords);
  const auto stands = [&](int stream, int64_t actor) {
    int64_t* const it = &words[stream * StreamStatus::kWords];
    it[StreamStatus::kActor] = actor;
    it[StreamStatus::kStep] = 9;
    it[StreamStatus::kMicroBatch] = 4;
    it[StreamStatus::kWaits] = 1;
  };
  stands(0, 2);
  stands(1, 3);
  stands(2, 4);  // no actor
  EXPECT_EQ(TextOfStatus(fake.spec, words), "actor `b` (step 10, micro-batch 4), actor `c` (step 10)");
  words[StreamStatus::kWords + StreamStatus::kWaits] = 0;
  EXPECT_EQ(TextOfStatus(fake.spec, words), "actor `c` (step 10)");
}

}  // namespace
}  // namespace weft::actor
