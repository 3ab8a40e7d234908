#include "runtime/plan/joins.h"

#include <gtest/gtest.h>

#include <set>

#include "runtime/plan/apart.h"

namespace weft::plan {
namespace {

TEST(JoinsTest, OperatorsComeBack) {
  Kernel kernel;
  kernel.set_name("add+gelu");
  kernel.set_location("gpt2.mlir:31:8 in h.3.mlp");
  SetOperators({{"gelu", "other.mlir:1:1"}}, &kernel);
  EXPECT_EQ(kernel.attributes_size(), 0) << "of one, the kernel says all";
  ASSERT_EQ(OperatorsOf(kernel).size(), 1u);
  EXPECT_EQ(OperatorsOf(kernel)[0].name, "add+gelu");
  EXPECT_EQ(OperatorsOf(kernel)[0].location, "gpt2.mlir:31:8 in h.3.mlp");
  SetOperators({{"add", "gpt2.mlir:30:8 in h.3.mlp.c_fc"}, {"cast", ""}, {"gelu", "in h.3.mlp"}}, &kernel);
  const std::vector<Operator> operators = OperatorsOf(kernel);
  ASSERT_EQ(operators.size(), 3u);
  EXPECT_EQ(operators[0].name, "add");
  EXPECT_EQ(operators[0].location, "gpt2.mlir:30:8 in h.3.mlp.c_fc");
  EXPECT_EQ(operators[1].name, "cast");
  EXPECT_EQ(operators[1].location, "");
  EXPECT_EQ(operators[2].location, "in h.3.mlp");
}

TEST(JoinsTest, ReasonsComeBackAndWhatIsNoneIsLeftOut) {
  Kernel kernel;
  for (int i = 0; i < 12; ++i) kernel.add_inputs(i);
  SetApart({}, &kernel);
  EXPECT_EQ(kernel.attributes_size(), 0);
  SetApart({{0, "unit"}, {11, "sum"}}, &kernel);
  ASSERT_EQ(ApartOf(kernel).size(), 2u);
  EXPECT_EQ(ApartOf(kernel)[1].input, 11);
  EXPECT_EQ(ApartOf(kernel)[1].reason, "sum");
  (*kernel.mutable_attributes())[kApart].set_string("12 unit, -1 unit, x unit, 3, 4 new");
  ASSERT_EQ(ApartOf(kernel).size(), 2u) << "the plan may be anybody's";
  EXPECT_EQ(ApartOf(kernel)[0].input, 3);
  EXPECT_EQ(ReasonText(ApartOf(kernel)[1].reason), "new");
}

TEST(JoinsTest, EachReasonHasANameAndAText) {
  std::set<std::string> names, texts;
  for (const ApartFacts& facts : kApartFacts) {
    EXPECT_EQ(std::string(facts.name).find_first_of(", "), std::string::npos) << facts.name;
    EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
    EXPECT_TRUE(texts.insert(facts.text).second) << facts.text;
    EXPECT_EQ(ReasonText(facts.name), facts.text);
  }
}

}  // namespace
}  // namespace weft::plan
