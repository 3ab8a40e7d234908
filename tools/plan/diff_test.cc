#include "tools/plan/diff.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace weft::tools {
namespace {

TEST(Diff, IsEmptyForEqualTexts) {
  EXPECT_EQ(DiffLines("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(DiffLines("", ""), "");
}

TEST(Diff, ShowsHeadingsOnce) {
  EXPECT_EQ(
      DiffLines("stage 0\n  memory\n    a 1\n    b 2\n    c 3\n", "stage 0\n  memory\n    a 1\n    b 3\n    c 4\n"),
      "@ stage 0\n@   memory\n-     b 2\n-     c 3\n+     b 3\n+     c 4\n");
}

TEST(Diff, FindsTheShortestEdit) { EXPECT_EQ(DiffLines("a\nb\nc\nd\n", "b\nx\nc\nd\ne\n"), "- a\n+ x\n+ e\n"); }

TEST(Diff, PrintsEverythingBetweenWhenThereIsTooMuch) {
  EXPECT_EQ(DiffLines("a\nb\nc\nd\n", "a\nx\nc\ny\n", 1), "- b\n- c\n- d\n+ x\n+ c\n+ y\n");
}

// As many lines fall away and come as a quadratic computation finds.
TEST(Diff, AgreesWithTheLongestCommonSubsequence) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string texts[2];
    std::vector<char> lines[2];
    for (int side = 0; side < 2; ++side) {
      for (int i = random() % 20; i > 0; --i) {
        lines[side].push_back('a' + random() % 4);
        texts[side] += std::string(1, lines[side].back()) + "\n";
      }
    }
    const size_t n = lines[0].size(), m = lines[1].size();
    std::vector<std::vector<size_t>> common(n + 1, std::vector<size_t>(m + 1, 0));
    for (size_t i = 1; i <= n; ++i) {
      for (size_t j = 1; j <= m; ++j) {
        common[i][j] = lines[0][i - 1] == lines[1][j - 1] ? common[i - 1][j - 1] + 1
                                                          : std::max(common[i - 1][j], common[i][j - 1]);
      }
    }
    std::istringstream diff(DiffLines(texts[0], texts[1]));
    size_t edits = 0;
    for (std::string line; std::getline(diff, line);) edits += line[0] == '+' || line[0] == '-';
    EXPECT_EQ(edits, n + m - 2 * common[n][m]) << texts[0] << "--\n" << texts[1];
  }
}

}  // namespace
}  // namespace weft::tools
