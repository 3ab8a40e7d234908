// The gradient of dropout drops the same elements.
#include "gmock/gmock.h"
#include "ops/dropout/ops.h"
#include "tests/support/graph_fixture.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;

class DropoutTest : public GraphFixture {
protected:
  void parseDropout(const std::string &attributes) {
    parse("\"x\" %x: tensor<4xf32>, \"dy\" %d: tensor<4xf32>",
          "%y = weft.dropout %x " + attributes + " : (tensor<4xf32>) -> tensor<4xf32>");
  }
};

TEST_F(DropoutTest, GradientHasTheSameSeedAndRate) {
  parseDropout("rate(0.25) seed(7)");
  ASSERT_TRUE(succeeded(gradient(first<DropoutOp>(), {input(1)})));
  EXPECT_TRUE(valid());
  DropoutOp backward = all<DropoutOp>().at(1);
  EXPECT_EQ(backward.getInput(), input(1));
  EXPECT_EQ(backward.getSeed(), 7u);
  EXPECT_EQ(floatOf(backward.getRate()), 0.25);
  EXPECT_THAT(operandGradients, ElementsAre(backward.getResult()));
}

TEST_F(DropoutTest, WithoutASeedThereIsNoGradient) {
  parseDropout("rate(0.25)");
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    message = diagnostic.str();
    return mlir::success();
  });
  EXPECT_TRUE(failed(gradient(first<DropoutOp>(), {input(1)})));
  EXPECT_THAT(message, ::testing::HasSubstr("seed: expected one before differentiation"));
}

TEST_F(DropoutTest, OverwritesItsOperand) {
  parseDropout("rate(0.25) seed(7)");
  EXPECT_THAT(first<DropoutOp>().getInPlaceOperands(), ElementsAre(0));
}

} // namespace
} // namespace weft::ir
