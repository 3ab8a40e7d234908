#include "compiler/analysis/pins.h"

#include "tests/support/analysis_fixture.h"

namespace weft::compiler {
namespace {

constexpr char kMesh[] = "placements [#weft.placement<\"cpu\", [data = 2, shard = 2, context = 2, tensor = 2], "
                         "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]>]";

class PinsTest : public AnalysisTest {
protected:
  // The states of a parameter of shape [16, 6] with these pins; what is said, after an error.
  std::string states(const std::string &pins) {
    ir::GraphOp made = graph("@g() " + std::string(kMesh),
                             "%w = weft.parameter \"w\" [16, 6] init(zeros) " + pins + " : () -> tensor<16x6xf32>");
    auto w = llvm::cast<ir::ParameterOp>(named("w"));
    said.clear();
    llvm::FailureOr<States> states = resolvePins(w, "w", w.getPinsAttr(), ir::tensorOf(w), made.getPlacement(0));
    return failed(states) ? said : text(*states);
  }

  // Those of an input of this type.
  std::string input(const std::string &type) {
    ir::GraphOp made = graph("@g(\"x\" %x: " + type + ") " + kMesh, "");
    said.clear();
    llvm::FailureOr<States> states = inputStates(made, 0);
    return failed(states) ? said : text(*states);
  }
};

TEST_F(PinsTest, AxesWithoutAPinAreBroadcast) {
  EXPECT_EQ(states(""), "B, B, B, B");
  EXPECT_EQ(states("sbp(tensor = S(1))"), "B, B, B, S(1)");
  EXPECT_EQ(states("sbp(context = P)"), "B, B, P, B");
}

TEST_F(PinsTest, WhatIsSaidOfAnAxisHoldsForItsPart) {
  EXPECT_EQ(states("sbp(data = S(0))"), "S(0), S(0), B, B");
  EXPECT_EQ(states("sbp(data = S(0), shard = B)"), "S(0), B, B, B");
  EXPECT_EQ(states("sbp(shard = S(0))"), "B, S(0), B, B"); // not the other way round
}

TEST_F(PinsTest, AnAxisThatTheMeshLacksIsIgnored) { EXPECT_EQ(states("sbp(expert = S(0))"), "B, B, B, B"); }

TEST_F(PinsTest, PinsByPosition) { EXPECT_EQ(states("sbp(S(0), B, S(1), P)"), "S(0), B, S(1), P"); }

TEST_F(PinsTest, SeveralAxesMayCutOneDimension) {
  EXPECT_EQ(states("sbp(data = S(0), tensor = S(0))"), "S(0), S(0), B, S(0)");
  // 6 may be halved once.
  EXPECT_NE(states("sbp(context = S(1), tensor = S(1))")
                .find("w: expected dimension 1 (3) to be divisible by mesh axis tensor = 2"),
            std::string::npos)
      << said;
}

TEST_F(PinsTest, ErrorsNameTheAxisAndTheDimension) {
  EXPECT_NE(states("sbp(tensr = S(0))").find("w: expected an axis of the mesh"), std::string::npos) << said;
  EXPECT_NE(said.find("got tensr"), std::string::npos) << said;
  EXPECT_NE(states("sbp(tensor = S(2))").find("w: expected a dimension below 2 for mesh axis tensor, got S(2)"),
            std::string::npos)
      << said;
}

TEST_F(PinsTest, InputsAreSplitByTheAxesThatSplitEveryInput) {
  EXPECT_EQ(input("tensor<8x4xf32>"), "S(0), S(0), S(1), B");
  EXPECT_EQ(input("tensor<8xf32>"), "S(0), S(0), B, B"); // no sequence to split
  EXPECT_EQ(input("tensor<f32>"), "B, B, B, B");
  EXPECT_NE(input("tensor<6x4xf32>").find("input x: expected dimension 0 (3) to be divisible by mesh axis shard = 2"),
            std::string::npos)
      << said;
}

} // namespace
} // namespace weft::compiler
