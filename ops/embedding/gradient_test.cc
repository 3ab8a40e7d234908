// What the gradient of an embedding builds, and what the ops cost.
#include "gmock/gmock.h"
#include "ops/embedding/ops.h"
#include "tests/support/graph_fixture.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;

class EmbeddingTest : public GraphFixture {
protected:
  EmbeddingTest() {
    parse("\"ids\" %i: tensor<2x3xi32>, \"table\" %t: tensor<256x4xf32>, \"dout\" %d: tensor<2x3x4xf32>",
          "%out = weft.embedding %i, %t : (tensor<2x3xi32>, tensor<256x4xf32>) -> tensor<2x3x4xf32>");
  }
};

TEST_F(EmbeddingTest, GradientFlowsToTheTableAlone) {
  ASSERT_TRUE(succeeded(gradient(first<EmbeddingOp>(), {input(2)})));
  EXPECT_TRUE(valid());
  auto grad = first<EmbeddingGradOp>();
  EXPECT_THAT(operandsOf(grad), ElementsAre(input(0), input(2)));
  EXPECT_EQ(grad.getVocab(), 256u);
  EXPECT_EQ(grad.getType(), input(1).getType());
  EXPECT_THAT(operandGradients, ElementsAre(mlir::Value(), grad.getResult()));
}

TEST_F(EmbeddingTest, CostFollowsTheRowsThatAreRead) {
  auto op = first<EmbeddingOp>();
  Cost cost = op.getCost({tensorOf(input(0)), tensorOf(input(1))}, {tensorOf(op.getResult())});
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes, 4.0 * (6 + 2 * 24));
}

} // namespace
} // namespace weft::ir
