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
    best { keys: "dist.data=4 dist.tensor=2" step_s: 0.11 compute_s: 0.085 exposed_comm_s: 0.02 waiting_s: 0.005 }
    best { keys: "dist.pipeline=8" step_s: 0.15 compute_s: 0.09 waiting_s: 0.06 }
    best { keys: "dist.tensor=8" step_s: 0.2 compute_s: 0.15 exposed_comm_s: 0.05 }
    memory_bytes: 1073741824
    refused { keys: "dist.data=8 zero.stage=0" step_s: 0.09 bytes: 2147483648 }
    refused { keys: "batch.micro=16" step_s: 0.095 bytes: 1074790400 compute_s: 0.095 }
    refused { keys: "zero.stage=3" step_s: 0.097 bytes: 1024 full_tier: "host" tier_lacks_bytes: 2147483648 })",
                                                            &decision));
  EXPECT_EQ(
      DecisionText(decision),
      "chosen: dist.data=8\n"
      "  25.0 % above 80.0 ms, which no layout beats; the search ended: gap\n"
      "  of 12,000 layouts 11,000 can be no faster, 100 are impossible, 400 estimated (30 too large), 500 not "
      "looked at; 4 compiled\n"
      "  the next best, and what they take more, of which computation, exposed communication and waiting\n"
      "                  step  computation   exposed   waiting  loses by\n"
      "     +10.0 %  +10.0 ms     -5.00 ms  +10.0 ms  +5.00 ms  exposed communication  dist.data=4 dist.tensor=2\n"
      "     +50.0 %  +50.0 ms          0 s  -10.0 ms  +60.0 ms  waiting                dist.pipeline=8\n"
      "    +100.0 %   +100 ms     +60.0 ms  +40.0 ms       0 s  computation            dist.tensor=8\n"
      "  faster, but not within the 1.00 GiB of memory\n"
      "    -10.0 %                  1.00 GiB too large  estimated  dist.data=8 zero.stage=0\n"
      "     -5.0 %                  1.00 MiB too large             batch.micro=16\n"
      "     -3.0 %  2.00 GiB too large for tier `host`  estimated  zero.stage=3\n");
}

TEST(DecisionTest, TheLossAddsUpToTheStep) {
  Alternative best, other;
  best.set_step_s(0.1);
  best.set_compute_s(0.07);
  best.set_exposed_comm_s(0.02);
  best.set_waiting_s(0.01);
  other.set_step_s(0.13);
  other.set_compute_s(0.06);
  other.set_exposed_comm_s(0.03);
  other.set_waiting_s(0.04);
  const Loss loss = LossOf(best, other);
  EXPECT_DOUBLE_EQ(loss.step_s, loss.compute_s + loss.exposed_comm_s + loss.waiting_s);
  EXPECT_NEAR(loss.step_s, 0.03, 1e-12);
  EXPECT_NEAR(loss.compute_s, -0.01, 1e-12);
  EXPECT_NEAR(loss.waiting_s, 0.03, 1e-12);
  EXPECT_EQ(loss.most, "waiting");
  EXPECT_EQ(LossOf(best, best).most, "") << "nothing is lost";
}

TEST(DecisionTest, IsEmptyWhereNothingWasChosen) { EXPECT_EQ(DecisionText(Decision()), ""); }

}  // namespace
}  // namespace weft::plan
