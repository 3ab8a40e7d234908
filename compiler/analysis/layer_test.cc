#include "compiler/analysis/layer.h"

#include "tests/support/analysis_fixture.h"

namespace weft::compiler {
namespace {

TEST(Layer, IsTheScopeUpToItsFirstNumber) {
  EXPECT_EQ(layerOf("h.3.attn"), "h.3");
  EXPECT_EQ(layerOf("h.3"), "h.3");
  EXPECT_EQ(layerOf("encoder.h.12.mlp.0"), "encoder.h.12");
  EXPECT_EQ(layerOf("0.a"), "0");
  EXPECT_EQ(layerOf("ln_f"), "");
  EXPECT_EQ(layerOf("h3.attn"), ""); // part of a name is no number
  EXPECT_EQ(layerOf(""), "");
}

TEST(Layer, APieceIsALayerOrTheFirstPartOfAScope) {
  EXPECT_EQ(pieceOf("h.3.attn"), "h.3");
  EXPECT_EQ(pieceOf("head.proj"), "head");
  EXPECT_EQ(pieceOf("ln_f"), "ln_f");
  EXPECT_EQ(pieceOf(""), "");
}

class LayersTest : public AnalysisTest {};

// Stage 0 has h.0 and the beginning of h.1; stage 1 has its end. Parameters, what is made of them once a step, and what
// updates them belong to no layer.
TEST_F(LayersTest, EveryLayerHasItsForwardAndItsBackwardOnEachStage) {
  graph("@g(\"x\" %x: tensor<4xf32>) placements [#weft.placement<\"cpu\", [], [0]>, #weft.placement<\"cpu\", [], [1]>]",
        R"(
  %w = weft.parameter "w" [4] init(zeros) {scope = "h.0"} : () -> tensor<4xf32>
  %c = weft.neg %w {scope = "h.0.once"} : (tensor<4xf32>) -> tensor<4xf32>
  %a = weft.add %x, %c {scope = "h.0.a"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = weft.gelu %a {scope = "h.1.b"} : (tensor<4xf32>) -> tensor<4xf32>
  %l = weft.tanh %b {scope = "ln_f"} : (tensor<4xf32>) -> tensor<4xf32>
  %d = weft.gelu %l {scope = "h.1.d", stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %e = weft.neg %d {scope = "h.1.e", phase = "backward", stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %f = weft.neg %e {scope = "h.0.f", phase = "backward"} : (tensor<4xf32>) -> tensor<4xf32>
  %g = weft.neg %f {scope = "h.0.g", phase = "weight"} : (tensor<4xf32>) -> tensor<4xf32>
  %n = weft.neg %f {scope = "h.7.n", phase = "backward"} : (tensor<4xf32>) -> tensor<4xf32>
  %s = weft.accumulate %g {scope = "h.0.s", phase = "backward"} : (tensor<4xf32>) -> tensor<4xf32>
  %t = weft.accumulate %n : (tensor<4xf32>) -> tensor<4xf32>
  %u = weft.neg %s {scope = "h.0.u", phase = "update"} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %u : (tensor<4xf32>)
)");
  llvm::SmallVector<Layer> layers = layersOf(*module->getBody()->getOps<ir::GraphOp>().begin());
  std::vector<std::string> found;
  for (const Layer &layer : layers) {
    std::string line = layer.name.str() + "@" + std::to_string(layer.stage) + ":";
    for (mlir::Operation *op : layer.forward) {
      line += " " + op->getAttrOfType<mlir::StringAttr>("scope").str();
    }
    line += " |";
    for (mlir::Operation *op : layer.backward) {
      line += " " + op->getAttrOfType<mlir::StringAttr>("scope").str();
    }
    found.push_back(line);
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"h.0@0: h.0.a | h.0.f h.0.g h.0.s", "h.1@0: h.1.b |", "h.1@1: h.1.d | h.1.e"}));
}

} // namespace
} // namespace weft::compiler
