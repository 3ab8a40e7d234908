#include <map>
#include <string>

#include "gtest/gtest.h"
#include "ops/einsum/contraction.h"

namespace weft::einsum {
namespace {

// What reaches oneDNN for operands of these extents.
Contraction Direct(const std::string& equation, const std::map<char, int64_t>& extents) {
  const size_t comma = equation.find(','), arrow = equation.find("->");
  const std::string letters[3] = {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1),
                                  equation.substr(arrow + 2)};
  std::vector<int64_t> dims[3];
  for (int i = 0; i < 3; ++i) {
    for (char letter : letters[i]) dims[i].push_back(extents.at(letter));
  }
  absl::StatusOr<Contraction> parsed = ParseContraction(equation, dims);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return Merged(Oriented(*parsed));
}

std::string Text(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) {
    text += "[" + std::to_string(axis.extent);
    for (int64_t stride : axis.stride) text += " " + std::to_string(stride);
    text += "]";
  }
  return text;
}

const std::map<char, int64_t> kGpt2 = {{'b', 2}, {'s', 5}, {'h', 12}, {'k', 3}, {'n', 2},
                                       {'d', 6}, {'o', 7}, {'i', 8},  {'v', 11}};

TEST(ContractionTest, Gpt2IsPlainMatrixProducts) {
  for (const char* equation :
       {"bsh,hknd->bsknd", "bsnd,ndo->bso", "bsi,io->bso", "bsh,vh->bsv", "bsknd,hknd->bsh", "bsh,bsknd->hknd",
        "bsv,vh->bsh", "bsv,bsh->vh", "bsi,bso->io", "bso,io->bsi", "bso,ndo->bsnd", "bsnd,bso->ndo"}) {
    const Contraction c = Direct(equation, kGpt2);
    EXPECT_EQ(c.batch.size(), 0u) << equation;
    EXPECT_EQ(c.rows.size(), 1u) << equation;
    EXPECT_EQ(c.columns.size(), 1u) << equation;
    EXPECT_EQ(c.inner.size(), 1u) << equation;
    EXPECT_FALSE(c.swapped) << equation;
  }
}

TEST(ContractionTest, Strides) {
  const Contraction c = Direct("bsh,bsknd->hknd", kGpt2);
  EXPECT_EQ(Text(c.rows), "[12 1 0 36]");
  EXPECT_EQ(Text(c.columns), "[36 0 1 1]");
  EXPECT_EQ(Text(c.inner), "[10 12 36 0]");
}

TEST(ContractionTest, AxesThatDoNotMergeStay) {
  const Contraction c = Direct("bsi,ind->bnsd", kGpt2);
  EXPECT_EQ(Text(c.rows), "[2 40 0 60][5 8 0 6]");
  EXPECT_EQ(Text(c.columns), "[2 0 6 30][6 0 1 1]");
}

TEST(ContractionTest, TheResultsInnermostLetterIsAColumn) {
  const Contraction c = Direct("io,bsi->obs", kGpt2);
  EXPECT_FALSE(c.swapped);
  const Contraction swapped = Direct("bsi,io->obs", kGpt2);
  EXPECT_TRUE(swapped.swapped);
  EXPECT_EQ(Text(swapped.rows), "[7 1 0 10]");
  EXPECT_EQ(Text(swapped.columns), "[10 0 8 1]");
}

TEST(ContractionTest, DenseStrides) {
  Contraction c = Direct("bsi,ind->bnsd", kGpt2);
  MakeDense(c, kResult);
  EXPECT_EQ(Text(Merged(c).rows), "[10 8 0 12]");
  EXPECT_EQ(Text(Merged(c).columns), "[12 0 1 1]");
}

}  // namespace
}  // namespace weft::einsum
