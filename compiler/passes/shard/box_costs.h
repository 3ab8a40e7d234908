// What the boxes of each value of a labelling problem cost, under the choices that its nodes have at present.
#ifndef WEFT_COMPILER_PASSES_SHARD_BOX_COSTS_H_
#define WEFT_COMPILER_PASSES_SHARD_BOX_COSTS_H_

#include <cstdint>
#include <vector>

#include "compiler/passes/shard/problem.h"

namespace weft::compiler {

/// The share of an overlapped reduction's seconds that the backward does not hide. Of GPT-2 345M's reductions on 64
/// H200s 1.0 of 1.95 ms are exposed with 2 layers, and 0.03 of 9.7 ms with 24.
inline constexpr double kExposedShare = 0.5;

/// What the search counts for a box of a value: its seconds, weighed by what they do not say.
double boxSeconds(const SolverValue &value, ir::SbpState from, ir::SbpState to, const plan::Spread &axis,
                  const CostModel &machine);

/// A local search asks for the same few boxes millions of times, so each is priced once. Refers to the problem that it
/// is given, which must outlive it; of that only choices may change. For one thread.
class BoxCosts {
public:
  BoxCosts(const std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values, const plan::Spread &axis,
           const CostModel &machine);

  /// Seconds a step of one box for each distinct state that readers want, as often as the most frequent of them needs
  /// it; once B is there, the others may start from it.
  double secondsOf(int value) const;

  /// Which of its states a value is made in: a number from 0 on.
  int madeAs(int value) const { return numberAt(known_[value].made); }

private:
  // Where a node makes or reads a value: which number the state has that its first candidate wants, in `numbers_`.
  struct End {
    int node = -1; // -1: none makes it
    int numbers = 0;
    double moves = 0;
  };
  struct Known {
    End made;
    int firstRead = 0, lastRead = 0; // in `reads_`, the last one excluded
    int firstState = 0, states = 0;  // that it is made or read in, in `states_`
    int firstPrice = 0;              // in `prices_`: a row a state from which, a column a state to which; a row from B
  };

  // Which number a state has among those of the last value, which it joins.
  uint8_t numberOf(ir::SbpState state);
  int numberAt(const End &end) const { return numbers_[end.numbers + (end.node < 0 ? 0 : nodes_[end.node].choice)]; }
  double price(int value, int from, int to) const;
  double priceFromBroadcast(int value, int to) const;

  const std::vector<SolverNode> &nodes_;
  const std::vector<SolverValue> &values_;
  const plan::Spread axis_;
  const CostModel &machine_;
  std::vector<Known> known_; // a value each
  std::vector<End> reads_;
  std::vector<uint8_t> numbers_;
  std::vector<ir::SbpState> states_;
  mutable std::vector<double> prices_; // NaN: not yet asked for
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_BOX_COSTS_H_
