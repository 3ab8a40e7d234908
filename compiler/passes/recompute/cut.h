// Minimum cuts of small directed graphs: which of a layer's values to keep (cheap.h).
#ifndef WEFT_COMPILER_PASSES_RECOMPUTE_CUT_H_
#define WEFT_COMPILER_PASSES_RECOMPUTE_CUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::compiler {

/// A network whose nodes are to be parted into those on the source's side and those on the sink's, so that the
/// capacities of the edges from the former to the latter sum to as little as possible.
///
/// Algorithm: E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
/// estimation", 1970; the cut is the one with the fewest nodes on the sink's side.
class Cut {
public:
  static constexpr int kSource = 0, kSink = 1;
  static constexpr int64_t kInfinite = int64_t(1) << 60;

  Cut() : edges_(2) {}

  int addNode();
  /// Capacities are not negative; those of more than `kInfinite` count as that.
  void addEdge(int from, int to, int64_t capacity);

  /// For each node whether it is on the sink's side. There must be a cut without infinite edges. Call once.
  std::vector<bool> solve();

private:
  struct Edge {
    int to;
    int reverse; // index of the edge back, in edges_[to]
    int64_t rest;
  };

  bool rank();
  int64_t push(int node, int64_t flow);

  std::vector<std::vector<Edge>> edges_;
  std::vector<int> rank_;         // steps from the source in the residual network; -1: out of reach
  std::vector<std::size_t> next_; // the edge of each node that was not tried yet
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_RECOMPUTE_CUT_H_
