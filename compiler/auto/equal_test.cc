// What ZeRO makes one plan of is one choice.
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/auto/choice.h"
#include "compiler/auto/decide.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/candidates.h"
#include "compiler/pipeline/model_source.h"

namespace weft::compiler {
namespace {

constexpr char kJob[] = "models/gpt2/small.job";

// GPT-2 with two small layers on two nodes of four ranks, which split the batch.
CompileOptions optionsOf(std::vector<std::string> keys) {
  const std::vector<std::string> all = {"graph.auto_parallel=true",
                                        "cluster=any",
                                        "batch={global: 8}",
                                        "model.set=layers=2",
                                        "model.set=hidden=64",
                                        "model.set=heads=4",
                                        "model.set=seq=64",
                                        "model.set=positions=64",
                                        "dist.tensor=1",
                                        "dist.context=1",
                                        "dist.expert=1",
                                        "dist.pipeline=1"};
  keys.insert(keys.begin(), all.begin(), all.end());
  CompileOptions options;
  options.job = *LoadJob(kJob, keys);
  options.jobFile = kJob;
  options.cluster = *LoadCluster("clusters/8xh200.cluster", {"cluster.node.count=2", "cluster.node.ranks=4"});
  return options;
}

std::string stagesOf(const plan::Plan &plan) {
  std::string text;
  for (const plan::Stage &stage : plan.stages())
    absl::StrAppend(&text, stage.DebugString());
  return text;
}

class EqualTest : public testing::TestWithParam<const char *> {};

TEST_P(EqualTest, NoTwoChoicesAreOnePlan) {
  const CompileOptions options = optionsOf({GetParam()});
  const Job job = LocateJob(options.job, kJob);
  const std::unique_ptr<ModelSource> source = *ModelSource::read(job);
  Candidates candidates(source->module(), options.cluster);
  const Space space(job, options.cluster);
  std::map<std::string, std::string> seen; // keys, by plan
  space.forEach([&](const Choice &choice) {
    const absl::StatusOr<plan::Plan> plan = candidates.planFor(space.jobOf(choice));
    ASSERT_TRUE(plan.ok()) << space.keysOf(choice) << ": " << plan.status();
    const auto [it, isNew] = seen.try_emplace(stagesOf(*plan), space.keysOf(choice));
    EXPECT_TRUE(isNew) << it->second << " and " << space.keysOf(choice);
  });
  EXPECT_GT(seen.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Keys, EqualTest,
                         testing::Values("zero={}", "zero={group: 4}", "zero={group: 1}", "zero={stage: 2}",
                                         "optimizer={sgd {lr: 0.1}}"));

// A function has no state.
TEST(FunctionTest, ZeroSplitsNothingOfAFunction) {
  for (const bool isFunction : {false, true}) {
    const CompileOptions options = optionsOf({isFunction ? "model.graph=logits" : "model.graph=train"});
    const absl::StatusOr<Decided> found = decide(options, {});
    ASSERT_TRUE(found.ok()) << found.status();
    Space space(LocateJob(options.job, kJob), options.cluster);
    int64_t choices = 0;
    space.forEach([&](const Choice &choice) { choices += !isFunction || choice.zero == 0; });
    EXPECT_EQ(found->plan.header().decision().considered(), choices);
    for (const plan::Alternative &it : found->plan.header().decision().best())
      EXPECT_FALSE(isFunction && absl::StrContains(it.keys(), "zero.")) << it.keys();
  }
}

} // namespace
} // namespace weft::compiler
