#include "tools/compare/sets.h"

#include <gtest/gtest.h>

namespace weft::tools {
namespace {

TEST(SetsTest, BlanksPartOverrides) {
  EXPECT_EQ(parseSet("dist.data=2"), (Set{"dist.data=2"}));
  EXPECT_EQ(parseSet("  dist.data=2   zero.stage=1 "), (Set{"dist.data=2", "zero.stage=1"}));
  EXPECT_EQ(parseSet(""), Set{});
  EXPECT_EQ(parseSet("  "), Set{});
}

TEST(SetsTest, BlanksInBracketsAndQuotesDoNot) {
  EXPECT_EQ(parseSet("pipeline={schedule: ZERO_BUBBLE form: H1} dist.pipeline=2"),
            (Set{"pipeline={schedule: ZERO_BUBBLE form: H1}", "dist.pipeline=2"}));
  EXPECT_EQ(parseSet("pipeline={cuts: [\"h.1\", \"h.2\"] chunks: 1} seed=3"),
            (Set{"pipeline={cuts: [\"h.1\", \"h.2\"] chunks: 1}", "seed=3"}));
  EXPECT_EQ(parseSet("cluster=\"my } clusters/a.cluster\" seed=3"),
            (Set{"cluster=\"my } clusters/a.cluster\"", "seed=3"}));
}

TEST(SetsTest, ASweepIsASetAValue) {
  EXPECT_EQ(*parseSweep("dist.tensor=1,2,4"),
            (std::vector<Set>{{"dist.tensor=1"}, {"dist.tensor=2"}, {"dist.tensor=4"}}));
  EXPECT_EQ(*parseSweep("dist={data: 1, tensor: 2},{data: 2}"),
            (std::vector<Set>{{"dist={data: 1, tensor: 2}"}, {"dist={data: 2}"}}));
  EXPECT_EQ(*parseSweep("model.set=layers=1,layers=2"),
            (std::vector<Set>{{"model.set=layers=1"}, {"model.set=layers=2"}}));
  for (const char *bad : {"", "dist.tensor", "dist.tensor=", "dist.tensor=1,", "=1"}) {
    EXPECT_EQ(parseSweep(bad).status().message(),
              std::string("--sweep: expected KEY=VALUE,VALUE,... as in dist.tensor=1,2,4, got `") + bad + "`");
  }
}

TEST(SetsTest, SweepsCombineWithEverySet) {
  const std::vector<Set> sets = {{}, {"seed=3"}};
  const std::vector<std::vector<Set>> sweeps = {{{"a=1"}, {"a=2"}}, {{"b=1"}, {"b=2"}}};
  EXPECT_EQ(*combine(sets, sweeps, 8), (std::vector<Set>{{"a=1", "b=1"},
                                                         {"a=1", "b=2"},
                                                         {"a=2", "b=1"},
                                                         {"a=2", "b=2"},
                                                         {"seed=3", "a=1", "b=1"},
                                                         {"seed=3", "a=1", "b=2"},
                                                         {"seed=3", "a=2", "b=1"},
                                                         {"seed=3", "a=2", "b=2"}}));
  EXPECT_FALSE(combine(sets, sweeps, 7).ok());
  EXPECT_EQ(*combine({}, {}, 1), std::vector<Set>{{}}) << "no set is the job as it is";
  EXPECT_EQ(*combine({{"a=1"}, {"a=1"}, {}}, {}, 3), (std::vector<Set>{{"a=1"}, {}})) << "what comes twice stands once";
}

TEST(SetsTest, AreNamed) {
  EXPECT_EQ(textOf({}), "(the job)");
  EXPECT_EQ(textOf({"dist.data=2", "zero.stage=1"}), "dist.data=2 zero.stage=1");
}

} // namespace
} // namespace weft::tools
