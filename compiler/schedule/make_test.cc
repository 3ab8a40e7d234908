#include <algorithm>

#include "compiler/schedule/measure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::schedule {
namespace {

using ::testing::Each;
using ::testing::Le;

/// A schedule that has to be there and to run.
Schedule made(Kind kind, int stages, int chunks, int microBatches) {
  absl::StatusOr<Schedule> schedule = make(kind, stages, chunks, microBatches);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  if (!schedule.ok())
    return {};
  absl::Status status = check(*schedule);
  EXPECT_TRUE(status.ok()) << nameOf(kind) << " p=" << stages << " v=" << chunks << " m=" << microBatches << " "
                           << status;
  return *schedule;
}

Times timesOf(const Schedule &schedule) { return unitTimes(schedule, unitDurations(schedule.order)); }

/// Time that each stage idles, of a schedule whose stages are equally busy.
int idle(const Schedule &schedule) {
  Times times = timesOf(schedule);
  return int(times.makespan - times.busy[0]);
}

std::string textOf(Kind kind, int stages, int chunks, int microBatches) {
  return print(made(kind, stages, chunks, microBatches).order);
}

/// Calls `see(p, m)` for the sizes of the sweep.
template <typename See> void sweep(See see) {
  for (int p = 1; p <= 8; ++p) {
    for (int m = 1; m <= 16; ++m) {
      SCOPED_TRACE(testing::Message() << "p=" << p << " m=" << m);
      see(p, m);
    }
  }
}

TEST(MakeTest, GPipe) {
  EXPECT_EQ(textOf(Kind::GPipe, 2, 1, 3), "F0 F1 F2 B0 B1 B2\n"
                                          "F0 F1 F2 B0 B1 B2\n");
}

TEST(MakeTest, OneForwardOneBackward) {
  EXPECT_EQ(textOf(Kind::OneForwardOneBackward, 3, 1, 5), "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4\n"
                                                          "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4\n"
                                                          "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4\n");
}

// Figure 4 of Narayanan et al. in small.
TEST(MakeTest, Interleaved) {
  EXPECT_EQ(textOf(Kind::Interleaved, 2, 2, 4), "F0 F1 F0.1 F1.1 F2 B0.1 F3 B1.1 F2.1 B0 F3.1 B1 B2.1 B3.1 B2 B3\n"
                                                "F0 F1 F0.1 B0.1 F1.1 B1.1 F2 B0 F3 B1 F2.1 B2.1 F3.1 B3.1 B2 B3\n");
}

TEST(MakeTest, ZeroBubbleH1) {
  EXPECT_EQ(textOf(Kind::ZeroBubbleH1, 3, 1, 4), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3\n"
                                                 "F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3\n"
                                                 "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3\n");
}

TEST(MakeTest, GPipeBubbleAndStash) {
  sweep([](int p, int m) {
    Schedule schedule = made(Kind::GPipe, p, 1, m);
    EXPECT_NEAR(timesOf(schedule).bubble, double(p - 1) / (m + p - 1), 1e-12);
    for (const std::vector<Stash> &stage : stashes(schedule))
      EXPECT_EQ(stage[0].toBackward, m);
  });
}

TEST(MakeTest, OneForwardOneBackwardBubbleAndStash) {
  sweep([](int p, int m) {
    Schedule schedule = made(Kind::OneForwardOneBackward, p, 1, m);
    EXPECT_NEAR(timesOf(schedule).bubble, double(p - 1) / (m + p - 1), 1e-12);
    for (int i = 0; i < p; ++i)
      EXPECT_EQ(stashes(schedule)[i][0].toBackward, std::min(m, p - i));
  });
}

// The bubble of the paper where m divides by p. The last, short group of p' micro-batches costs at most 3(v - 1)(p -
// p') more (in chunks' F), for its chunks follow each other less than p apart.
TEST(MakeTest, InterleavedBubbleAndStash) {
  sweep([](int p, int m) {
    for (int v = 2; v <= 4; ++v) {
      Schedule schedule = made(Kind::Interleaved, p, v, m);
      if (m % p == 0)
        EXPECT_NEAR(timesOf(schedule).bubble, double(p - 1) / (v * m + p - 1), 1e-12) << v;
      else
        EXPECT_LE(idle(schedule), 3 * (p - 1) + 3 * (v - 1) * (p - m % p)) << v;
      for (int i = 0; i < p; ++i)
        EXPECT_LE(mostHeld(schedule)[i], (v - 1) * p + 2 * (p - 1 - i) + 1) << v;
    }
  });
}

// p - 1 from p micro-batches on, where 1F1B has 3(p - 1). With fewer there is not enough W to fill in.
TEST(MakeTest, ZeroBubbleH1HasAThirdOfTheBubble) {
  sweep([](int p, int m) {
    Schedule h1 = made(Kind::ZeroBubbleH1, p, 1, m);
    EXPECT_EQ(idle(h1), p - 1 + std::max(0, p - m));
    EXPECT_EQ(idle(made(Kind::OneForwardOneBackward, p, 1, m)), 3 * (p - 1));
    EXPECT_THAT(mostHeld(h1), Each(Le(p)));
    for (int i = 0; i < p; ++i) {
      EXPECT_LE(stashes(h1)[i][0].toBackward, p - i);
      EXPECT_LE(stashes(h1)[i][0].toWeight, i + 1);
    }
  });
}

// The places that a stage needs if each of its chunks has as many as it ever holds, at most.
int mostPlaces(const Schedule &schedule) {
  int most = 0;
  for (const std::vector<Stash> &stage : stashes(schedule)) {
    int places = 0;
    for (const Stash &chunk : stage)
      places += chunk.held;
    most = std::max(most, places);
  }
  return most;
}

// Only what no schedule of this map can avoid: the last stage begins when p - 1 chunks' F have run, of which 6 m
// make a step's work, or hundredths of a step more. 1F1B idles six times as long. With fewer micro-batches than stages
// there is not enough W. What is held has places for little more than 1F1B's memory, mostly for no more.
TEST(MakeTest, ZeroBubbleVHasAboutNoBubble) {
  int shapes = 0, inMore = 0;
  sweep([&](int p, int m) {
    Schedule v = made(Kind::ZeroBubbleV, p, 2, m);
    ++shapes;
    inMore += mostPlaces(v) > 2 * p;
    EXPECT_LE(mostPlaces(v), 2 * p + p / 2);
    if (m >= p)
      EXPECT_NEAR(timesOf(v).bubble, double(p - 1) / (6 * m + p - 1), 0.01);
    else
      EXPECT_LE(idle(v), p - 1 + 3 * (p - m) - 1);
    EXPECT_THAT(mostHeld(v), Each(Le(2 * p)));
  });
  EXPECT_LT(inMore, shapes / 10);
}

// Many stages and micro-batches: at most a hundredth from the best.
TEST(MakeTest, ZeroBubbleVOfManyStages) {
  for (int p : {12, 16, 32}) {
    for (int m : {p, p + 5, 2 * p, 3 * p, 100, 257}) {
      Schedule v = made(Kind::ZeroBubbleV, p, 2, m);
      EXPECT_LE(timesOf(v).makespan, 1.011 * (6 * m + p - 1)) << "p=" << p << " m=" << m;
      EXPECT_THAT(mostHeld(v), Each(Le(2 * p)));
    }
  }
}

// An order made for the durations at hand beats the one for equal durations, which is a tight fit, where it does not do
// with fewer places instead.
TEST(MakeTest, ZeroBubbleVIsMadeForDurations) {
  double ofFitted = 0, ofEqual = 0;
  for (const Durations &split : {Durations{1, 1.2, 0.8}, Durations{1, 1.5, 1}, Durations{2, 3, 1}}) {
    for (int p : {3, 4, 8}) {
      const int m = 3 * p;
      Schedule equal = made(Kind::ZeroBubbleV, p, 2, m), fitted = *make(Kind::ZeroBubbleV, p, 2, m, split);
      EXPECT_TRUE(check(fitted).ok());
      ofFitted += unitTimes(fitted, split).bubble;
      ofEqual += unitTimes(equal, split).bubble;
      EXPECT_LT(unitTimes(fitted, split).bubble, unitTimes(equal, split).bubble + 0.01) << "p=" << p;
      EXPECT_THAT(mostHeld(fitted), Each(Le(2 * p)));
    }
  }
  EXPECT_LT(ofFitted, 0.8 * ofEqual);
}

TEST(MakeTest, SaysWhatItCannotMake) {
  auto error = [](Kind kind, int stages, int chunks, int microBatches) {
    return std::string(make(kind, stages, chunks, microBatches).status().message());
  };
  EXPECT_EQ(error(Kind::GPipe, 0, 1, 1), "dist.pipeline: expected 1 or more, got 0");
  EXPECT_EQ(error(Kind::GPipe, 1, 1, 0), "micro-batches: expected 1 or more, got 0");
  EXPECT_EQ(error(Kind::OneForwardOneBackward, 2, 2, 1), "pipeline.chunks of ONE_F_ONE_B: expected 1, got 2");
  EXPECT_EQ(error(Kind::ZeroBubbleV, 2, 3, 1), "pipeline.chunks of ZERO_BUBBLE form V: expected 2, got 3");
  EXPECT_EQ(error(Kind::Interleaved, 2, 1, 1), "pipeline.chunks of INTERLEAVED: expected 2 or more, got 1");
  EXPECT_EQ(make(Kind::ZeroBubbleV, 2, 2, 1, {1, 0, 1}).status().message(), "durations: expected above 0, got 0");
}

TEST(MakeTest, TakesTheKindsChunks) {
  EXPECT_EQ(make(Kind::Interleaved, 2, 0, 4)->shape.chunks, 2);
  EXPECT_EQ(make(Kind::ZeroBubbleV, 2, 0, 4)->shape.chunks, 2);
  EXPECT_EQ(make(Kind::ZeroBubbleH1, 2, 0, 4)->shape.chunks, 1);
}

TEST(ShapeTest, PlacesChunks) {
  Shape v{3, 2, 1, ChunkMap::V}, interleaved{3, 2, 1, ChunkMap::Interleaved};
  std::vector<int> inV, inTurn;
  for (int chunk = 0; chunk < 6; ++chunk) {
    inV.push_back(v.stageOf(chunk));
    inTurn.push_back(interleaved.stageOf(chunk));
    for (const Shape &shape : {v, interleaved})
      EXPECT_EQ(shape.chunkAt(shape.stageOf(chunk), shape.localOf(chunk)), chunk);
  }
  EXPECT_THAT(inV, testing::ElementsAre(0, 1, 2, 2, 1, 0));
  EXPECT_THAT(inTurn, testing::ElementsAre(0, 1, 2, 0, 1, 2));
}

} // namespace
} // namespace weft::schedule
