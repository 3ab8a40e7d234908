#include "runtime/actor/standing.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/actor/fake_work.h"

namespace weft::actor {
namespace {

std::vector<int64_t> Words(const std::vector<std::atomic<int64_t>>& words) { return {words.begin(), words.end()}; }

// One stream's act runs, the other's waits for what it writes.
TEST(StandingTest, OthersSeeWhereAStreamStands) {
  FakeProgram fake;
  const int x = fake.AddRegister("x");
  std::vector<std::atomic<int64_t>> words(2 * Standing::kWords);
  std::string seen;
  const auto look = [&](const Act&) {
    while (words[Standing::kWords + Standing::kWaits] == 0) std::this_thread::yield();
    seen = TextOfStanding(fake.spec, Words(words));
    return absl::OkStatus();
  };
  const int a = fake.AddActor("a", 0, {}, {x}, look);
  const int b = fake.AddActor("b", 1, {x}, {}, [](const Act&) { return absl::OkStatus(); });
  fake.spec.streams = {{"compute", {{{a}, 0, 1}}}, {"copies", {{{b}, 0, 1}}}};
  fake.spec.standing = absl::MakeSpan(words);
  Fault fault;
  auto program = Program::Create(fake.spec, &fault);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(TextOfStanding(fake.spec, Words(words)), "");
  ASSERT_TRUE(RunStep({program->get()}, 7).ok());
  EXPECT_EQ(seen, "actor `a` (step 8, micro-batch 0)");
  EXPECT_EQ(TextOfStanding(fake.spec, Words(words)), "");
}

TEST(StandingTest, WaitingStreamsCountIfNoneRuns) {
  FakeProgram fake;
  for (const char* name : {"a", "b", "c"}) fake.AddActor(name, 0, {}, {}, [](const Act&) { return absl::OkStatus(); });
  fake.spec.actors[2].section = Section::kStep;
  std::vector<int64_t> words(3 * Standing::kWords);
  const auto stands = [&](int stream, int64_t actor) {
    int64_t* const it = &words[stream * Standing::kWords];
    it[Standing::kActor] = actor;
    it[Standing::kStep] = 9;
    it[Standing::kMicroBatch] = 4;
    it[Standing::kWaits] = 1;
  };
  stands(0, 2);
  stands(1, 3);
  stands(2, 4);  // no actor
  EXPECT_EQ(TextOfStanding(fake.spec, words), "actor `b` (step 10, micro-batch 4), actor `c` (step 10)");
  words[Standing::kWords + Standing::kWaits] = 0;
  EXPECT_EQ(TextOfStanding(fake.spec, words), "actor `c` (step 10)");
}

}  // namespace
}  // namespace weft::actor
