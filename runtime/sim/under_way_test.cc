#include "runtime/sim/under_way.h"

#include "gtest/gtest.h"
#include "tests/fixtures/pipeline_plans.h"

namespace weft::sim {
namespace {

class UnderWayTest : public testing::Test {
 protected:
  const plan::Plan plan_ = Pipeline(OneFOneB(2, 1), 1);
  const std::vector<plan::Program> programs_ = plan::ProgramsOf(plan_);
  plan::Machine machine_;
};

TEST_F(UnderWayTest, KernelsAndCollectivesOfARankSlowEachOtherDown) {
  machine_.product_slowdown = 2;
  machine_.collective_slowdown = 3;
  UnderWay acts(programs_, machine_);
  acts.Add({.begin_s = 0, .end_s = 4, .kernels = true});
  acts.Add({.stream = 1, .begin_s = 1, .end_s = 2, .collective = true});
  acts.Add({.stage = 1, .begin_s = 1, .end_s = 3.5, .kernels = true});
  EXPECT_EQ(acts.Pop().end_s, 3.5) << "another rank's";
  EXPECT_EQ(acts.Pop().end_s, 4) << "three times as long as alone, from 1 on";
  EXPECT_EQ(acts.Pop().end_s, 5.5) << "1 alone, 1.5 in the 3 beside it, 1.5 alone";
}

TEST_F(UnderWayTest, WithoutFactorsTheyDoNot) {
  UnderWay acts(programs_, machine_);
  acts.Add({.begin_s = 0, .end_s = 4, .kernels = true});
  acts.Add({.stream = 1, .begin_s = 1, .end_s = 2, .collective = true});
  EXPECT_EQ(acts.Pop().end_s, 2);
  EXPECT_EQ(acts.Pop().end_s, 4);
}

}  // namespace
}  // namespace weft::sim
