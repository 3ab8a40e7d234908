#include "compiler/schedule/measure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::schedule {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

Schedule read(const std::string &text, const Shape &shape) {
  absl::StatusOr<Schedule> schedule = parse(text, "f", shape);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return schedule.ok() ? *schedule : Schedule{};
}

TEST(MeasureTest, CountsWhatIsInFlight) {
  Schedule schedule = read("F0 F1 F2 B0 B1 W0 W1 B2 W2\nF0 B0 F1 F2 B1 W0 B2 W1 W2", {2, 1, 3, ChunkMap::Plain});
  std::vector<std::vector<Stash>> all = stashes(schedule);
  EXPECT_EQ(all[0][0].toBackward, 3);
  EXPECT_EQ(all[0][0].toWeight, 2);
  EXPECT_EQ(all[0][0].held, 3);
  EXPECT_EQ(all[1][0].toBackward, 2);
  EXPECT_EQ(all[1][0].toWeight, 2);
  EXPECT_EQ(all[1][0].held, 3);
}

TEST(MeasureTest, CountsAllChunksOfAStage) {
  Schedule schedule = read("F0 F1 F0.1 B0.1 F1.1 B0 B1.1 B1", {1, 2, 2, ChunkMap::Interleaved});
  EXPECT_THAT(mostHeld(schedule), ElementsAre(3));
  EXPECT_EQ(stashes(schedule)[0][0].held, 2);
  EXPECT_EQ(stashes(schedule)[0][1].held, 1);
  const std::vector<Unit> &units = schedule.order[0];
  EXPECT_EQ(inFlight(units, {{UnitKind::Forward, 0}, {UnitKind::Forward, 1}}), 2);
  EXPECT_EQ(inFlight(units, {{UnitKind::Backward, 1}, {UnitKind::Backward, 0}}), 1);
  EXPECT_EQ(inFlight(units, {{UnitKind::Forward, 0}, {UnitKind::Forward, 1}, {UnitKind::Backward, 0}}), 2);
  EXPECT_EQ(inFlight(units, {{UnitKind::Forward, 0}}), 1);
}

//        0 1 2 3 4 5 6 7 8
// stage 0 F0F1. B0B0. B1B1
// stage 1 . F0B0B0F1B1B1
TEST(MeasureTest, TellsTimes) {
  Schedule schedule = read("F0 F1 B0 B1\nF0 B0 F1 B1", {2, 1, 2, ChunkMap::Plain});
  Times times = unitTimes(schedule, unitDurations(schedule.order));
  EXPECT_THAT(times.begins[0], ElementsAre(0, 1, 4, 7));
  EXPECT_THAT(times.begins[1], ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(times.busy, ElementsAre(6, 6));
  EXPECT_EQ(times.makespan, 9);
  EXPECT_THAT(times.bubble, DoubleNear(1.0 / 3, 1e-12));
}

TEST(MeasureTest, TakesAnyDurations) {
  Schedule schedule = read("F0 B0 W0\nF0 B0 W0", {2, 1, 1, ChunkMap::Plain});
  Times times = unitTimes(schedule, {1, 1.5, 0.25});
  EXPECT_THAT(times.begins[0], ElementsAre(0, 3.5, 5));
  EXPECT_THAT(times.begins[1], ElementsAre(1, 2, 3.5));
  EXPECT_EQ(times.makespan, 5.25);
}

// A chunk after another on one stage: nothing to wait for but the stage.
TEST(MeasureTest, RunsChunksOfAStageInTurn) {
  Schedule schedule = read("F0 F0.1 B0.1 B0\nF0 F0.1 B0.1 B0", {2, 2, 1, ChunkMap::V});
  Times times = unitTimes(schedule, {1, 1, 0});
  EXPECT_THAT(times.begins[0], ElementsAre(0, 3, 4, 7));
  EXPECT_THAT(times.begins[1], ElementsAre(1, 2, 5, 6));
  EXPECT_EQ(times.bubble, 0.5);
}

} // namespace
} // namespace weft::schedule
