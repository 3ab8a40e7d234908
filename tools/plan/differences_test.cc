#include "tools/plan/differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/plans/corpus.h"

namespace weft::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

plan::Plan Read(const std::string& name) { return plan::ReadCorpusPlan("tests/plans/" + name + ".txtpb")->plan; }

// A plan whose job and kernels say `lr`.
plan::Plan WithRate(double lr) {
  plan::Plan plan = Read("train");
  plan.mutable_header()->mutable_job()->mutable_optimizer()->mutable_adamw()->set_lr(lr);
  plan::Kernel& kernel = *plan.mutable_stages(0)->mutable_actors(0)->mutable_kernels(0);
  (*kernel.mutable_attributes())["lr"].set_float_(lr);
  plan.mutable_header()->set_hash(static_cast<uint64_t>(lr * 1e6));
  return plan;
}

TEST(Differences, SaysNothingOfTheSame) {
  plan::Plan other = Read("train");
  other.mutable_header()->set_hash(7);
  EXPECT_EQ(DifferencesText(Read("train"), other, 0), "");
}

TEST(Differences, NamesKeysOfTheJobAndParametersOfKernels) {
  const std::string text = DifferencesText(WithRate(1e-3), WithRate(3e-3), 10);
  EXPECT_THAT(text, HasSubstr("job\n  optimizer.adamw.lr: 0.001 -> 0.003\n"));
  EXPECT_THAT(text, HasSubstr(" lr: 0.001 -> 0.003 (1 kernel)\n"));
  EXPECT_THAT(text, Not(HasSubstr("hash")));
  EXPECT_THAT(text, Not(HasSubstr("cluster")));
  plan::Plan without = WithRate(1e-3);
  without.mutable_header()->mutable_job()->clear_optimizer();
  EXPECT_THAT(DifferencesText(without, WithRate(1e-3), 0), HasSubstr("  optimizer.adamw.lr: not set -> 0.001\n"));
}

TEST(Differences, BeginsWithASummaryAndEndsAtTheBound) {
  plan::Plan before = Read("pipeline"), after = Read("interleaved");
  before.mutable_prediction()->set_step_s(2);
  after.mutable_prediction()->set_step_s(1);
  const std::string text = DifferencesText(before, after, 3);
  EXPECT_THAT(text,
              testing::MatchesRegex(" +before +after\npredicted step +2.00 s +1.00 s +-50.0 %\nmemory of a rank .*"));
  EXPECT_THAT(text, HasSubstr("\nmessages a step "));
  EXPECT_THAT(text, HasSubstr("\ncollectives a step "));
  const size_t details = text.find("in detail, - before, + after\n");
  ASSERT_NE(details, std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin() + details, text.end(), '\n'), 5) << text;
  EXPECT_THAT(text, testing::EndsWith(" lines more (--lines=0: all)\n"));
  EXPECT_THAT(DifferencesText(before, after, 0), Not(HasSubstr(" lines more")));
}

TEST(Differences, AreAnObjectForPrograms) {
  const auto json = nlohmann::json::parse(DifferencesJson(WithRate(1e-3), WithRate(3e-3), 10));
  EXPECT_EQ(json["same"], false);
  EXPECT_EQ(json["before"]["step_s"], 0.0125);
  EXPECT_EQ(json["after"]["kernels"], json["before"]["kernels"]);
  EXPECT_EQ(json["job"],
            nlohmann::json::parse(R"([{"key": "optimizer.adamw.lr", "before": "0.001", "after": "0.003"}])"));
  EXPECT_EQ(json["parameters"][0]["parameter"], "lr");
  EXPECT_TRUE(json["cluster"].empty());
  const auto same = nlohmann::json::parse(DifferencesJson(Read("train"), Read("train"), 10));
  EXPECT_EQ(same["same"], true);
  EXPECT_TRUE(same["job"].empty() && same["listing"].empty());
  EXPECT_FALSE(nlohmann::json::parse(DifferencesJson(Read("pipeline"), Read("interleaved"), 3))["listing"].empty());
}

}  // namespace
}  // namespace weft::tools
