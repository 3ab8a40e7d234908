#include "compiler/words/nearest.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(NearestTest, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("tenssor", "tensor"), 1);
  EXPECT_EQ(EditDistance("modle", "model"), 1) << "neighbours are swapped in one";
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(NearestTest, NamesWhatWasMeant) {
  const std::vector<std::string> known = {"data", "tensor", "expert", "context", "pipeline"};
  EXPECT_EQ(Nearest("tenssor", known), "tensor");
  EXPECT_EQ(Nearest("pipline", known), "pipeline");
  EXPECT_EQ(Nearest("date", known), "data");
  EXPECT_EQ(Nearest("colour", known), "");
  EXPECT_EQ(Nearest("x", {}), "");
  EXPECT_EQ(Nearest("ab", {"aa", "bb"}), "aa") << "the first of several";
  EXPECT_EQ(DidYouMean("tenssor", known), "; did you mean tensor?");
  EXPECT_EQ(DidYouMean("colour", known), "");
}

}  // namespace
}  // namespace weft
