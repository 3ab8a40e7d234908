// What is decided for a layer does not depend on how many layers there are: collectives and predicted seconds of a step
// grow by the same for each layer.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/plan/machine.h"
#include "runtime/sim/simulate.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

struct Step {
  std::map<int, int> collectives;  // by kind
  double seconds = 0;
};

Step StepOf(int layers, const std::vector<std::string>& more) {
  std::vector<std::string> overrides = {"batch={global: 512 micro: 512}", absl::StrCat("model.set=layers=", layers)};
  overrides.insert(overrides.end(), more.begin(), more.end());
  const absl::StatusOr<plan::Plan> plan = CompileJob("models/gpt2/345m.job", overrides, "clusters/8xh200.cluster");
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  Step step;
  for (const plan::Actor& actor : plan->stages(0).actors()) {
    for (const plan::Collective& it : actor.collectives()) ++step.collectives[it.kind()];
  }
  const absl::StatusOr<sim::Report> report = sim::Simulate(*plan, plan::MachineOf(*plan));
  EXPECT_TRUE(report.ok()) << report.status();
  if (report.ok()) step.seconds = report->step_s;
  return step;
}

class LayersTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(LayersTest, EachCostsTheSame) {
  const Step eight = StepOf(8, GetParam()), sixteen = StepOf(16, GetParam());
  for (const int layers : {24, 48}) {
    SCOPED_TRACE(absl::StrCat(layers, " layers"));
    const Step many = StepOf(layers, GetParam());
    ASSERT_EQ(many.collectives.size(), eight.collectives.size());
    for (const auto& [kind, count] : eight.collectives) {
      EXPECT_EQ(8 * (many.collectives.at(kind) - count), (layers - 8) * (sixteen.collectives.at(kind) - count))
          << "kind " << kind;
    }
    // Bundles do not end with layers, so that a step may be a little off the line.
    const double each = (sixteen.seconds - eight.seconds) / 8;
    EXPECT_NEAR(many.seconds / (eight.seconds + (layers - 8) * each), 1, 0.03);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, LayersTest,
                         testing::Values(std::vector<std::string>{"dist.data=64"},
                                         std::vector<std::string>{"dist.data=64", "precision.compute=BF16"},
                                         std::vector<std::string>{"dist.data=8", "dist.tensor=8", "zero.stage=1"}));

}  // namespace
}  // namespace weft::tests
