#include "compiler/search/labelling.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace weft::search {
namespace {

// The least cost by looking at all labels; written apart from the solver.
Cost leastOf(const Labelling &problem) {
  std::vector<int> labels(problem.own.size(), 0);
  Cost least = kNever;
  while (true) {
    Cost cost = 0;
    for (size_t v = 0; v < labels.size(); ++v) {
      cost += problem.own[v][labels[v]];
    }
    for (const Link &link : problem.links) {
      const int a = link.firstClass[labels[link.first]], b = link.secondClass[labels[link.second]];
      cost = std::min(kNever, cost + link.cost[a * link.secondClasses + b]);
    }
    least = std::min(least, cost);
    size_t v = 0;
    while (v < labels.size() && ++labels[v] == int(problem.own[v].size())) {
      labels[v++] = 0;
    }
    if (v == labels.size()) {
      return least;
    }
  }
}

class Random {
public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int below(int n) { return int(engine_() % uint32_t(n)); }
  // Small numbers make many solutions equally good.
  Cost cost() { return below(12) == 0 ? kNever : below(20); }

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
    link.cost.push_back(random.cost());
  }
  return link;
}

Labelling problemOf(uint32_t seed, int mostLinks = 12) {
  Random random(seed);
  Labelling problem;
  const int variables = 1 + random.below(7);
  for (int v = 0; v < variables; ++v) {
    std::vector<Cost> &own = problem.own.emplace_back();
    for (int label = 1 + random.below(5); label > 0; --label) {
      own.push_back(random.cost());
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

TEST(Labelling, IsTheBestOfAll) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const Labelling problem = problemOf(seed);
    const Labels found = solve(problem);
    const Cost least = leastOf(problem);
    ASSERT_EQ(found.cost, least) << "seed " << seed;
    ASSERT_EQ(found.bound, least) << "seed " << seed;
    if (least < kNever) {
      ASSERT_EQ(costOf(problem, found.labels), least) << "seed " << seed;
    }
  }
}

TEST(Labelling, SplitTablesAreMadeGoodByBranching) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const Labelling problem = problemOf(seed, /*mostLinks=*/40);
    const Labels found = solve(problem, {/*table=*/3});
    ASSERT_EQ(found.cost, leastOf(problem)) << "seed " << seed;
    ASSERT_EQ(found.bound, found.cost) << "seed " << seed;
  }
}

TEST(Labelling, WithLittleEffortTheBoundHolds) {
  int open = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const Labelling problem = problemOf(seed, /*mostLinks=*/200);
    const Labels found = solve(problem, {/*table=*/2, /*work=*/1});
    const Cost least = leastOf(problem);
    ASSERT_LE(found.bound, least) << "seed " << seed;
    ASSERT_GE(found.cost, least) << "seed " << seed;
    open += found.bound < found.cost ? 1 : 0;
  }
  EXPECT_GT(open, 10); // or this says nothing
}

TEST(Labelling, NothingIsPossible) {
  Labelling problem{{{1, 2}, {3}}, {{0, 1, {0, 1}, {0}, 1, {kNever, kNever}}}};
  const Labels found = solve(problem);
  EXPECT_EQ(found.cost, kNever);
  EXPECT_EQ(found.bound, kNever);
}

// A ladder as forward and backward make it: layers of forward ops, each of which a backward op reads.
Labelling ladderOf(int layers, int labels, uint32_t seed) {
  Random random(seed);
  Labelling problem;
  for (int v = 0; v < 2 * layers; ++v) {
    std::vector<Cost> &own = problem.own.emplace_back();
    for (int label = 0; label < labels; ++label) {
      own.push_back(random.below(1000));
    }
  }
  std::vector<int> identity(labels);
  for (int i = 0; i < labels; ++i) {
    identity[i] = i;
  }
  const auto connect = [&](int first, int second) {
    Link link{first, second, identity, identity, labels, {}};
    for (int i = 0; i < labels * labels; ++i) {
      link.cost.push_back(i % (labels + 1) == 0 ? 0 : random.below(1000));
    }
    problem.links.push_back(link);
  };
  for (int i = 0; i < layers; ++i) {
    connect(2 * i, 2 * i + 1);
    if (i > 0) {
      connect(2 * i - 2, 2 * i);
      connect(2 * i + 1, 2 * i - 1);
    }
  }
  return problem;
}

TEST(Labelling, LongLaddersAreSolvedExactly) {
  const Labelling problem = ladderOf(/*layers=*/200, /*labels=*/20, /*seed=*/1);
  const Labels found = solve(problem);
  EXPECT_EQ(found.bound, found.cost);
  EXPECT_EQ(costOf(problem, found.labels), found.cost);
  // Whatever one variable has instead is no better.
  for (size_t v = 0; v < found.labels.size(); v += 7) {
    std::vector<int> labels = found.labels;
    for (int label = 0; label < 20; ++label) {
      labels[v] = label;
      EXPECT_GE(costOf(problem, labels), found.cost);
    }
  }
}

} // namespace
} // namespace weft::search
