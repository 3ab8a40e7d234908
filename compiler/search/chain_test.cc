#include "compiler/search/chain.h"

#include <algorithm>
#include <random>

#include "compiler/search/enumeration.h"
#include "gtest/gtest.h"

namespace weft::search {
namespace {

class Random {
public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int below(int n) { return int(engine_() % uint32_t(n)); }
  // Small numbers make many solutions equally good.
  Price price() { return below(12) == 0 ? kImpossible : Price{below(20), below(20)}; }

private:
  std::mt19937 engine_;
};

std::vector<int> classes(Random &random, int labels, int count) {
  std::vector<int> of;
  for (int i = 0; i < labels; ++i) {
    of.push_back(random.below(count));
  }
  return of;
}

Link linkOf(Random &random, const Labelling &problem, int first, int second) {
  const int rows = 1 + random.below(4), columns = 1 + random.below(4);
  Link link{first,
            second,
            classes(random, int(problem.own[first].size()), rows),
            classes(random, int(problem.own[second].size()), columns),
            columns,
            {}};
  for (int i = 0; i < rows * columns; ++i) {
    link.price.push_back(random.price());
  }
  return link;
}

// Problems that are small and hang together as they like.
Labelling problemOf(Random &random, int variables, int mostLabels, int mostLinks) {
  Labelling problem;
  for (int v = 0; v < variables; ++v) {
    std::vector<Price> &own = problem.own.emplace_back();
    for (int label = 1 + random.below(mostLabels); label > 0; --label) {
      own.push_back(random.price());
    }
  }
  for (int i = random.below(mostLinks); i > 0 && variables > 1; --i) {
    const int first = random.below(variables), second = random.below(variables);
    if (first != second) {
      problem.links.push_back(linkOf(random, problem, first, second));
    }
  }
  return problem;
}

Labelling problemOf(uint32_t seed, int mostLinks = 12) {
  Random random(seed);
  return problemOf(random, /*variables=*/1 + random.below(7), /*mostLabels=*/5, mostLinks);
}

int64_t limitOf(uint32_t seed, const std::vector<Price> &all) {
  const int64_t least = fewestBytesOf(all), fast = fastestOf(all, kNever).bytes;
  return all.empty() ? 100 : least - 1 + (fast - least + 2) * int64_t(seed % 5) / 4;
}

// Of the best solution; `all` is what is possible.
void expectBest(const Solution &found, const std::vector<Price> &all, int64_t limit) {
  const Price best = fastestOf(all, limit);
  EXPECT_EQ(found.fits, best.may());
  EXPECT_EQ(found.bound, best.seconds);
  if (best.may()) {
    EXPECT_EQ(found.price.seconds, best.seconds);
    EXPECT_LE(found.price.bytes, limit);
  } else {
    EXPECT_TRUE(found.isInfeasible());
    EXPECT_EQ(found.leastBytes, fewestBytesOf(all));
  }
}

TEST(Solve, FindsTheBestOfAll) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Labelling problem = problemOf(seed);
    const std::vector<Price> all = enumerate(problem);
    const Solution found = solve(problem, limitOf(seed, all));
    expectBest(found, all, limitOf(seed, all));
    ASSERT_FALSE(HasFailure());
    if (!all.empty()) {
      ASSERT_EQ(priceOf(problem, found.labels[0]), found.price);
    }
  }
}

TEST(Solve, TablesThatAreTooLargeAreMadeGoodByCases) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Labelling problem = problemOf(seed, /*mostLinks=*/40);
    const std::vector<Price> all = enumerate(problem);
    expectBest(solve(problem, limitOf(seed, all), {/*table=*/3}), all, limitOf(seed, all));
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Solve, WithLittleEffortTheBoundHolds) {
  int open = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Labelling problem = problemOf(seed, /*mostLinks=*/200);
    const std::vector<Price> all = enumerate(problem);
    const int64_t limit = limitOf(seed, all);
    const Effort efforts[] = {
        {/*table=*/2, /*work=*/1}, {/*table=*/2, /*work=*/5000}, {1 << 10, 1 << 20, /*points=*/1}};
    for (const Effort &effort : efforts) {
      const Solution found = solve(problem, limit, effort);
      const Price best = fastestOf(all, limit);
      ASSERT_LE(found.bound, best.seconds);
      ASSERT_LE(found.leastBytes, fewestBytesOf(all));
      ASSERT_TRUE(!found.fits || found.price.seconds >= best.seconds);
      open += !found.isInfeasible() && found.bound < found.price.seconds ? 1 : 0;
    }
  }
  EXPECT_GT(open, 100); // or this says nothing
}

// Each of `all` has a point that is no worse than the frontier says.
void expectNear(const WholeFrontier &whole, const Frontier &all) {
  EXPECT_LT(whole.error, kNever);
  for (const Price price : all) {
    EXPECT_TRUE(std::any_of(whole.points.begin(), whole.points.end(), [&](Price point) {
      return point.bytes <= price.bytes && point.seconds <= price.seconds + whole.error;
    }));
  }
}

TEST(Frontier, IsThatOfAllLabels) {
  int few = 0, many = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Labelling problem = problemOf(seed);
    const Chain chain{{{problem, {}, {}}}, {{0, 1}}};
    std::vector<Price> all = enumerate(problem);
    keepUndominated(all);
    const WholeFrontier whole = frontierOf(chain, {/*table=*/seed % 2 == 0 ? 3 : 1 << 20});
    ASSERT_EQ(whole.points, all);
    ASSERT_EQ(whole.error, 0);
    // With few points each one is near.
    const WholeFrontier coarse = frontierOf(chain, {1 << 20, 1 << 30, /*points=*/2});
    expectNear(coarse, all);
    // By limits, as what was allowed was too little to put all frontiers together.
    const WholeFrontier sampled = frontierOf(chain, {1 << 20, /*work=*/40 + 10 * int64_t(seed)});
    expectNear(sampled, all);
    many += sampled.error > 0 && sampled.points.size() > 1 ? 1 : 0;
    few += coarse.points.size() < all.size() ? 1 : 0;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(few, 100);
  EXPECT_GT(many, 20);
}

// The same problem in one piece: variables at a border are one.
Labelling unrolled(const Chain &chain) {
  Labelling all;
  std::vector<int> border;
  for (const Chain::Run &run : chain.runs) {
    const Block &block = chain.blocks[run.block];
    for (int copy = 0; copy < run.copies; ++copy) {
      std::vector<int> at(block.labelling.own.size(), -1);
      for (size_t i = 0; i < block.in.size(); ++i) {
        at[block.in[i]] = border[i];
        for (size_t label = 0; label < all.own[border[i]].size(); ++label) {
          Price &own = all.own[border[i]][label];
          own = own + block.labelling.own[block.in[i]][label];
        }
      }
      for (size_t v = 0; v < at.size(); ++v) {
        if (at[v] < 0) {
          at[v] = int(all.own.size());
          all.own.push_back(block.labelling.own[v]);
        }
      }
      for (Link link : block.labelling.links) {
        link.first = at[link.first];
        link.second = at[link.second];
        all.links.push_back(link);
      }
      border.clear();
      for (int v : block.out) {
        border.push_back(at[v]);
      }
    }
  }
  return all;
}

// A first block, copies of one or two others, and a last one; borders of one or two variables, one of which may pass
// through all blocks.
Chain chainOf(uint32_t seed, int copies) {
  Random random(seed);
  const int width = 1 + random.below(2);
  const bool passes = random.below(3) == 0;
  std::vector<int> labels;
  for (int i = 0; i < width; ++i) {
    labels.push_back(1 + random.below(2) + (width == 1 ? 1 : 0));
  }
  const auto block = [&](bool hasIn, bool hasOut) {
    Block made;
    made.labelling = problemOf(random, /*variables=*/1 + random.below(2), /*mostLabels=*/2, /*mostLinks=*/0 + 1);
    const auto border = [&](int i) {
      std::vector<Price> &own = made.labelling.own.emplace_back();
      for (int label = 0; label < labels[i]; ++label) {
        own.push_back(random.price());
      }
      return int(made.labelling.own.size()) - 1;
    };
    for (int i = 0; i < width && hasIn; ++i) {
      made.in.push_back(border(i));
    }
    for (int i = 0; i < width && hasOut; ++i) {
      made.out.push_back(hasIn && passes && i == 0 ? made.in[0] : border(i));
    }
    const int variables = int(made.labelling.own.size());
    for (int i = 1 + random.below(5); i > 0; --i) {
      const int first = random.below(variables), second = random.below(variables);
      if (first != second) {
        made.labelling.links.push_back(linkOf(random, made.labelling, first, second));
      }
    }
    return made;
  };
  Chain chain{{block(false, true), block(true, true), block(true, true), block(true, false)}, {{0, 1}, {1, copies}}};
  if (random.below(2) == 0) {
    chain.runs.push_back({2, 1});
    chain.runs.push_back({1, 1});
  }
  chain.runs.push_back({3, 1});
  return chain;
}

TEST(Chain, IsWhatItIsInOnePiece) {
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Chain chain = chainOf(seed, /*copies=*/1 + int(seed) % 3);
    std::vector<Price> all = enumerate(unrolled(chain));
    const int64_t limit = limitOf(seed / 3, all);
    const Solution found = solve(chain, limit, {/*table=*/seed % 2 == 0 ? 3 : 1 << 20});
    expectBest(found, all, limit);
    // With few points, or hardly any effort, the bound holds.
    for (const Effort &effort : {Effort{1 << 20, 1 << 30, /*points=*/1}, Effort{/*table=*/3, /*work=*/1}}) {
      const Solution coarse = solve(chain, limit, effort);
      ASSERT_LE(coarse.bound, fastestOf(all, limit).seconds);
      ASSERT_LE(coarse.leastBytes, fewestBytesOf(all));
      ASSERT_TRUE(!coarse.fits || coarse.price.seconds >= fastestOf(all, limit).seconds);
    }
    if (!all.empty()) {
      Price sum;
      size_t place = 0;
      std::vector<int> border;
      for (const Chain::Run &run : chain.runs) {
        for (int copy = 0; copy < run.copies; ++copy, ++place) {
          const Block &block = chain.blocks[run.block];
          for (size_t i = 0; i < block.in.size(); ++i) {
            ASSERT_EQ(found.labels[place][block.in[i]], border[i]);
          }
          border.clear();
          for (int v : block.out) {
            border.push_back(found.labels[place][v]);
          }
          sum = sum + priceOf(block.labelling, found.labels[place]);
        }
      }
      ASSERT_EQ(sum, found.price);
    }
    keepUndominated(all);
    ASSERT_EQ(frontierOf(chain).points, all);
    expectNear(frontierOf(chain, {1 << 20, 1 << 30, /*points=*/2}), all);
    ASSERT_FALSE(HasFailure());
  }
}

// Blocks of an op between borders of `states` states, each of which costs 10 to change and 10 to change back.
Block stateBlock(Random &random, int states, bool hasIn, bool hasOut) {
  Block block;
  std::vector<int> identity;
  std::vector<Price> op, none(states);
  for (int i = 0; i < states; ++i) {
    identity.push_back(i);
    op.push_back({100 + 10 * random.below(5), 10 * random.below(10)}); // some are equally good, or much better
  }
  block.labelling.own = {op};
  const auto border = [&](std::vector<int> &side) {
    side.push_back(int(block.labelling.own.size()));
    block.labelling.own.push_back(none);
    Link link{0, side.back(), identity, identity, states, {}};
    for (int i = 0; i < states * states; ++i) {
      link.price.push_back({i % (states + 1) == 0 ? 0 : 10, 0});
    }
    block.labelling.links.push_back(link);
  };
  if (hasIn) {
    border(block.in);
  }
  if (hasOut) {
    border(block.out);
  }
  return block;
}

TEST(Chain, CopiesAreAlikeAtAnyDepth) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    Chain chain{
        {stateBlock(random, 6, false, true), stateBlock(random, 6, true, true), stateBlock(random, 6, true, false)},
        {{0, 1}, {1, 12}, {2, 1}}};
    const Solution few = solve(chain, kNever);
    for (int copies : {12, 22, 24, 48}) {
      chain.runs[1].copies = copies;
      const Solution found = solve(chain, kNever);
      ASSERT_EQ(found.gap(), 0);
      for (int i = 0; i <= copies + 1; ++i) {
        // As near to the first block, or to the last one, or in the middle.
        ASSERT_EQ(found.labels[i], few.labels[i < 6 ? i : i > copies - 6 ? i - copies + 12 : 6]) << copies << " " << i;
      }
      ASSERT_EQ(few.labels[5], few.labels[6]);
    }
  }
}

TEST(Chain, CopiesDifferWhereMemoryIsShort) {
  // Keeping takes bytes, computing again takes seconds.
  const Chain chain{{{{{{{10, 7}, {13, 2}}}, {}}, {}, {}}}, {{0, 8}}};
  for (int kept = 0; kept <= 8; ++kept) {
    const Solution found = solve(chain, 8 * 2 + kept * 5 + 4);
    EXPECT_EQ(found.price, (Price{8 * 13 - kept * 3, 8 * 2 + kept * 5}));
    EXPECT_EQ(found.gap(), 0);
    EXPECT_EQ(std::count(found.labels.begin(), found.labels.end(), std::vector<int>{0}), kept);
  }
  const Solution none = solve(chain, 15);
  EXPECT_TRUE(none.isInfeasible());
  EXPECT_EQ(none.leastBytes, 16);
}

TEST(Chain, AGapThatIsEnoughIsLeft) {
  Random random(1);
  Chain chain{
      {stateBlock(random, 6, false, true), stateBlock(random, 6, true, true), stateBlock(random, 6, true, false)},
      {{0, 1}, {1, 30}, {2, 1}}};
  int left = 0;
  for (int64_t limit = solve(chain, 0).leastBytes; limit < 2000; limit += 10) {
    Effort effort;
    effort.enough = 20'000;
    const Solution found = solve(chain, limit, effort), best = solve(chain, limit);
    EXPECT_EQ(best.gap(), 0);
    EXPECT_LE(found.bound, best.price.seconds);
    EXPECT_LE(found.gap() * 50, found.price.seconds);
    left += found.gap() > 0 ? 1 : 0;
  }
  EXPECT_GT(left, 10);
}

} // namespace
} // namespace weft::search
