#include "compiler/passes/recompute/cut.h"

#include <algorithm>

namespace weft::compiler {

int Cut::addNode() {
  edges_.emplace_back();
  return int(edges_.size()) - 1;
}

void Cut::addEdge(int from, int to, int64_t capacity) {
  edges_[from].push_back({to, int(edges_[to].size()), std::min(capacity, kInfinite)});
  edges_[to].push_back({from, int(edges_[from].size()) - 1, 0});
}

// Ranks the nodes by their distance from the source; true if the sink is within reach.
bool Cut::rank() {
  rank_.assign(edges_.size(), -1);
  rank_[kSource] = 0;
  std::vector<int> reached{kSource};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Edge &edge : edges_[reached[i]]) {
      if (edge.rest > 0 && rank_[edge.to] < 0) {
        rank_[edge.to] = rank_[reached[i]] + 1;
        reached.push_back(edge.to);
      }
    }
  }
  return rank_[kSink] >= 0;
}

// Sends up to `flow` from a node to the sink, each step one rank on; how much arrived.
int64_t Cut::push(int node, int64_t flow) {
  if (node == kSink) {
    return flow;
  }
  for (size_t &i = next_[node]; i < edges_[node].size(); ++i) {
    Edge &edge = edges_[node][i];
    if (edge.rest == 0 || rank_[edge.to] != rank_[node] + 1) {
      continue;
    }
    if (int64_t arrived = push(edge.to, std::min(flow, edge.rest)); arrived > 0) {
      edge.rest -= arrived;
      edges_[edge.to][edge.reverse].rest += arrived;
      return arrived;
    }
  }
  return 0;
}

std::vector<bool> Cut::solve() {
  while (rank()) {
    next_.assign(edges_.size(), 0);
    while (push(kSource, kInfinite) > 0) {
    }
  }
  // On the sink's side is what the residual network leads from to the sink.
  std::vector<bool> leads(edges_.size(), false);
  leads[kSink] = true;
  std::vector<int> reached{kSink};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Edge &edge : edges_[reached[i]]) {
      if (edges_[edge.to][edge.reverse].rest > 0 && !leads[edge.to]) {
        leads[edge.to] = true;
        reached.push_back(edge.to);
      }
    }
  }
  return leads;
}

} // namespace weft::compiler
