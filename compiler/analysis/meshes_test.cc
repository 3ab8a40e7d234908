#include "compiler/analysis/meshes.h"

#include "compiler/job/axes.h"
#include "tests/support/analysis_fixture.h"

namespace weft::compiler {
namespace {

constexpr char kOne[] = "@g() placements [#weft.placement<\"cpu\", [], [0]>]";

class MeshesTest : public AnalysisTest {
protected:
  llvm::FailureOr<llvm::SmallVector<ir::PlacementAttr>> read(const std::string &meshes) {
    return meshesOf(graph(std::string(kOne) + " attributes {weft.meshes = " + meshes + "}", ""));
  }
  static std::string text(ir::PlacementAttr mesh) {
    std::string out;
    llvm::raw_string_ostream(out) << mesh;
    return out;
  }
};

TEST_F(MeshesTest, AreThoseOfTheAttributeInItsOrder) {
  EXPECT_TRUE(meshesOf(graph(kOne, ""))->empty());
  auto meshes = *read("[#weft.placement<\"cuda\", [data = 2], [0, 1]>, #weft.placement<\"cuda\", [], [2]>]");
  ASSERT_EQ(meshes.size(), 2u);
  EXPECT_EQ(text(meshes[0]), "#weft.placement<\"cuda\", [data = 2], [0, 1]>");
  EXPECT_EQ(text(meshes[1]), "#weft.placement<\"cuda\", [], [2]>");
}

TEST_F(MeshesTest, WhatIsNoListOfPlacementsIsAnError) {
  for (const char *wrong : {"[]", "1", "[#weft.placement<\"cpu\", [], [0]>, 1]"}) {
    said.clear();
    EXPECT_TRUE(failed(read(wrong))) << wrong;
    EXPECT_NE(said.find("weft.meshes: expected a list of placements, got "), std::string::npos) << said;
  }
}

TEST_F(MeshesTest, AUnionHasEveryAxisInTheOrderOfAxesAndAsLargeAsTheLargest) {
  auto meshes = *read("[#weft.placement<\"cuda\", [tensor = 2], [0, 1]>,"
                      " #weft.placement<\"cuda\", [context = 2, tensor = 3], [2, 3, 4, 5, 6, 7]>]");
  EXPECT_EQ(text(unionOf(meshes)), "#weft.placement<\"cuda\", [context = 2, tensor = 3], [0, 1, 2, 3, 4, 5]>");
  EXPECT_EQ(unionOf({meshes[1], meshes[0]}), unionOf(meshes));
  EXPECT_EQ(text(unionOf({meshes[0], meshes[0]})), "#weft.placement<\"cuda\", [tensor = 2], [0, 1]>");
}

TEST_F(MeshesTest, NamesAreOutermostFirst) {
  auto meshes = *read("[#weft.placement<\"cpu\", [data = 2, shard = 1, tensor = 1], [0, 1]>]");
  EXPECT_EQ(axisNames(meshes[0]), (std::vector<std::string_view>{"data", "shard", "tensor"}));
  EXPECT_EQ(SharedAxis(axisNames(meshes[0])), 1);
}

} // namespace
} // namespace weft::compiler
