#include "compiler/schedule/measure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::schedule {
namespace {

const Shape kTwo{2, 1, 2, ChunkMap::Plain};

std::string errorOf(const std::string &text, const Shape &shape = kTwo) {
  absl::StatusOr<Schedule> schedule = parse(text, "a.schedule", shape);
  return schedule.ok() ? "no error" : std::string(schedule.status().message());
}

TEST(TextTest, ReadsUnits) {
  EXPECT_EQ(parseUnit("F3"), (Unit{UnitKind::Forward, 0, 3}));
  EXPECT_EQ(parseUnit("B0.1"), (Unit{UnitKind::Backward, 1, 0}));
  EXPECT_EQ(nameOf({UnitKind::Backward, 1, 7}), "B.1");
  EXPECT_EQ(unitNamed("B.1"), (Unit{UnitKind::Backward, 1, 0}));
  EXPECT_EQ(unitNamed(""), std::nullopt);
  EXPECT_EQ(print(Unit{UnitKind::Backward, 1, 7}), "B7.1");
  EXPECT_EQ(parseUnit("W12.0"), (Unit{UnitKind::Weight, 0, 12}));
  for (const char *text : {"", "F", "X0", "f0", "F-1", "F0.", "F.1", "F0.1.2", "F0x", "F0 ", "F9999999999"})
    EXPECT_EQ(parseUnit(text), std::nullopt) << text;
}

TEST(TextTest, ReadsWhatItPrints) {
  for (Kind kind :
       {Kind::GPipe, Kind::OneForwardOneBackward, Kind::Interleaved, Kind::ZeroBubbleH1, Kind::ZeroBubbleV}) {
    Schedule made = *make(kind, 3, 0, 7);
    absl::StatusOr<Schedule> read = parse(print(made.order), "a.schedule", made.shape);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->order, made.order);
  }
}

TEST(TextTest, SkipsCommentsAndEmptyLines) {
  absl::StatusOr<Schedule> read = parse("# 1F1B\n\n  F0\tF1 B0 B1 # stage 0\r\nF0 B0 F1 B1", "a.schedule", kTwo);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(print(read->order), "F0 F1 B0 B1\nF0 B0 F1 B1\n");
}

TEST(TextTest, RefusesWhatIsNoSchedule) {
  EXPECT_EQ(errorOf("F0 F1 B0 B1\nF0 G0 F1 B1\n"),
            "a.schedule:2:4: expected F, B or W with a micro-batch, such as B3, or B3.1 of the second chunk, got G0");
  EXPECT_EQ(errorOf("F0 F1 B0 B1\n"), "a.schedule: expected 2 lines, one a stage, got 1");
  EXPECT_EQ(errorOf("F0 F1 B0 B1\nF0 B0 F1 B1\n\n F0\n"), "a.schedule:4:2: expected 2 lines, one a stage, got another");
  EXPECT_EQ(errorOf("", {0, 1, 1, ChunkMap::Plain}), "stages: expected 1 or more, got 0");
  EXPECT_EQ(errorOf("", {2, 3, 1, ChunkMap::V}), "chunks: expected 2, got 3");
}

TEST(TextTest, ChecksUnits) {
  EXPECT_EQ(errorOf("F0 F1 B0 B1\nF0 B0 F1 B2"), "a.schedule:2:10: stage 1: expected a micro-batch below 2, got B2");
  EXPECT_EQ(errorOf("F0 F1 B0 B1\nF0 B0.1 F1 B1"), "a.schedule:2:4: stage 1: expected a chunk below 1, got B0.1");
  EXPECT_EQ(errorOf("F0 F1 B0 B1\nF0 B0 B0 F1 B1"), "a.schedule:2:7: stage 1: expected every unit once, got B0 again");
  EXPECT_EQ(errorOf("F1 F0 B0 B1\nF0 B0 F1 B1"), "a.schedule:1:1: stage 0: expected F0 first, got F1");
  EXPECT_EQ(errorOf("F0 B0 B1 F1\nF0 B0 F1 B1"), "a.schedule:1:7: stage 0: expected F1 first, got B1");
  EXPECT_EQ(errorOf("F0 F1 B0 # more\nF0 B0 F1 B1"), "a.schedule:1:9: stage 0: expected B1, got the end");
}

TEST(TextTest, SplitsAllBackwardsOrNone) {
  EXPECT_EQ(errorOf("F0 F1 B0 B1\nF0 B0 F1 B1 W0 W1"), "a.schedule:1:12: stage 0: expected W0, got the end");
  EXPECT_EQ(errorOf("F0 F1 B0 B1 W0 W1\nF0 W0 B0 F1 B1 W1"), "a.schedule:2:4: stage 1: expected B0 first, got W0");
  EXPECT_EQ(errorOf("F0 F1 B0 B1 W0 W1\nF0 B0 W0 F1 B1 W1"), "no error");
}

} // namespace
} // namespace weft::schedule
