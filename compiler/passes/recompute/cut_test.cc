#include "compiler/passes/recompute/cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace weft::compiler {
namespace {

struct Edge {
  int from, to;
  int64_t capacity;
};

int64_t weight(const std::vector<Edge> &edges, const std::vector<bool> &sink) {
  int64_t sum = 0;
  for (const Edge &edge : edges) {
    sum += !sink[edge.from] && sink[edge.to] ? edge.capacity : 0;
  }
  return sum;
}

// Every way to part the nodes; the least weight, and of those the fewest nodes on the sink's side.
std::vector<bool> exhaustive(int nodes, const std::vector<Edge> &edges) {
  std::vector<bool> best;
  std::pair<int64_t, int> least{INT64_MAX, 0};
  for (int bits = 0; bits < 1 << (nodes - 2); ++bits) {
    std::vector<bool> sink(nodes, false);
    sink[Cut::kSink] = true;
    for (int node = 2; node < nodes; ++node) {
      sink[node] = (bits >> (node - 2)) & 1;
    }
    std::pair<int64_t, int> now{weight(edges, sink), int(std::count(sink.begin(), sink.end(), true))};
    if (now < least) {
      least = now;
      best = sink;
    }
  }
  return best;
}

TEST(CutTest, PartsAsTheCheapestOfAllCuts) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    int nodes = 4 + int(random() % 7);
    Cut cut;
    std::vector<Edge> edges;
    for (int node = 2; node < nodes; ++node) {
      ASSERT_EQ(cut.addNode(), node);
    }
    for (int i = 0; i < 3 * nodes; ++i) {
      Edge edge{int(random() % nodes), int(random() % nodes), int64_t(random() % 5)};
      edges.push_back(edge);
      cut.addEdge(edge.from, edge.to, edge.capacity);
    }
    EXPECT_EQ(cut.solve(), exhaustive(nodes, edges)) << "trial " << trial;
  }
}

TEST(CutTest, KeepsInfiniteEdgesWhole) {
  // source -2-> a -inf-> b -5-> sink, source -9-> b
  Cut cut;
  int a = cut.addNode(), b = cut.addNode();
  cut.addEdge(Cut::kSource, a, 2);
  cut.addEdge(a, b, Cut::kInfinite);
  cut.addEdge(b, Cut::kSink, 5);
  cut.addEdge(Cut::kSource, b, 9);
  EXPECT_EQ(cut.solve(), (std::vector<bool>{false, true, false, false}));
}

} // namespace
} // namespace weft::compiler
