// A chain in one piece, and what every label costs at least, without tables over more than two variables. Messages pass
// along the links (sequential tree-reweighted message passing: Kolmogorov, "Convergent tree-reweighted message
// passing", PAMI 28, 2006, here in whole numbers): whatever they say, what all labels cost together stays the same, so
// that the least of each part add up to a bound. It is less than that of elimination, but takes no more time where
// there are many states. For one thread; fails never.
#ifndef WEFT_COMPILER_SEARCH_RELAXATION_H_
#define WEFT_COMPILER_SEARCH_RELAXATION_H_

#include <vector>

#include "compiler/search/chain.h"
#include "compiler/search/elimination.h"

namespace weft::search {

class Relaxation {
public:
  /// Refers to the chain. `classOf` has the block of each place.
  Relaxation(const Chain &chain, const std::vector<int> &classOf);

  /// A label of each node. A node is a variable of one place, or one at the border of two.
  using Nodes = std::vector<int>;

  /// Passes messages so many times to and fro, and gives labels that the messages lead to. Costs add up to less than
  /// 2^52 for these weights. If it is not `fresh`, after those of the last run, for the same weights.
  Nodes run(Weights weights, int rounds, Work &work, bool fresh = true);
  /// After `run`: what all costs at least; what it costs at least if a class of blocks has a label at some place.
  struct Bound {
    Cost least = 0;
    std::vector<std::vector<std::vector<Cost>>> marginals; // a block of the chain, a variable, a label
  };
  Bound bound(Work &work) const;

  Price priceOf(const Nodes &nodes) const;
  /// Labels of each place, in order.
  std::vector<std::vector<int>> labelsOf(const Nodes &nodes) const;
  /// Has some places like `first`, those that follow like `then`: the fastest such labels of at most `limit` bytes,
  /// `best` if they are no faster.
  Nodes cross(const Nodes &first, const Nodes &then, int64_t limit, const Nodes &best) const;
  /// Gives each node the label that is best as the others are, until nothing changes.
  void descend(Nodes &nodes, Weights weights) const;
  /// Gives each node the fastest label with which all still has at most `limit` bytes, until nothing changes.
  void fill(Nodes &nodes, int64_t limit) const;

private:
  struct Edge {
    int first, second; // nodes
    const Link *link;
    int table; // of `costs_`
  };
  struct End {
    int edge;
    bool first;
  };

  void begin(Weights weights);
  void pass(bool forward, Nodes &nodes, Work &work);
  Nodes alike(const Nodes &nodes) const;
  void pull(const End &end);
  int choose(int node, const std::vector<Cost> &all, const Nodes &nodes) const;
  // What the other end of an edge says of each class of this one's labels.
  std::vector<Cost> &message(const End &end, bool toMe) {
    return messages_[2 * end.edge + (end.first == toMe ? 0 : 1)];
  }
  const std::vector<Cost> &message(const End &end, bool toMe) const {
    return messages_[2 * end.edge + (end.first == toMe ? 0 : 1)];
  }
  const std::vector<int> &classesOf(const End &end) const {
    return end.first ? edges_[end.edge].link->firstClass : edges_[end.edge].link->secondClass;
  }
  int otherOf(const End &end) const { return end.first ? edges_[end.edge].second : edges_[end.edge].first; }
  Price priceAt(const End &end, int mine, int other) const;
  Price around(const Nodes &nodes, int node, int label) const;
  std::vector<Cost> gathered(int node) const;

  const Chain &chain_;
  const std::vector<int> &classOf_;
  std::vector<std::vector<int>> nodeOf_; // a place, a variable
  std::vector<int> placeOf_;             // of a node: the first one
  std::vector<std::vector<Price>> own_;  // a node, a label
  std::vector<std::vector<End>> ends_;   // a node
  std::vector<Edge> edges_;
  Weights weights_;
  std::vector<const Link *> links_;         // of all blocks
  std::vector<std::vector<Cost>> costs_;    // of each of them, weighted
  std::vector<std::vector<Cost>> messages_; // to an edge's first end, to its second one
};

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_RELAXATION_H_
