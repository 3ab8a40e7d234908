#include "tools/plan/joined.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "runtime/plan/program.h"
#include "tools/plan/joined_plan.h"

namespace weft::tools {
namespace {

class JoinedTest : public testing::Test {
 protected:
  JoinedTest() { EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kJoinedPlan, &plan_)); }

  Scope Of(const std::string& name) { return *Scope::Find(plan::ProgramsOf(plan_), name); }

  plan::Plan plan_;
};

TEST_F(JoinedTest, SaysOfEachKernelWhatItJoinsAndWhatItDoesNot) {
  const nlohmann::ordered_json joined = JoinedJson(plan_, Of("forward"));
  ASSERT_EQ(joined.size(), 2u) << joined << ": the product has code of its own";
  EXPECT_EQ(joined[0]["kernel"], "forward/1");
  EXPECT_EQ(joined[0]["name"], "add+gelu");
  ASSERT_EQ(joined[0]["operators"].size(), 2u);
  EXPECT_EQ(joined[0]["operators"][0]["name"], "add");
  EXPECT_EQ(joined[0]["operators"][1]["location"], "l.mlir:3:4 in h.0.mlp");
  ASSERT_EQ(joined[0]["before"].size(), 1u) << joined;
  EXPECT_EQ(joined[0]["before"][0]["other"], "einsum");
  EXPECT_EQ(joined[0]["before"][0]["reason"], "registered");
  ASSERT_EQ(joined[0]["behind"].size(), 1u) << joined;
  EXPECT_EQ(joined[0]["behind"][0]["other"], "cast");
  EXPECT_EQ(joined[0]["behind"][0]["reason"], "unit");
  EXPECT_EQ(joined[0]["behind"][0]["tensors"], std::vector<std::string>{"h.0.mlp/s"});
  EXPECT_EQ(joined[1]["kernel"], "forward/2");
  ASSERT_EQ(joined[1]["before"].size(), 1u) << joined;
  EXPECT_EQ(joined[1]["before"][0]["other"], "add+gelu");
  EXPECT_EQ(joined[1]["before"][0]["text"], joined[0]["behind"][0]["text"]);
}

TEST_F(JoinedTest, OfAPartOrABufferWhatItHas) {
  EXPECT_EQ(JoinedJson(plan_, Of("")).size(), 0u) << "of the whole plan nothing";
  const nlohmann::ordered_json kernel = JoinedJson(plan_, Of("forward/2"));
  ASSERT_EQ(kernel.size(), 1u);
  EXPECT_EQ(kernel[0]["name"], "cast");
  const nlohmann::ordered_json layer = JoinedJson(plan_, Of("h.0.mlp"));
  ASSERT_EQ(layer.size(), 1u) << "an operator of it, among others";
  EXPECT_EQ(layer[0]["name"], "add+gelu");
  const nlohmann::ordered_json parameter = JoinedJson(plan_, Of("p"));
  ASSERT_FALSE(parameter.empty());
  for (const nlohmann::ordered_json& it : parameter) {
    EXPECT_TRUE(it["behind"].empty()) << it << ": p is before it";
  }
}

TEST_F(JoinedTest, SaysTheSameToPeople) {
  const std::string text = JoinedText(plan_, Of("forward"));
  EXPECT_NE(text.find("  forward/1 joins add of h.0 (m.mlir:5), gelu of h.0.mlp (l.mlir:3)\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  forward/2 is cast\n    not before it add+gelu"), std::string::npos) << text;
}

}  // namespace
}  // namespace weft::tools
