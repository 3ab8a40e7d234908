// Gradients of the vocabulary: for every differentiable op of a module, buildGradient gives each floating-point
// operand a gradient of its type, from ops that verify. What they compute is tested with the kernels.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "ops/dialect/weft.h"
#include "ops/register.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;

class GradientTest : public ::testing::Test {
protected:
  GradientTest() {
    mlir::DialectRegistry registry;
    registerWeftDialect(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
    context_.allowUnregisteredDialects();
  }

  // Differentiates the last op of `body`. Returns the mnemonics of what stands behind it then.
  std::vector<std::string> differentiate(const std::string &body) {
    module_ = mlir::parseSourceString<mlir::ModuleOp>(body, mlir::ParserConfig(&context_));
    EXPECT_TRUE(module_) << body;
    if (!module_) {
      return {};
    }
    mlir::Operation *op = &module_->getBody()->back();
    llvm::SmallVector<mlir::Value> operands(op->getOperands());
    mlir::IRRewriter builder(&context_);
    builder.setInsertionPointToEnd(module_->getBody());
    llvm::SmallVector<mlir::Value> incoming, gradients;
    for (mlir::Type type : op->getResultTypes()) {
      mlir::OperationState state(op->getLoc(), "test.gradient");
      state.addTypes(type);
      incoming.push_back(builder.create(state)->getResult(0));
    }
    mlir::Operation *first = incoming.front().getDefiningOp();
    EXPECT_TRUE(succeeded(llvm::cast<DifferentiableOpInterface>(op).buildGradient(builder, incoming, gradients)));
    EXPECT_EQ(gradients.size(), operands.size());
    for (auto [operand, gradient] : llvm::zip(operands, gradients)) {
      if (gradient) {
        EXPECT_EQ(gradient.getType(), operand.getType());
      }
    }
    EXPECT_TRUE(succeeded(mlir::verify(*module_)));
    defined_.clear();
    for (mlir::Value gradient : gradients) {
      defined_.push_back(bool(gradient));
    }
    std::vector<std::string> mnemonics;
    for (mlir::Operation *next = first->getNextNode(); next; next = next->getNextNode()) {
      mnemonics.push_back(next->getName().stripDialect().str());
    }
    return mnemonics;
  }

  // The op before the incoming gradients: the forward op, or what replaced it.
  mlir::Operation *forward() {
    for (mlir::Operation &op : *module_->getBody()) {
      if (op.getName().getStringRef() == "test.gradient") {
        return op.getPrevNode();
      }
    }
    return nullptr;
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::vector<bool> defined_; // which operands have a gradient
};

TEST_F(GradientTest, Unary) {
  for (const char *op : {"neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "square", "relu", "silu", "gelu",
                         "softmax", "abs", "sin", "cos"}) {
    SCOPED_TRACE(op);
    differentiate(R"(%x = "test.value"() : () -> tensor<2x3xf32>
      %0 = weft.)" +
                  std::string(op) + R"( %x : (tensor<2x3xf32>) -> tensor<2x3xf32>)");
    EXPECT_THAT(defined_, ElementsAre(true));
  }
}

TEST_F(GradientTest, BinaryOfOneShapeAndBroadcast) {
  for (const char *op : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
    for (const char *other :
         {"tensor<2x3xf32>", "tensor<3xf32>", "tensor<2x1xf32>", "tensor<1x1xf32>", "tensor<f32>"}) {
      SCOPED_TRACE(std::string(op) + " " + other);
      std::string types = std::string(other);
      differentiate("%x, %y = \"test.values\"() : () -> (tensor<2x3xf32>, " + types + ")\n%0 = weft." + op +
                    " %y, %x : (" + types + ", tensor<2x3xf32>) -> tensor<2x3xf32>");
      EXPECT_THAT(defined_, ElementsAre(true, true));
    }
  }
}

TEST_F(GradientTest, WhatIsConstantAlmostEverywhereHasNone) {
  for (const char *op : {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}) {
    SCOPED_TRACE(op);
    EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2xf32>
      %0 = weft.)" + std::string(op) +
                              R"( %x, %x as_number : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>)"),
                ElementsAre());
    EXPECT_THAT(defined_, ElementsAre(false, false));
  }
  for (const char *op : {"weft.sign %x", "weft.power %x by(0)", "weft.stop_gradient %x"}) {
    SCOPED_TRACE(op);
    EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2xf32>
      %0 = )" + std::string(op) +
                              " : (tensor<2xf32>) -> tensor<2xf32>"),
                ElementsAre());
    EXPECT_THAT(defined_, ElementsAre(false));
  }
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2xi32>
    %0 = weft.cast %x to f32 : (tensor<2xi32>) -> tensor<2xf32>)"),
              ElementsAre());
  EXPECT_THAT(defined_, ElementsAre(false));
}

TEST_F(GradientTest, Cumsum) {
  for (const char *word : {"", " exclusive", " reverse", " exclusive reverse"}) {
    SCOPED_TRACE(word);
    EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2x3xf32>
      %0 = weft.cumsum %x dim(1))" +
                              std::string(word) + " : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
                ElementsAre("cumsum"));
    EXPECT_THAT(defined_, ElementsAre(true));
  }
}

TEST_F(GradientTest, RowsByNumber) {
  std::string values = R"(%x, %i, %u = "test.values"() : () -> (tensor<2x6x3xf32>, tensor<2x4xi32>, tensor<2x4x3xf32>)
)";
  std::string take = "(tensor<2x6x3xf32>, tensor<2x4xi32>) -> tensor<2x4x3xf32>";
  EXPECT_THAT(differentiate(values + "%0 = weft.take %x, %i dim(1) batch(1) : " + take), ElementsAre("scatter_add"));
  EXPECT_THAT(defined_, ElementsAre(true, false));
  EXPECT_THAT(differentiate(values + "%0 = weft.take %x, %i dim(1) batch(1) last : " + take),
              ElementsAre("fill", "scatter_set"));
  EXPECT_THAT(differentiate(values + R"(%0 = weft.scatter_add %u, %i dim(1) size(6) batch(1)
    : (tensor<2x4x3xf32>, tensor<2x4xi32>) -> tensor<2x6x3xf32>)"),
              ElementsAre("take"));
  EXPECT_THAT(differentiate(values + R"(%0 = weft.scatter_set %x, %i, %u dim(1) batch(1)
    : (tensor<2x6x3xf32>, tensor<2x4xi32>, tensor<2x4x3xf32>) -> tensor<2x6x3xf32>)"),
              ElementsAre("fill", "scatter_set", "take"));
  EXPECT_THAT(defined_, ElementsAre(true, false, true));
}

TEST_F(GradientTest, Windows) {
  std::string values = R"(%x, %u, %w = "test.values"() : () -> (tensor<2x5x3xf32>, tensor<2x4x2x3xf32>, tensor<2x3xf32>)
)";
  EXPECT_THAT(
      differentiate(values + "%0 = weft.unfold %x dim(1) size [2] : (tensor<2x5x3xf32>) -> tensor<2x4x2x3xf32>"),
      ElementsAre("fold"));
  EXPECT_THAT(differentiate(values + "%0 = weft.fold %u dim(1) size [2] extents [5] : (tensor<2x4x2x3xf32>) -> "
                                     "tensor<2x5x3xf32>"),
              ElementsAre("unfold"));
  EXPECT_THAT(
      differentiate(values + "%0 = weft.max_pool %x dim(1) size [2] : (tensor<2x5x3xf32>) -> tensor<2x4x3xf32>"),
      ElementsAre("max_pool_grad"));
  EXPECT_THAT(differentiate(values + "%0 = weft.depthwise_conv %x, %w : (tensor<2x5x3xf32>, tensor<2x3xf32>) -> "
                                     "tensor<2x4x3xf32>"),
              ElementsAre("depthwise_conv_grad_input", "depthwise_conv_grad_weight"));
  EXPECT_THAT(defined_, ElementsAre(true, true));
}

TEST_F(GradientTest, TopK) {
  std::string x = R"(%x = "test.value"() : () -> tensor<2x3xf32>
)";
  EXPECT_THAT(differentiate(x + "%0:2 = weft.top_k %x k(2) dim(1) : (tensor<2x3xf32>) -> "
                                "(tensor<2x2xf32>, tensor<2x2xi32>)"),
              ElementsAre("gradient", "scatter_add"));
  EXPECT_THAT(differentiate(x + "%0:2 = weft.sort %x dim(0) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)"),
              ElementsAre("gradient", "transpose", "transpose", "scatter_add", "transpose"));
}

TEST_F(GradientTest, Select) {
  EXPECT_THAT(differentiate(R"(%c, %a, %b = "test.values"() : () -> (tensor<3xi8>, tensor<2x3xf32>, tensor<f32>)
    %0 = weft.select %c, %a, %b : (tensor<3xi8>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>)"),
              ElementsAre("fill", "select", "select", "reduce"));
  EXPECT_THAT(defined_, ElementsAre(false, true, true));
}

TEST_F(GradientTest, Others) {
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2xf32>
    %0 = weft.scale %x by(3) : (tensor<2xf32>) -> tensor<2xf32>)"),
              ElementsAre("scale"));
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2xf32>
    %0 = weft.add_scalar %x by(3) : (tensor<2xf32>) -> tensor<2xf32>)"),
              ElementsAre());
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2xf32>
    %0 = weft.clamp %x min(0) : (tensor<2xf32>) -> tensor<2xf32>)"),
              ElementsAre("equal", "mul"));
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2xf32>
    %0 = weft.power %x by(3) : (tensor<2xf32>) -> tensor<2xf32>)"),
              ElementsAre("power", "mul", "scale"));
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2xf32>
    %0 = weft.add_n %x, %x, %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>)"),
              ElementsAre());
  EXPECT_THAT(defined_, ElementsAre(true, true, true));
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2xf32>
    %0 = weft.cast %x to bf16 : (tensor<2xf32>) -> tensor<2xbf16>)"),
              ElementsAre("cast"));
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2x1xf32>
    %0 = weft.broadcast_to %x [4, 2, 3] : (tensor<2x1xf32>) -> tensor<4x2x3xf32>)"),
              ElementsAre("reduce", "reduce"));
}

TEST_F(GradientTest, Reduce) {
  for (const char *kind : {"sum", "mean", "max"}) {
    SCOPED_TRACE(kind);
    differentiate(R"(%x = "test.value"() : () -> tensor<2x3x4xf32>
      %0 = weft.reduce )" +
                  std::string(kind) + R"( %x over [2, 0] : (tensor<2x3x4xf32>) -> tensor<3xf32>)");
    EXPECT_THAT(defined_, ElementsAre(true));
    differentiate(R"(%x = "test.value"() : () -> tensor<2x3x4xf32>
      %0 = weft.reduce )" +
                  std::string(kind) + R"( %x over [1] keep_dims : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>)");
    EXPECT_THAT(defined_, ElementsAre(true));
  }
}

TEST_F(GradientTest, Layout) {
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2x6xf32>
    %0 = weft.reshape %x [3, 4] : (tensor<2x6xf32>) -> tensor<3x4xf32>)"),
              ElementsAre("reshape"));
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2x3x4xf32>
    %0 = weft.transpose %x [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>)"),
              ElementsAre("transpose"));
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2x9xf32>
    %0 = weft.slice %x dim(1) from(2) size(3) : (tensor<2x9xf32>) -> tensor<2x3xf32>)"),
              ElementsAre("pad"));
  EXPECT_THAT(differentiate(R"(%x = "test.value"() : () -> tensor<2x3xf32>
    %0 = weft.pad %x dim(1) before(2) after(4) : (tensor<2x3xf32>) -> tensor<2x9xf32>)"),
              ElementsAre("slice"));
  EXPECT_THAT(differentiate(R"(%x, %y = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x4xf32>)
    %0 = weft.concat %x, %y dim(1) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>)"),
              ElementsAre("slice", "slice"));
}

TEST_F(GradientTest, EinsumIsTwoEinsums) {
  EXPECT_THAT(differentiate(R"(%q, %k = "test.values"() : () -> (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>)
    %0 = weft.einsum "bsnd,btnd->bnst" %q, %k : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>) -> tensor<2x3x5x6xf32>)"),
              ElementsAre("einsum", "einsum"));
  EXPECT_THAT(differentiate(R"(%x, %y = "test.values"() : () -> (tensor<2x3xf32>, tensor<f32>)
    %0 = weft.einsum "ij,->ji" %x, %y : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x2xf32>)"),
              ElementsAre("einsum", "einsum"));
}

TEST_F(GradientTest, GroupedProductsAreGroupedProducts) {
  std::string values =
      R"(%x, %w, %y, %c = "test.values"() : () -> (tensor<2x6x4xf32>, tensor<3x4x5xf32>, tensor<2x6x5xf32>, tensor<2x3xi32>)
)";
  EXPECT_THAT(differentiate(values + "%0 = weft.grouped_matmul %x, %w, %c : (tensor<2x6x4xf32>, tensor<3x4x5xf32>, "
                                     "tensor<2x3xi32>) -> tensor<2x6x5xf32>"),
              ElementsAre("grouped_matmul", "grouped_outer"));
  EXPECT_THAT(differentiate(values + "%0 = weft.grouped_outer %x, %y, %c groups(3) : (tensor<2x6x4xf32>, "
                                     "tensor<2x6x5xf32>, tensor<2x3xi32>) -> tensor<3x4x5xf32>"),
              ElementsAre("grouped_matmul", "grouped_matmul"));
}

TEST_F(GradientTest, EinsumOfHalfPrecisionCastsAFloat32Gradient) {
  EXPECT_THAT(differentiate(R"(%x, %w = "test.values"() : () -> (tensor<2x3xbf16>, tensor<3x4xbf16>)
    %0 = weft.einsum "ij,jk->ik" %x, %w to f32 : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>)"),
              ElementsAre("cast", "einsum", "einsum"));
}

TEST_F(GradientTest, NormsKeepTheirStatistics) {
  EXPECT_THAT(differentiate(R"(%x, %w = "test.values"() : () -> (tensor<2x5x3xf32>, tensor<3xf32>)
    %0 = weft.layer_norm %x, %w, %w eps(1.0e-5) {stage = 1 : i64} : (tensor<2x5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x5x3xf32>)"),
              ElementsAre("layer_norm_grad"));
  ASSERT_EQ(forward()->getNumResults(), 3u);
  EXPECT_TRUE(forward()->hasAttr("stage"));
  EXPECT_THAT(differentiate(R"(%x, %w = "test.values"() : () -> (tensor<2x5x3xf32>, tensor<3xf32>)
    %0 = weft.rms_norm %x, %w eps(1.0e-5) : (tensor<2x5x3xf32>, tensor<3xf32>) -> tensor<2x5x3xf32>)"),
              ElementsAre("rms_norm_grad"));
  EXPECT_EQ(forward()->getNumResults(), 2u);
}

} // namespace
} // namespace weft::ir
