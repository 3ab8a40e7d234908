// What the compiler and the kernels are told about updates.
#include "gmock/gmock.h"
#include "ops/optimizer/ops.h"
#include "tests/support/graph_fixture.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;

class UpdateTest : public GraphFixture {
protected:
  UpdateTest() {
    parse("\"p\" %p: tensor<4xf32>, \"g\" %g: tensor<4xf32>, \"m\" %m: tensor<4xf32>, \"s\" %s: tensor<f32>", R"(
      %0 = weft.sgd %p, %g, %s, %s weight_decay(0.5)
        : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
      %1, %2 = weft.sgd_momentum %p, %g, %m, %s, %s momentum(0.9) weight_decay(0.5)
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
      %3, %4, %5 = weft.adam %p, %g, %m, %m, %s, %s beta1(0.9) beta2(0.5) eps(0.25) weight_decay(0.5)
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>)
        -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      %6, %7, %8 = weft.adam %p, %g, %m, %m, %s, %s beta1(0.9) beta2(0.5) eps(0.25) weight_decay(0.5) decoupled
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>)
        -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    )");
  }
  mlir::NamedAttrList kernelAttributes(WeftOpInterface op) {
    mlir::NamedAttrList attributes;
    op.getKernelAttributes(attributes);
    return attributes;
  }
};

TEST_F(UpdateTest, OverwriteTheParameterAndTheState) {
  EXPECT_THAT(first<SgdOp>().getInPlaceOperands(), ElementsAre(0));
  EXPECT_THAT(first<SgdMomentumOp>().getInPlaceOperands(), ElementsAre(0, 2));
  EXPECT_THAT(first<AdamOp>().getInPlaceOperands(), ElementsAre(0, 2, 3));
}

TEST_F(UpdateTest, KernelsGetEveryNumber) {
  mlir::NamedAttrList sgd = kernelAttributes(first<SgdOp>());
  EXPECT_EQ(sgd.getAttrs().size(), 1u);
  EXPECT_EQ(floatOf(sgd.get("weight_decay")), 0.5);
  mlir::NamedAttrList coupled = kernelAttributes(all<AdamOp>()[0]), decoupled = kernelAttributes(all<AdamOp>()[1]);
  EXPECT_EQ(coupled.getAttrs().size(), 5u);
  EXPECT_EQ(floatOf(coupled.get("beta2")), 0.5);
  EXPECT_EQ(floatOf(coupled.get("eps")), 0.25);
  EXPECT_EQ(intOf(coupled.get("decoupled")), 0);
  EXPECT_EQ(intOf(decoupled.get("decoupled")), 1);
}

} // namespace
} // namespace weft::ir
