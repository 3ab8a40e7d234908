#include "compiler/schedule/measure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::schedule {
namespace {

/// The error of an order in the text form.
std::string errorOf(const std::string &text, const Shape &shape) {
  absl::StatusOr<Schedule> schedule = parse(text, "f", shape);
  return schedule.ok() ? "no error" : std::string(schedule.status().message());
}

TEST(CheckTest, SaysWhichStagesWaitForEachOther) {
  EXPECT_EQ(errorOf("F0 B0 F1 B1\nF0 F1 B0 B1\n", {2, 1, 2, ChunkMap::Plain}),
            "f:1:4: stage 0: expected a unit that can run, got B0, which waits for B0 of stage 1; stage 1 waits at F1 "
            "for F1 of stage 0");
}

TEST(CheckTest, LeavesOutStagesThatOnlyWaitForTheCycle) {
  EXPECT_EQ(errorOf("F0 F1 B0 B1\nF0 B0 F1 B1\nF0 F1 B0 B1\n", {3, 1, 2, ChunkMap::Plain}),
            "f:2:4: stage 1: expected a unit that can run, got B0, which waits for B0 of stage 2; stage 2 waits at F1 "
            "for F1 of stage 1");
}

TEST(CheckTest, FindsAStageThatWaitsForItself) {
  EXPECT_EQ(errorOf("F0 F0.1 B0.1 B0\nF0.1 F0 B0.1 B0\n", {2, 2, 1, ChunkMap::V}),
            "f:2:1: stage 1: expected a unit that can run, got F0.1, which waits for F0 of the same stage");
}

TEST(CheckTest, OnePlacementsOrderIsNoOthers) {
  Schedule v = *make(Kind::ZeroBubbleV, 2, 2, 4);
  EXPECT_TRUE(check(v).ok());
  v.shape.map = ChunkMap::Interleaved;
  EXPECT_FALSE(check(v).ok());
}

TEST(CheckTest, SpeaksOfTheStageWithoutAFile) {
  Schedule schedule = *make(Kind::OneForwardOneBackward, 2, 1, 2);
  schedule.order[1].pop_back();
  EXPECT_EQ(check(schedule).message(), "stage 1: expected B1, got the end");
  schedule.order.pop_back();
  EXPECT_EQ(check(schedule).message(), "schedule: expected 2 stages, got 1");
}

// Whatever two neighbours of a stage change places: it is refused, or it runs and holds every unit.
TEST(CheckTest, RefusesOrRunsWhateverIsExchanged) {
  Schedule made = *make(Kind::ZeroBubbleV, 3, 2, 4);
  int refused = 0, fine = 0;
  for (size_t stage = 0; stage < made.order.size(); ++stage) {
    for (size_t i = 0; i + 1 < made.order[stage].size(); ++i) {
      Schedule other = made;
      std::swap(other.order[stage][i], other.order[stage][i + 1]);
      if (!check(other).ok()) {
        ++refused;
        continue;
      }
      ++fine;
      Times times = unitTimes(other, unitDurations(other.order));
      for (size_t s = 0; s < other.order.size(); ++s)
        EXPECT_EQ(times.begins[s].size(), other.order[s].size());
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(fine, 0);
}

} // namespace
} // namespace weft::schedule
