#include "runtime/show/decision.h"

#include <google/protobuf/text_format.h>

#include "gtest/gtest.h"

namespace weft::plan {
namespace {

TEST(DecisionTest, SaysWhatWasChosenAndWhatOthersLoseBy) {
  Decision decision;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
    considered: 12000 dropped_by_bound: 11000 impossible: 100 estimated: 400 dropped_by_memory: 30 unseen: 500
    compiled: 4 bound_s: 0.08 gap: 0.25 ended: "gap"
    best { keys: "dist.data=8" step_s: 0.1 compute_s: 0.09 exposed_comm_s: 0.01 }
    best { keys: "dist.data=4 dist.tensor=2" step_s: 0.11 compute_s: 0.09 exposed_comm_s: 0.02 }
    best { keys: "dist.pipeline=8" step_s: 0.15 compute_s: 0.09 waiting_s: 0.06 }
    best { keys: "dist.tensor=8" step_s: 0.2 compute_s: 0.15 exposed_comm_s: 0.05 })",
                                                            &decision));
  EXPECT_EQ(DecisionText(decision),
            "chosen: dist.data=8\n"
            "  25.0 % above 80.0 ms, which no layout beats; the search ended: gap\n"
            "  of 12,000 layouts 11,000 can be no faster, 100 are impossible, 400 estimated (30 too large), 500 not "
            "looked at; 4 compiled\n"
            "  +10.0 %   dist.data=4 dist.tensor=2  10.0 ms more exposed communication\n"
            "  +50.0 %   dist.pipeline=8            60.0 ms more waiting\n"
            "  +100.0 %  dist.tensor=8              60.0 ms more computation\n");
}

TEST(DecisionTest, IsEmptyWhereNothingWasChosen) { EXPECT_EQ(DecisionText(Decision()), ""); }

}  // namespace
}  // namespace weft::plan
