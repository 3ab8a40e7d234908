// What ops tell the compiler beside shapes and rules: cost, kernel attributes, what they overwrite.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "ops/dialect/weft.h"
#include "ops/register.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class InterfacesTest : public ::testing::Test {
protected:
  InterfacesTest() {
    mlir::DialectRegistry registry;
    registerWeftDialect(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
    context_.allowUnregisteredDialects();
  }

  // The last op of `body`.
  WeftOpInterface parse(const std::string &body) {
    module_ = mlir::parseSourceString<mlir::ModuleOp>(body, mlir::ParserConfig(&context_));
    return llvm::cast<WeftOpInterface>(&module_->getBody()->back());
  }

  std::vector<int64_t> inPlace(const std::string &body) {
    llvm::SmallVector<int64_t> operands = parse(body).getInPlaceOperands();
    return {operands.begin(), operands.end()};
  }

  static llvm::SmallVector<mlir::RankedTensorType> typesOf(mlir::TypeRange types) {
    return llvm::map_to_vector(types, [](mlir::Type type) { return llvm::cast<mlir::RankedTensorType>(type); });
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

const char *const kTwo = R"(%x, %y = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
)";

TEST_F(InterfacesTest, PointwiseOpsOverwriteOperandZeroOfTheResultsType) {
  std::string two = kTwo;
  EXPECT_THAT(inPlace(two + "%0 = weft.gelu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>"), ElementsAre(0));
  EXPECT_THAT(inPlace(two + "%0 = weft.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>"), ElementsAre(0));
  EXPECT_THAT(inPlace(two + "%0 = weft.scale %x by(2) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), ElementsAre(0));
  EXPECT_THAT(inPlace(two + "%0 = weft.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>"),
              ElementsAre(0));
  EXPECT_THAT(inPlace(two + "%0 = weft.add %y, %x : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"),
              ElementsAre(-1));
  EXPECT_THAT(inPlace(two + "%z = weft.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                            "%0 = weft.gelu_grad %x, %z : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"),
              ElementsAre(0));
  EXPECT_THAT(inPlace(two + "%0 = weft.add_n %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"),
              ElementsAre(-1));
}

// The condition is of another type, and what is read twice must not change in between.
TEST_F(InterfacesTest, ASelectOverwritesOneOfItsBranches) {
  std::string three =
      R"(%c, %x, %y, %s = "test.values"() : () -> (tensor<3xi8>, tensor<3xf32>, tensor<3xf32>, tensor<f32>)
)";
  EXPECT_THAT(inPlace(three + "%0 = weft.select %c, %x, %y : (tensor<3xi8>, tensor<3xf32>, tensor<3xf32>) -> "
                              "tensor<3xf32>"),
              ElementsAre(1));
  EXPECT_THAT(inPlace(three + "%0 = weft.select %c, %s, %y : (tensor<3xi8>, tensor<f32>, tensor<3xf32>) -> "
                              "tensor<3xf32>"),
              ElementsAre(2));
  EXPECT_THAT(inPlace(three + "%0 = weft.select %c, %x, %x : (tensor<3xi8>, tensor<3xf32>, tensor<3xf32>) -> "
                              "tensor<3xf32>"),
              ElementsAre(-1));
}

TEST_F(InterfacesTest, ConstantsAreMadeOfNothing) {
  EXPECT_TRUE(parse("%0 = weft.fill [4] value(1) : () -> tensor<4xf32>").isConstant());
  EXPECT_TRUE(parse("%0 = weft.iota [4] dim(0) : () -> tensor<4xi32>").isConstant());
  EXPECT_TRUE(parse("%0 = weft.constant [2] values [1, 2] : () -> tensor<2xf32>").isConstant());
  EXPECT_FALSE(parse("%0 = weft.random_normal [4] mean(0) std(1) seed(3) : () -> tensor<4xf32>").isConstant());
}

TEST_F(InterfacesTest, OthersOverwriteNothing) {
  std::string two = kTwo;
  EXPECT_THAT(inPlace(two + "%0 = weft.transpose %x [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>"), ElementsAre(-1));
  EXPECT_THAT(inPlace(two + "%0 = weft.cast %x to bf16 : (tensor<2x3xf32>) -> tensor<2x3xbf16>"), ElementsAre(-1));
  EXPECT_THAT(inPlace(two + R"(%0 = weft.einsum "ij,j->i" %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>)"),
              ElementsAre(-1));
}

TEST_F(InterfacesTest, EinsumCostsAMultiplyAddForEveryCombinationOfLetters) {
  WeftOpInterface op = parse(R"(%x, %w = "test.values"() : () -> (tensor<2x3x4xf32>, tensor<4x5xf32>)
    %0 = weft.einsum "bsi,io->bso" %x, %w : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>)");
  Cost cost = op.getCost(typesOf(op->getOperandTypes()), typesOf(op->getResultTypes()));
  EXPECT_EQ(cost.flops, 2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(cost.bytes, 4 * (24 + 20 + 30));
  EXPECT_TRUE(cost.contraction);
  // Of the types it is asked about, not its own.
  mlir::Type f32 = mlir::Float32Type::get(&context_);
  auto tensor = [&](llvm::ArrayRef<int64_t> shape) { return mlir::RankedTensorType::get(shape, f32); };
  EXPECT_EQ(op.getCost({tensor({1, 3, 2}), tensor({2, 5})}, {tensor({1, 3, 5})}).flops, 2 * 1 * 3 * 2 * 5);
}

TEST_F(InterfacesTest, ElementwiseCostsOneFlopAnElement) {
  WeftOpInterface op =
      parse(std::string(kTwo) + "%0 = weft.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>");
  Cost cost = op.getCost(typesOf(op->getOperandTypes()), typesOf(op->getResultTypes()));
  EXPECT_EQ(cost.flops, 6);
  EXPECT_EQ(cost.bytes, 4 * (6 + 3 + 6));
  EXPECT_FALSE(cost.contraction);
}

TEST_F(InterfacesTest, KernelAttributesAreTheInherentOnes) {
  auto names = [&](const std::string &body) {
    mlir::NamedAttrList attributes;
    WeftOpInterface op = parse(body);
    op.getKernelAttributes(attributes);
    std::vector<std::string> names;
    for (mlir::NamedAttribute attribute : attributes) {
      names.push_back(attribute.getName().str());
    }
    return names;
  };
  EXPECT_THAT(names(std::string(kTwo) + R"(%0 = weft.reduce sum %x over [0] keep_dims {stage = 0 : i64}
    : (tensor<2x3xf32>) -> tensor<1x3xf32>)"),
              UnorderedElementsAre("kind", "dims", "keep_dims"));
  EXPECT_THAT(names(std::string(kTwo) + "%0 = weft.gelu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
              UnorderedElementsAre("approximate"));
}

} // namespace
} // namespace weft::ir
