#include "runtime/actor/watchdog.h"

#include <atomic>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fixtures/fake_work.h"

namespace weft::actor {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::Status Nothing(const ActIndex&) { return absl::OkStatus(); }

// Waits until the program says all of `parts`.
void AwaitDescription(const RankProgram& program, const std::vector<std::string>& parts) {
  for (size_t found = 0; found < parts.size();) {
    std::string all;
    for (const std::string& line : program.Describe()) all += line + "\n";
    found = 0;
    for (const std::string& part : parts) found += all.find(part) != std::string::npos;
    std::this_thread::yield();
  }
}

// Two streams that wait for each other: a deadlock that no single stream shows.
TEST(WatchdogTest, NamesEveryoneInADeadlock) {
  FakeProgram fake;
  fake.spec.where = "rank 3";
  const int x = fake.AddRegister("x"), y = fake.AddRegister("y");
  const int a = fake.AddActor("a", 0, {y}, {x}, Nothing);
  const int b = fake.AddActor("b", 1, {x}, {y}, Nothing);
  fake.spec.streams = {{"compute", {{{a}, 0, 1}}}, {"copies", {{{b}, 0, 1}}}};
  Fault fault;
  RankProgram program(fake.spec, &fault);
  Watchdog watchdog(seconds(60), {&program}, &fault, [] { return std::string("rank 7 is stopped"); });
  const Watchdog::Clock::time_point start{};
  EXPECT_FALSE(watchdog.Check(start));  // no step is under way

  absl::Status status;
  std::thread run([&] { status = RunStep({&program}, 7); });
  const std::string a_waits =
      "rank 3: actor `a` (step 8, micro-batch 0) waits for register `y` of `b` on stream `copies`";
  const std::string b_waits =
      "rank 3: actor `b` (step 8, micro-batch 0) waits for register `x` of `a` on stream `compute`";
  AwaitDescription(program, {a_waits, b_waits});
  EXPECT_FALSE(watchdog.Check(start + seconds(100)));  // now it looks busy
  EXPECT_FALSE(watchdog.Check(start + seconds(159)));
  EXPECT_TRUE(watchdog.Check(start + seconds(160)));
  run.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("nothing has moved for 60 s: rank 7 is stopped; rank 3: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr(a_waits));
  EXPECT_THAT(std::string(status.message()), HasSubstr(b_waits));
}

TEST(WatchdogTest, NamesTheReaderThatHoldsASlot) {
  FakeProgram fake;
  fake.spec.where = "rank 0";
  fake.spec.micro_batches = 2;
  std::atomic<bool> release{false};
  const int x = fake.AddRegister("x");
  const int w = fake.AddActor("w", 0, {}, {x}, Nothing);
  const int r = fake.AddActor("r", 1, {x}, {}, [&](const ActIndex&) {
    while (!release.load()) std::this_thread::yield();
    return absl::OkStatus();
  });
  fake.works[r]->set_waiting("all_reduce #812 of group data[1]; rank 7 has not issued it");
  fake.spec.streams = {{"compute", {{{w}, 0, 2}}}, {"communication", {{{r}, 0, 2}}}};
  Fault fault;
  RankProgram program(fake.spec, &fault);
  std::thread run([&] { EXPECT_TRUE(RunStep({&program}, 0).ok()); });
  AwaitDescription(
      program,
      {"actor `w` (step 1, micro-batch 1) waits for a free slot of register `x`, which `r` has not read, "
       "on stream `communication`",
       "actor `r` (step 1, micro-batch 0) waits for all_reduce #812 of group data[1]; rank 7 has not issued it"});
  release.store(true);
  run.join();
  EXPECT_THAT(program.Describe(), IsEmpty());
}

TEST(WatchdogTest, ProgressStartsTheClockAnew) {
  FakeProgram fake;
  std::atomic<int> gate{0};
  const int a = fake.AddActor("a", 0, {}, {}, [&](const ActIndex& act) {
    while (gate.load() <= act.micro_batch) std::this_thread::yield();
    return absl::OkStatus();
  });
  fake.spec.micro_batches = 2;
  fake.spec.streams = {{"compute", {{{a}, 0, 2}}}};
  Fault fault;
  RankProgram program(fake.spec, &fault);
  Watchdog watchdog(seconds(60), {&program}, &fault);
  const Watchdog::Clock::time_point start{};
  std::thread run([&] { EXPECT_TRUE(RunStep({&program}, 0).ok()); });
  AwaitDescription(program, {"runs"});
  EXPECT_FALSE(watchdog.Check(start));
  gate.store(1);
  AwaitDescription(program, {"micro-batch 1) runs"});
  EXPECT_FALSE(watchdog.Check(start + seconds(90)));  // an act has ended since
  EXPECT_FALSE(watchdog.Check(start + seconds(149)));
  gate.store(2);
  run.join();
  EXPECT_FALSE(watchdog.Check(start + seconds(1000)));
  EXPECT_FALSE(fault.raised());
}

TEST(WatchdogTest, LooksOftenEnoughToBeOnTime) {
  EXPECT_LE(Watchdog::Interval(seconds(600)), seconds(1));
  EXPECT_EQ(Watchdog::Interval(std::chrono::milliseconds(8)), std::chrono::milliseconds(2));
}

TEST(WatchdogTest, TheThreadRaisesTheFault) {
  FakeProgram fake;
  Fault fault;
  const int a = fake.AddActor("a", 0, {}, {}, [&](const ActIndex&) {
    while (!fault.raised()) std::this_thread::yield();  // hangs until it is told
    return absl::OkStatus();
  });
  const int b = fake.AddActor("b", 0, {}, {}, Nothing);
  fake.spec.streams = {{"compute", {{{a, b}, 0, 1}}}};
  RankProgram program(fake.spec, &fault);
  Watchdog watchdog(std::chrono::milliseconds(8), {&program}, &fault);
  watchdog.Start();
  const absl::Status status = RunStep({&program}, 0);
  EXPECT_THAT(std::string(status.message()), HasSubstr("actor `a` (step 1, micro-batch 0) runs"));
}

}  // namespace
}  // namespace weft::actor
