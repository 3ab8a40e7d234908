// What attention's gradient builds, what its kernels are told, and what they cost.
#include <cmath>

#include "gmock/gmock.h"
#include "ops/attention/ops.h"
#include "tests/support/graph_fixture.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;

class AttentionTest : public GraphFixture {
protected:
  // Two query heads to a key head.
  void parseAttention(const std::string &attributes) {
    parse("\"q\" %q: tensor<2x8x6x4xf32>, \"k\" %k: tensor<2x10x3x4xf32>, \"v\" %v: tensor<2x10x3x4xf32>, "
          "\"dout\" %d: tensor<2x8x6x4xf32>",
          "%out = weft.attention %q, %k, %v " + attributes +
              " {stage = 0 : i64} : (tensor<2x8x6x4xf32>, tensor<2x10x3x4xf32>, tensor<2x10x3x4xf32>) -> "
              "tensor<2x8x6x4xf32>\n"
              "weft.output \"out\" %out : (tensor<2x8x6x4xf32>)");
  }
  mlir::NamedAttrList kernelAttributes(WeftOpInterface op) {
    mlir::NamedAttrList attributes;
    op.getKernelAttributes(attributes);
    return attributes;
  }
  Cost cost(WeftOpInterface op) {
    llvm::SmallVector<mlir::RankedTensorType> operands = llvm::map_to_vector(op->getOperands(), tensorOf);
    llvm::SmallVector<mlir::RankedTensorType> results = llvm::map_to_vector(op->getResults(), tensorOf);
    return op.getCost(operands, results);
  }
};

TEST_F(AttentionTest, GradientAsksTheForwardOpForItsLse) {
  parseAttention("causal scale(0.125)");
  ASSERT_TRUE(succeeded(gradient(first<AttentionOp>(), {input(3)})));
  EXPECT_TRUE(valid());
  EXPECT_THAT(names(), ElementsAre("attention", "output", "attention_grad"));
  auto forward = first<AttentionOp>();
  auto backward = first<AttentionGradOp>();
  ASSERT_TRUE(bool(forward.getSaved()));
  EXPECT_THAT(shapeOf(forward.getSaved()), ElementsAre(2, 6, 8));
  EXPECT_TRUE(forward->hasAttr("stage"));
  EXPECT_TRUE(forward.getCausal());
  EXPECT_EQ(first<OutputOp>().getValue(), forward.getOut());
  EXPECT_THAT(operandsOf(backward),
              ElementsAre(input(3), input(0), input(1), input(2), forward.getOut(), forward.getSaved()));
  EXPECT_TRUE(backward.getCausal());
  EXPECT_EQ(backward.getScaleAttr(), forward.getScaleAttr());
  EXPECT_THAT(operandGradients, ElementsAre(backward.getDq(), backward.getDk(), backward.getDv()));
}

TEST_F(AttentionTest, GradientKeepsAForwardOpThatHasItsLse) {
  parseAttention("");
  ASSERT_TRUE(succeeded(gradient(first<AttentionOp>(), {input(3)})));
  auto forward = first<AttentionOp>();
  ASSERT_TRUE(succeeded(gradient(forward, {input(3), mlir::Value()})));
  EXPECT_EQ(first<AttentionOp>(), forward);
  EXPECT_THAT(names(), ElementsAre("attention", "output", "attention_grad", "attention_grad"));
}

TEST_F(AttentionTest, KernelsAreToldWhetherCausalAndTheScale) {
  parseAttention("");
  ASSERT_TRUE(succeeded(gradient(first<AttentionOp>(), {input(3)})));
  for (WeftOpInterface op : {WeftOpInterface(first<AttentionOp>()), WeftOpInterface(first<AttentionGradOp>())}) {
    mlir::NamedAttrList attributes = kernelAttributes(op);
    EXPECT_EQ(attributes.getAttrs().size(), 2u);
    EXPECT_EQ(intOf(attributes.get("causal")), 0);
    EXPECT_EQ(floatOf(attributes.get("scale")), 0.5); // 1 / sqrt(4)
  }
  parseAttention("causal scale(3)");
  mlir::NamedAttrList attributes = kernelAttributes(first<AttentionOp>());
  EXPECT_EQ(intOf(attributes.get("causal")), 1);
  EXPECT_EQ(floatOf(attributes.get("scale")), 3);
}

TEST_F(AttentionTest, CostsTwoProductsForwardAndFiveBackward) {
  parseAttention("");
  ASSERT_TRUE(succeeded(gradient(first<AttentionOp>(), {input(3)})));
  const double product = 2.0 * 2 * 6 * 8 * 10 * 4; // 2 b n s t d
  EXPECT_EQ(cost(first<AttentionOp>()).flops, 2 * product);
  EXPECT_EQ(cost(first<AttentionGradOp>()).flops, 5 * product);
  EXPECT_TRUE(cost(first<AttentionOp>()).contraction);
  EXPECT_EQ(cost(first<AttentionOp>()).bytes, 4.0 * (2 * 2 * 8 * 6 * 4 + 2 * 2 * 10 * 3 * 4 + 2 * 6 * 8));
  parseAttention("causal");
  EXPECT_DOUBLE_EQ(cost(first<AttentionOp>()).flops, 2 * product * 6 / 10); // 8 rows at the end of 10 keys
}

// The gradient of a bias is an op of its own, which nothing else needs.
TEST_F(AttentionTest, TheBiasHasAGradientAndTheMaskHasNone) {
  parse("\"q\" %q: tensor<2x8x6x4xf32>, \"k\" %k: tensor<2x10x3x4xf32>, \"dout\" %d: tensor<2x8x6x4xf32>, "
        "\"bias\" %bias: tensor<1x6x8x10xf32>, \"mask\" %mask: tensor<2x1x1x10xi8>",
        "%out = weft.attention %q, %k, %k bias(%bias) mask(%mask) causal window(4) : (tensor<2x8x6x4xf32>, "
        "tensor<2x10x3x4xf32>, tensor<2x10x3x4xf32>, tensor<1x6x8x10xf32>, tensor<2x1x1x10xi8>) -> "
        "tensor<2x8x6x4xf32>");
  ASSERT_TRUE(succeeded(gradient(first<AttentionOp>(), {input(2)})));
  EXPECT_TRUE(valid());
  EXPECT_THAT(names(), ElementsAre("attention", "attention_grad", "attention_bias_grad"));
  auto forward = first<AttentionOp>();
  auto backward = first<AttentionGradOp>();
  auto ofBias = first<AttentionBiasGradOp>();
  EXPECT_THAT(operandGradients,
              ElementsAre(backward.getDq(), backward.getDk(), backward.getDv(), ofBias.getDbias(), mlir::Value()));
  EXPECT_THAT(operandsOf(backward), ElementsAre(input(2), input(0), input(1), input(1), forward.getOut(),
                                                forward.getSaved(), input(3), input(4)));
  EXPECT_EQ(operandsOf(ofBias), operandsOf(backward));
  EXPECT_EQ(ofBias.getDbias().getType(), input(3).getType());
  for (WeftOpInterface op : {WeftOpInterface(forward), WeftOpInterface(backward), WeftOpInterface(ofBias)}) {
    mlir::NamedAttrList attributes = kernelAttributes(op);
    EXPECT_EQ(attributes.getAttrs().size(), 3u);
    EXPECT_EQ(intOf(attributes.get("window")), 4);
    EXPECT_EQ(intOf(attributes.get("causal")), 1);
  }
}

TEST_F(AttentionTest, CostFollowsTheWindow) {
  const auto flops = [&](const std::string &attributes) {
    parseAttention(attributes);
    EXPECT_TRUE(succeeded(gradient(first<AttentionOp>(), {input(3)})));
    return cost(first<AttentionOp>()).flops;
  };
  const double pair = 2.0 * 2 * 2 * 6 * 8 * 4; // both products, one key a row
  EXPECT_EQ(flops(""), 10 * pair);
  // The 8 rows are the last ones of 10: the first of them sees 3 keys.
  EXPECT_EQ(flops("causal"), 6 * pair);
  EXPECT_EQ(flops("causal window(10)"), 6 * pair);
  EXPECT_EQ(flops("causal window(4)"), 3.75 * pair); // two rows see 3 on average
  // In blocks of 4 rows and 5 keys: those of the block itself, then the second half of the rows those of the first
  // block.
  EXPECT_EQ(flops("causal block(0) blocks(2)"), 3 * pair);
  EXPECT_EQ(flops("causal block(1) blocks(2)"), 2.5 * pair);
  EXPECT_EQ(flops("block(1) blocks(2)"), 5 * pair);
  EXPECT_EQ(flops("causal window(4) unfused"), 10 * pair);
}

TEST_F(AttentionTest, UnfusedStoresItsWeights) {
  parseAttention("causal unfused");
  ASSERT_TRUE(succeeded(gradient(first<AttentionOp>(), {input(3)})));
  EXPECT_TRUE(valid());
  auto forward = first<AttentionOp>();
  auto backward = first<AttentionGradOp>();
  ASSERT_TRUE(bool(forward.getSaved()));
  EXPECT_THAT(shapeOf(forward.getSaved()), ElementsAre(2, 6, 8, 10));
  EXPECT_EQ(backward.getSaved(), forward.getSaved());
  EXPECT_TRUE(backward.getUnfused());
  EXPECT_EQ(forward.getKernelName(), "attention_unfused");
  EXPECT_EQ(backward.getKernelName(), "attention_unfused_grad");
  EXPECT_EQ(kernelAttributes(forward).getAttrs().size(), 2u);
  const double product = 2.0 * 2 * 6 * 8 * 10 * 4, scores = 4.0 * 2 * 6 * 8 * 10; // masked pairs too
  const double q = 4.0 * 2 * 8 * 6 * 4, k = 4.0 * 2 * 10 * 3 * 4;
  EXPECT_EQ(cost(forward).flops, 2 * product);
  EXPECT_EQ(cost(forward).bytes, 2 * q + 2 * k + 4 * scores);
  EXPECT_EQ(cost(backward).flops, 4 * product);
  EXPECT_EQ(cost(backward).bytes, 4 * q + 4 * k + 7 * scores);
}

} // namespace
} // namespace weft::ir
