// Sharding rules: reading them from text, the signatures they imply, and what divides.
#include "ops/dialect/sharding_rule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;
using Shape = llvm::SmallVector<int64_t>;

std::string toString(const ShardingRule &rule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  rule.print(os);
  return os.str();
}

// "S(0) B -> P", one entry a signature.
std::vector<std::string> signaturesOf(const ShardingRule &rule) {
  std::vector<std::string> all;
  for (const Signature &signature : enumerateSignatures(rule)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    for (SbpState state : signature.operands) {
      os << state << " ";
    }
    os << "->";
    for (SbpState state : signature.results) {
      os << " " << state;
    }
    all.push_back(os.str());
  }
  return all;
}

ShardingRule parse(llvm::StringRef text, llvm::ArrayRef<Shape> operands, llvm::ArrayRef<Shape> results,
                   llvm::ArrayRef<std::pair<char, int64_t>> sizes = {}) {
  llvm::SmallVector<llvm::ArrayRef<int64_t>> ins(operands.begin(), operands.end());
  llvm::SmallVector<llvm::ArrayRef<int64_t>> outs(results.begin(), results.end());
  return ShardingRule::parse(text, ins, outs, sizes);
}

TEST(ShardingRule, ParseGivesOneFactorALetter) {
  ShardingRule rule = parse("bsi,io->bso", {{2, 3, 4}, {4, 5}}, {{2, 3, 5}});
  EXPECT_EQ(toString(rule), "[f0=2, f1=3, f2=4], [f2=4, f3=5] -> [f0=2, f1=3, f3=5]");
}

TEST(ShardingRule, ParseUpperCaseIsWhole) {
  ShardingRule rule = parse("bV->bV", {{2, 7}}, {{2, 7}});
  EXPECT_EQ(toString(rule), "[f0=2, W1=7] -> [f0=2, W1=7]");
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B -> B", "S(0) -> S(0)"));
}

TEST(ShardingRule, ParseEllipsisTakesTheLeadingDimensions) {
  EXPECT_EQ(toString(parse(".H,H->.H,.", {{2, 3, 4}, {4}}, {{2, 3, 4}, {2, 3}})),
            "[f0=2, f1=3, W2=4], [W2=4] -> [f0=2, f1=3, W2=4], [f0=2, f1=3]");
  EXPECT_EQ(toString(parse(".H,H->.H,.", {{4}, {4}}, {{4}, {}})), "[W0=4], [W0=4] -> [W0=4], []");
}

TEST(ShardingRule, ParseCompoundDimensionHasFactorsOfGivenSize) {
  ShardingRule rule = parse("b(mg)->bmg", {{2, 12}}, {{2, 4, 3}}, {{'m', 4}, {'g', 3}});
  EXPECT_EQ(toString(rule), "[f2=2, f0=4*f1=3] -> [f2=2, f0=4, f1=3]");
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B -> B", "S(1) -> S(1)", "S(1) -> S(2)", "S(0) -> S(0)"));
}

TEST(ShardingRule, ParseOneIsADimensionWithoutFactor) {
  ShardingRule rule = parse("b1->b", {{2, 1}}, {{2}});
  EXPECT_EQ(toString(rule), "[f0=2, ] -> [f0=2]");
}

TEST(ShardingRule, ParseTensorsWithoutDimensions) {
  ShardingRule rule = parse(",v->", {{}, {8}}, {{}});
  EXPECT_EQ(toString(rule), "[], [f0=8] -> []");
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B B -> B", "B S(0) -> P"));
}

TEST(ShardingRule, ParseWithoutOperandsOrResults) {
  EXPECT_EQ(toString(parse("->ab", {}, {{2, 3}})), " -> [f0=2, f1=3]");
  EXPECT_EQ(toString(parse("ab->", {{2, 3}}, {})), "[f0=2, f1=3] -> ");
}

TEST(ShardingRuleDeathTest, TextMustFitTheShapes) {
  EXPECT_DEATH(parse("ab->a", {{2, 3, 4}}, {{2}}), "\"ab->a\": fewer dimensions than the tensor has");
  EXPECT_DEATH(parse("abc->a", {{2, 3}}, {{2}}), "more dimensions than the tensor has");
  EXPECT_DEATH(parse("ab->a", {{2, 3}}, {{4}}), "a factor has extents 2 and 4");
  EXPECT_DEATH(parse("a,b->a", {{2}}, {{2}}), "not one entry an operand and result");
}

TEST(ShardingRule, PointwiseBroadcastsAlignedAtTheLastDimension) {
  Shape shape = {2, 3, 4}, row = {4}, middle = {1, 3, 1};
  ShardingRule rule = ShardingRule::pointwise({shape, row, middle}, shape, 2);
  EXPECT_EQ(toString(rule), "[f0=2, f1=3, f2=4], [f2=4], [, f1=3, ] -> [f0=2, f1=3, f2=4], [f0=2, f1=3, f2=4]");
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B B B -> B B", "S(0) B B -> S(0) S(0)", "S(1) B S(1) -> S(1) S(1)",
                                              "S(2) S(0) B -> S(2) S(2)"));
}

TEST(ShardingRule, ReplicatedHasOneSignature) {
  Shape shape = {2, 3};
  ShardingRule rule = ShardingRule::replicated({shape, shape}, {shape});
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B B -> B"));
}

TEST(EnumerateSignatures, ContractedFactorLeavesAPendingReduction) {
  ShardingRule rule = parse("ij,jk->ik", {{2, 3}, {3, 4}}, {{2, 4}});
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B B -> B", "S(0) B -> S(0)", "S(1) S(0) -> P", "B S(1) -> S(1)"));
  rule.reduction = SbpState::PartialMax;
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B B -> B", "S(0) B -> S(0)", "S(1) S(0) -> P(max)", "B S(1) -> S(1)"));
}

TEST(EnumerateSignatures, LinearGroupsPassOnPendingSums) {
  ShardingRule rule = parse("A,A,A->A,", {{2}, {2}, {2}}, {{2}, {}}).withLinear({{0, 2}, {1}});
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B B B -> B B", "P B P -> P P", "B P B -> P P"));
}

TEST(EnumerateSignatures, OneGroupOfOneOperand) {
  ShardingRule rule = parse("A->A", {{2}}, {{2}});
  rule.linear = {{0}};
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B -> B", "P -> P"));
}

TEST(EnumerateSignatures, FactorOfSizeOneIsNotSplit) {
  EXPECT_THAT(signaturesOf(parse("ab->ab", {{1, 2}}, {{1, 2}})), ElementsAre("B -> B", "S(1) -> S(1)"));
}

TEST(EnumerateSignatures, NamesTheSplitFactor) {
  llvm::SmallVector<Signature> signatures = enumerateSignatures(parse("ab->ba", {{2, 3}}, {{3, 2}}));
  ASSERT_EQ(signatures.size(), 3u);
  EXPECT_EQ(signatures[0].factor, -1);
  EXPECT_EQ(signatures[1].factor, 0);
  EXPECT_EQ(signatures[2].factor, 1);
  EXPECT_THAT(signatures[2].results, ElementsAre(SbpState::split(0)));
}

TEST(Divides, EveryAxisCutsWhatIsLeftOfItsFactor) {
  ShardingRule rule = parse("ab->ab", {{12, 3}}, {{12, 3}});
  llvm::SmallVector<Signature> signatures = enumerateSignatures(rule);
  const Signature *whole = &signatures[0], *a = &signatures[1], *b = &signatures[2];
  EXPECT_TRUE(divides(rule, {}, {}));
  EXPECT_TRUE(divides(rule, {whole, whole}, {5, 7}));
  EXPECT_TRUE(divides(rule, {a, b}, {4, 3}));
  EXPECT_TRUE(divides(rule, {a, a}, {2, 6}));
  EXPECT_FALSE(divides(rule, {a, a}, {4, 4}));
  EXPECT_FALSE(divides(rule, {a, b}, {4, 2}));
  EXPECT_TRUE(divides(rule, {a, whole, a}, {3, 5, 4}));
}

TEST(Divides, CompoundDimensionMustCutItsOutermostFactor) {
  // 12 = 3 x 4 divides by 2, its outer factor does not.
  ShardingRule rule = parse("(ab)->ab", {{12}}, {{3, 4}}, {{'a', 3}, {'b', 4}});
  llvm::SmallVector<Signature> signatures = enumerateSignatures(rule);
  ASSERT_EQ(signatures.size(), 3u);
  EXPECT_FALSE(divides(rule, {&signatures[1]}, {2}));
  EXPECT_TRUE(divides(rule, {&signatures[1]}, {3}));
  EXPECT_FALSE(divides(rule, {&signatures[2]}, {2}));
  EXPECT_TRUE(divides(rule, {&signatures[1], &signatures[2]}, {3, 2}));
}

TEST(Divides, InsideOfADimensionIsCutWhereNothingIsLeftBeforeIt) {
  // Two key heads of three queries each.
  ShardingRule rule = parse("(mg),m->(mg)", {{6}, {2}}, {{6}}, {{'g', 3}});
  EXPECT_THAT(signaturesOf(rule), ElementsAre("B B -> B", "S(0) B -> S(0)", "S(0) S(0) -> S(0)"));
  llvm::SmallVector<Signature> signatures = enumerateSignatures(rule);
  const Signature *whole = &signatures[0], *queries = &signatures[1], *keys = &signatures[2];
  EXPECT_TRUE(divides(rule, {keys, queries}, {2, 3}));
  EXPECT_TRUE(divides(rule, {keys, whole, queries}, {2, 5, 3}));
  EXPECT_FALSE(divides(rule, {keys, queries}, {2, 2}));
  EXPECT_FALSE(divides(rule, {queries}, {3})) << "of one key head alone";
  EXPECT_FALSE(divides(rule, {queries, keys}, {3, 2})) << "in this order";
}

// Rows [s] over keys [t], which two operands have and one result.
ShardingRule ringOf(int64_t rows, int64_t keys) {
  ShardingRule rule = parse("s,T,sT->s,T", {{rows}, {keys}, {rows, keys}}, {{rows}, {keys}});
  rule.ring = ShardingRule::Ring{0, 1, {1}, {1}, keys};
  return rule;
}

TEST(EnumerateSignatures, ARingSplitsRowsAndWhatGoesRound) {
  EXPECT_THAT(signaturesOf(ringOf(8, 12)),
              ElementsAre("B B B -> B B", "S(0) B S(0) -> S(0) P", "S(0) S(0) S(0) -> S(0) S(0)"));
}

TEST(Divides, ARingCutsRowsAndKeysAndIsTheFirstToCutRows) {
  ShardingRule rule = ringOf(8, 12);
  llvm::SmallVector<Signature> signatures = enumerateSignatures(rule);
  const Signature *rows = &signatures[1], *ring = &signatures[2];
  EXPECT_TRUE(divides(rule, {ring}, {4}));
  EXPECT_FALSE(divides(rule, {ring}, {8})) << "12 keys";
  EXPECT_FALSE(divides(rule, {ring}, {3})) << "8 rows";
  EXPECT_TRUE(divides(rule, {ring, rows}, {4, 2}));
  EXPECT_FALSE(divides(rule, {rows, ring}, {2, 4}));
  EXPECT_FALSE(divides(rule, {ring, ring}, {2, 2}));
}

TEST(Ring, LeavesOutBlocksThatNoRowReaches) {
  auto blocks = [](int64_t reach, int64_t keys, int64_t parts) {
    return ShardingRule::Ring{0, 1, {}, {}, reach}.blocks(keys, parts);
  };
  EXPECT_EQ(blocks(32, 8, 4), 4);
  EXPECT_EQ(blocks(1, 8, 4), 1) << "itself";
  EXPECT_EQ(blocks(2, 8, 4), 2) << "the first row sees the last key of the block before";
  EXPECT_EQ(blocks(9, 8, 4), 2);
  EXPECT_EQ(blocks(10, 8, 4), 3);
}

} // namespace
} // namespace weft::ir
