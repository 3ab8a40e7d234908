// The solver beside enumeration.
#include <algorithm>
#include <cstdio>

#include "compiler/search/chain.h"
#include "compiler/search/enumeration.h"
#include "compiler/search/random_layouts.h"
#include "gtest/gtest.h"

namespace weft::search {
namespace {

constexpr double kMostLabellings = 200'000;

// A memory of which there is too little, just enough, and more and more.
std::vector<int64_t> limitsOf(const std::vector<Price> &all) {
  const int64_t least = fewestBytesOf(all);
  const int64_t fast = fastestOf(all, kNever).bytes;
  return {least - 1, least, least + (fast - least) / 4, least + (fast - least) / 2, fast - 1, fast};
}

struct Counts {
  int problems = 0, closed = 0, infeasible = 0, unknown = 0;
  int slower = 0; // memory is what keeps the best labels from being the fastest of all
};

// What the solver says is true.
void expectTrue(const Labelling &problem, const std::vector<Price> &all, int64_t limit, const Effort &effort,
                Counts &counts) {
  const Solution solution = solve(problem, limit, effort);
  const Price best = fastestOf(all, limit);
  counts.problems += 1;
  counts.slower += best.may() && best.seconds > fastestOf(all, kNever).seconds ? 1 : 0;
  EXPECT_LE(solution.leastBytes, fewestBytesOf(all));
  EXPECT_LE(solution.bound, best.seconds);
  if (!solution.labels.empty()) {
    EXPECT_EQ(priceOf(problem, solution.labels[0]), solution.price);
  }
  EXPECT_EQ(solution.fits, !solution.labels.empty() && solution.price.bytes <= limit);
  if (solution.isInfeasible()) {
    EXPECT_FALSE(best.may());
    EXPECT_EQ(solution.leastBytes, fewestBytesOf(all));
    counts.infeasible += 1;
    counts.closed += 1;
  } else if (solution.fits) {
    EXPECT_GE(solution.price.seconds, best.seconds);
    EXPECT_LE(solution.price.seconds - solution.gap(), best.seconds);
    if (solution.gap() == 0) {
      EXPECT_EQ(solution.price.seconds, best.seconds);
      counts.closed += 1;
    }
  } else {
    counts.unknown += 1;
  }
}

void report(const char *name, const Counts &counts) {
  std::printf("%s: %d problems, memory makes %d slower and %d infeasible; %d with gap 0, %d without labels that fit\n",
              name, counts.problems, counts.slower, counts.infeasible, counts.closed, counts.unknown);
}

TEST(Truth, OfFiveHundredLayouts) {
  Counts full, tables, points, tiny;
  size_t mostVariables = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Labelling problem = randomLayouts(seed, kMostLabellings);
    const std::vector<Price> all = enumerate(problem);
    mostVariables = std::max(mostVariables, problem.own.size());
    for (int64_t limit : limitsOf(all)) {
      SCOPED_TRACE(testing::Message() << "limit " << limit);
      expectTrue(problem, all, limit, {}, full);
      expectTrue(problem, all, limit, {/*table=*/4, /*work=*/1'000'000}, tables);
      expectTrue(problem, all, limit, {/*table=*/1 << 20, /*work=*/1'000'000, /*points=*/2}, points);
      expectTrue(problem, all, limit, {/*table=*/4, /*work=*/1}, tiny);
    }
    if (HasFailure()) {
      break;
    }
  }
  report("full", full);
  report("small tables", tables);
  report("few points", points);
  report("tiny", tiny);
  EXPECT_EQ(full.closed, full.problems);
  EXPECT_LT(tiny.closed, tiny.problems); // or the bound is never all that is left
  EXPECT_GT(full.slower, 1000);
  EXPECT_EQ(mostVariables, 8u);
}

} // namespace
} // namespace weft::search
