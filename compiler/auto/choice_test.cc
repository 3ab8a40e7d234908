#include "compiler/auto/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/job/job.h"

namespace weft::compiler {
namespace {

constexpr char kJob[] = "model { file: 'm.mlir' } batch { global: 8 } cluster: 'c' graph { auto_parallel: true }";

Job jobOf(const std::vector<std::string> &overrides) { return *ParseJob(kJob, "a.job", overrides); }

Cluster clusterOf(int64_t nodes, int64_t ranks) {
  Cluster cluster;
  cluster.mutable_node()->set_count(nodes);
  cluster.mutable_node()->set_ranks(ranks);
  return cluster;
}

std::set<Choice> choicesOf(const Space &space) {
  std::set<Choice> all;
  space.forEach([&](const Choice &choice) { EXPECT_TRUE(all.insert(choice).second) << space.keysOf(choice); });
  return all;
}

// By loops over all that there could be, on four ranks.
int64_t countByHand() {
  int64_t count = 0;
  for (int64_t data : {1, 2, 4})
    for (int64_t expert : {1, 2, 4})
      for (int64_t context : {1, 2, 4})
        for (int64_t tensor : {1, 2, 4})
          for (int64_t pipeline : {1, 2, 4})
            for (int64_t micro : {1, 2, 4, 8}) {
              if (data * expert * context * tensor * pipeline > 4 || micro % data != 0)
                continue;
              // ZeRO 0; 1 to 3 over all of data or, where that is 4, over groups of 2 if the node has two ranks for it.
              const int64_t zeros = data == 1 ? 1 : data == 4 ? 1 + 3 * 2 : 4;
              // 1F1B, GPIPE, INTERLEAVED with 2 to 8 chunks, both of ZERO_BUBBLE.
              count += zeros * (pipeline == 1 ? 1 : 11);
            }
  return count;
}

TEST(ChoiceTest, TheSpaceIsWhatLoopsFind) {
  const Space space(jobOf({}), clusterOf(2, 2));
  EXPECT_EQ(int64_t(choicesOf(space).size()), countByHand());
}

TEST(ChoiceTest, KeysOfTheJobStay) {
  const Space space(jobOf({"dist.tensor=1", "dist.data=2", "zero.stage=0", "pipeline.schedule=GPIPE"}),
                    clusterOf(1, 4));
  EXPECT_EQ(space.open(),
            (std::vector<std::string>{"dist.expert", "dist.context", "dist.pipeline", "batch.micro", "batch.overlap",
                                      "zero.group", "pipeline.chunks", "recompute.policy"}));
  const std::set<Choice> choices = choicesOf(space);
  EXPECT_FALSE(choices.empty());
  for (const Choice &choice : choices) {
    EXPECT_EQ(choice.tensor, 1);
    EXPECT_EQ(choice.data, 2);
    EXPECT_EQ(choice.zero, 0);
    EXPECT_EQ(choice.schedule, GPIPE);
    EXPECT_GT(choice.pipeline, 1) << "one stage has no schedule";
  }
}

// What a key says, every choice does: nothing that is set is without a meaning.
TEST(ChoiceTest, KeysOfStagesAskForStages) {
  const auto check = [](const std::vector<std::string> &keys, const std::function<bool(const Choice &)> &holds) {
    const std::set<Choice> choices = choicesOf(Space(jobOf(keys), clusterOf(1, 8)));
    EXPECT_FALSE(choices.empty()) << keys[0];
    for (const Choice &choice : choices)
      EXPECT_TRUE(choice.pipeline > 1 && holds(choice)) << keys[0];
  };
  check({"pipeline.chunks=3"}, [](const Choice &choice) { return choice.chunks == 3; });
  check({"pipeline.form=V"}, [](const Choice &choice) { return choice.schedule == ZERO_BUBBLE && choice.form == V; });
  check({"pipeline.schedule=ZERO_BUBBLE"}, [](const Choice &choice) { return choice.form == H1; });
  check({"dist.pipeline=2", "pipeline={cuts: ['h.1', 'h.2', 'h.3']}"},
        [](const Choice &choice) { return choice.chunks == 2; });
  check({"dist.pipeline=2", "batch.micro=2", "pipeline={schedule_file: 'order.txt' chunks: 3}"},
        [](const Choice &choice) { return choice.chunks == 3; });
}

TEST(ChoiceTest, TheDefaultScheduleAsksForNothing) {
  bool one = false;
  for (const Choice &choice : choicesOf(Space(jobOf({"pipeline.schedule=ONE_F_ONE_B"}), clusterOf(1, 4)))) {
    one |= choice.pipeline == 1;
    EXPECT_EQ(choice.schedule, ONE_F_ONE_B);
  }
  EXPECT_TRUE(one);
}

TEST(ChoiceTest, AGroupOfZeroDividesTheDataRanks) {
  const std::set<Choice> choices = choicesOf(Space(jobOf({"zero={stage: 1 group: 4}"}), clusterOf(1, 8)));
  ASSERT_FALSE(choices.empty());
  for (const Choice &choice : choices)
    EXPECT_EQ(choice.data % 4, 0) << choice.data;
  for (const Choice &choice : choicesOf(Space(jobOf({"zero={group: 4}"}), clusterOf(1, 8))))
    EXPECT_GT(choice.zero, 0) << "what splits nothing has no group";
}

TEST(ChoiceTest, ASearchGoesFromMeshToMeshWithAGroupOfZero) {
  const Space space(jobOf({"zero={group: 2}"}), clusterOf(1, 8));
  const std::vector<Choice> near = space.neighbours({.data = 8, .micro = 8, .zero = 2, .group = 2});
  EXPECT_TRUE(std::any_of(near.begin(), near.end(), [](const Choice &choice) { return choice.data == 4; }));
  for (const Choice &choice : near)
    EXPECT_EQ(choice.group, 2);
}

TEST(ChoiceTest, TheKeysOfAChoiceMakeItsJob) {
  for (const std::vector<std::string> &asked :
       {std::vector<std::string>{}, {"dist.tensor=2"}, {"pipeline.schedule=INTERLEAVED"}, {"zero.stage=1"}}) {
    const Space space(jobOf(asked), clusterOf(2, 4));
    for (const Choice &choice : choicesOf(space)) {
      std::vector<std::string> keys = asked;
      keys.push_back("graph.auto_parallel=false");
      keys.push_back("recompute.policy=AUTO");
      for (absl::string_view key : absl::StrSplit(space.keysOf(choice), ' ', absl::SkipEmpty()))
        keys.push_back(std::string(key));
      const absl::StatusOr<Job> job = ParseJob(kJob, "a.job", keys);
      ASSERT_TRUE(job.ok()) << job.status() << " of " << space.keysOf(choice);
      Job made = space.jobOf(choice);
      EXPECT_TRUE(ValidateJob(made).ok());
      // A message that is there and empty says nothing.
      Job plain = *job;
      plain.clear_graph();
      made.clear_graph();
      if (plain.dist().pipeline() == 1) {
        plain.clear_pipeline();
        made.clear_pipeline();
      }
      for (Job *one : {&plain, &made}) {
        if (one->zero().ByteSizeLong() == 0)
          one->clear_zero();
      }
      ASSERT_EQ(MessageText(made), MessageText(plain)) << space.keysOf(choice);
    }
  }
}

TEST(ChoiceTest, NeighboursAndStartsAreOfTheSpace) {
  const Space space(jobOf({}), clusterOf(2, 4));
  const std::set<Choice> choices = choicesOf(space);
  std::vector<Choice> frontier = space.starts();
  ASSERT_FALSE(frontier.empty());
  std::set<Choice> reached(frontier.begin(), frontier.end());
  while (!frontier.empty()) {
    const Choice here = frontier.back();
    frontier.pop_back();
    for (const Choice &near : space.neighbours(here)) {
      EXPECT_TRUE(space.has(near)) << space.keysOf(near);
      if (reached.insert(near).second)
        frontier.push_back(near);
    }
  }
  // From any start to any choice, schedules aside.
  for (Choice choice : choices) {
    choice.schedule = ONE_F_ONE_B;
    choice.form = H1;
    choice.chunks = 1;
    EXPECT_TRUE(reached.count(choice)) << space.keysOf(choice);
  }
}

// 2,520 ranks: 63 stages and 5 data ranks have no common factor to give for 45 and 7.
TEST(ChoiceTest, AxesExchangeFactors) {
  const Space space(jobOf({"batch={global: 2520}"}), clusterOf(315, 8));
  Choice here, there;
  here.data = here.micro = 5;
  here.tensor = there.tensor = 8;
  here.pipeline = 63;
  there.data = there.micro = 15;
  there.pipeline = 21;
  const auto has = [&](const Choice &from, const Choice &to) {
    const std::vector<Choice> near = space.neighbours(from);
    return std::find(near.begin(), near.end(), to) != near.end();
  };
  EXPECT_TRUE(has(here, there)) << "a factor of 3";
  there.data = there.micro = 7;
  there.pipeline = 45;
  EXPECT_TRUE(has(here, there)) << "7 for 5";
  EXPECT_TRUE(has(there, here)) << "5 for 7";
}

TEST(ChoiceTest, AStartHasStagesAndDataRanksAlone) {
  const std::vector<Choice> starts = Space(jobOf({"batch={global: 3072}"}), clusterOf(384, 8)).starts();
  EXPECT_TRUE(std::any_of(starts.begin(), starts.end(), [](const Choice &start) {
    return start.pipeline == 64 && start.tensor == 8 && start.data == 6 && start.micro == 6;
  }));
}

TEST(ChoiceTest, AClosedAxisIsOne) {
  Space space(jobOf({}), clusterOf(1, 4));
  space.close("dist.expert");
  for (const Choice &choice : choicesOf(space))
    EXPECT_EQ(choice.expert, 1);
}

} // namespace
} // namespace weft::compiler
