// What cross_entropy becomes, forward and backward.
#include "gmock/gmock.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "ops/elementwise/ops.h"
#include "ops/loss/ops.h"
#include "ops/reduce/ops.h"
#include "tests/support/graph_fixture.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;

class CrossEntropyTest : public GraphFixture {
protected:
  CrossEntropyTest() {
    parse("\"logits\" %x: tensor<4x8x32xf32>, \"labels\" %l: tensor<4x8xi32>, \"dloss\" %d: tensor<f32>",
          "%loss, %count = weft.cross_entropy %x, %l ignore(7) : (tensor<4x8x32xf32>, tensor<4x8xi32>) "
          "-> (tensor<f32>, tensor<f32>)\n"
          "weft.output \"loss\" metric %loss : (tensor<f32>)\n"
          "weft.output \"count\" metric %count : (tensor<f32>)");
  }
  void decompose() {
    mlir::IRRewriter rewriter(&context);
    auto op = first<CrossEntropyOp>();
    rewriter.setInsertionPoint(op);
    ASSERT_TRUE(succeeded(op.decompose(rewriter)));
  }
};

TEST_F(CrossEntropyTest, DecomposesIntoStatisticsOfRows) {
  decompose();
  EXPECT_TRUE(valid());
  EXPECT_THAT(names(), ElementsAre("reduce", "sum_exp", "pick", "cross_entropy_loss", "output", "output"));
  auto max = first<ReduceOp>();
  auto sum = first<SumExpOp>();
  auto picked = first<PickOp>();
  auto loss = first<CrossEntropyLossOp>();
  EXPECT_EQ(max.getKind(), "max");
  EXPECT_THAT(intsOf(max.getDims()), ElementsAre(2));
  EXPECT_FALSE(max.getKeepDims());
  EXPECT_THAT(operandsOf(sum), ElementsAre(input(0), max.getResult()));
  EXPECT_THAT(operandsOf(picked), ElementsAre(input(0), input(1)));
  EXPECT_THAT(operandsOf(loss), ElementsAre(max.getResult(), sum.getResult(), picked.getResult(), input(1)));
  EXPECT_EQ(int64_t(picked.getIgnoreIndex()), 7);
  EXPECT_EQ(int64_t(loss.getIgnoreIndex()), 7);
  std::vector<OutputOp> outputs = all<OutputOp>();
  EXPECT_EQ(outputs[0].getValue(), loss.getLoss());
  EXPECT_EQ(outputs[1].getValue(), loss.getCount());
}

TEST_F(CrossEntropyTest, GradientFlowsToTheLogitsAlone) {
  ASSERT_TRUE(succeeded(gradient(first<CrossEntropyOp>(), {input(2), mlir::Value()})));
  EXPECT_TRUE(valid());
  EXPECT_THAT(names(), ElementsAre("reduce", "sum_exp", "cross_entropy", "output", "output", "cross_entropy_grad"));
  auto grad = first<CrossEntropyGradOp>();
  EXPECT_THAT(operandsOf(grad),
              ElementsAre(input(2), input(0), first<ReduceOp>().getResult(), first<SumExpOp>().getResult(), input(1)));
  EXPECT_EQ(int64_t(grad.getIgnoreIndex()), 7);
  EXPECT_THAT(operandGradients, ElementsAre(grad.getResult(), mlir::Value()));
  EXPECT_EQ(grad->getOperand(grad.getInPlaceOperands()[0]), input(0)); // the logits
}

TEST_F(CrossEntropyTest, BothDirectionsShareTheStatistics) {
  ASSERT_TRUE(succeeded(gradient(first<CrossEntropyOp>(), {input(2), mlir::Value()})));
  mlir::OpBuilder builder(&context);
  builder.setInsertionPointToEnd(&body());
  builder.create<OutputOp>(builder.getUnknownLoc(), builder.getStringAttr("dlogits"), mlir::UnitAttr(),
                           operandGradients[0]);
  decompose();
  mlir::PassManager manager(&context);
  manager.addPass(mlir::createCSEPass());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  EXPECT_EQ(all<ReduceOp>().size(), 1u);
  EXPECT_EQ(all<SumExpOp>().size(), 1u);
}

class SmoothedTest : public CrossEntropyTest {
protected:
  SmoothedTest() {
    parse("\"logits\" %x: tensor<4x8x32xf32>, \"labels\" %l: tensor<4x8xi32>, \"dloss\" %d: tensor<f32>, "
          "\"weights\" %w: tensor<4x8xf32>",
          "%loss, %count = weft.cross_entropy %x, %l weights(%w) label_smoothing(0.1) "
          ": (tensor<4x8x32xf32>, tensor<4x8xi32>, tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>)\n"
          "weft.output \"loss\" metric %loss : (tensor<f32>)");
  }
};

// With a vocabulary that is split both the logit and the mean are pending sums, and so is what is made of them.
TEST_F(SmoothedTest, PickedIsDrawnToTheMean) {
  decompose();
  EXPECT_TRUE(valid());
  EXPECT_THAT(names(), ElementsAre("reduce", "sum_exp", "pick", "reduce", "scale", "scale", "add", "cross_entropy_loss",
                                   "output"));
  auto mean = all<ReduceOp>()[1];
  auto loss = first<CrossEntropyLossOp>();
  EXPECT_EQ(mean.getKind(), "mean");
  EXPECT_THAT(intsOf(mean.getDims()), ElementsAre(2));
  std::vector<ScaleOp> scales = all<ScaleOp>();
  EXPECT_EQ(floatOf(scales[0].getFactorAttr()), 0.9);
  EXPECT_EQ(scales[0].getInput(), first<PickOp>().getResult());
  EXPECT_EQ(floatOf(scales[1].getFactorAttr()), 0.1);
  EXPECT_EQ(scales[1].getInput(), mean.getResult());
  EXPECT_EQ(loss.getPicked(), first<AddOp>().getResult());
  EXPECT_EQ(loss.getWeights(), input(3));
}

TEST_F(SmoothedTest, GradientFlowsToTheLogitsAlone) {
  ASSERT_TRUE(succeeded(gradient(first<CrossEntropyOp>(), {input(2), mlir::Value()})));
  EXPECT_TRUE(valid());
  auto grad = first<CrossEntropyGradOp>();
  EXPECT_EQ(grad.getWeights(), input(3));
  EXPECT_EQ(floatOf(grad.getLabelSmoothingAttr()), 0.1);
  EXPECT_THAT(operandGradients, ElementsAre(grad.getResult(), mlir::Value(), mlir::Value()));
}

TEST_F(CrossEntropyTest, CountHasNoGradient) {
  ASSERT_TRUE(succeeded(gradient(first<CrossEntropyOp>(), {mlir::Value(), input(2)})));
  EXPECT_THAT(operandGradients, ElementsAre(mlir::Value(), mlir::Value()));
  EXPECT_THAT(names(), ElementsAre("cross_entropy", "output", "output"));
}

} // namespace
} // namespace weft::ir
