#include "compiler/passes/shard/exact.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "compiler/search/chain.h"

namespace weft::compiler {
namespace {

using ir::SbpState;
using search::Price;

constexpr double kPicosecond = 1e-12;
// What a chain may cost to solve: 0.1 s of a core, and a part in a hundred of its seconds that need not be found.
constexpr int64_t kWork = 200'000'000, kEnough = 10'000, kTable = 1 << 20;

struct Variable {
  std::vector<Price> own;            // a label
  std::vector<SbpState> states = {}; // of a value, a label
  int block = 0;                     // where its own price counts
  int first = 0, last = 0;           // blocks that know it
};

class Problem {
public:
  Problem(std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values, const Blocks &blocks,
          const plan::Spread &axis, const CostModel &machine)
      : nodes_(nodes), values_(values), blocks_(blocks), axis_(axis), machine_(machine) {
    addNodes();
    for (const SolverValue &value : values_) {
      if (!value.free && !value.uses.empty()) {
        addValue(value);
      }
    }
    spread();
  }

  bool solve(double limit) {
    if (!copiesFollowEachOther()) {
      return false;
    }
    const search::Chain chain = chainOf();
    search::Effort effort;
    effort.work = kWork;
    effort.enough = kEnough;
    effort.table = kTable;
    const int64_t most = search::kNever / 8;
    const search::Solution solution =
        search::solve(chain, limit > 0 && limit < double(most) ? int64_t(limit) : most, effort);
    if (solution.labels.empty()) {
      return false;
    }
    auto place = solution.labels.begin();
    for (int b = 0; b < int(blocks_.copies.size()); ++b) {
      const std::vector<int> &labels = mostCommon(place, place + blocks_.copies[b]);
      for (int n = 0; n < int(nodes_.size()); ++n) {
        if (blocks_.of[n] == b) {
          nodes_[n].choice = labels[indexIn(b, n)];
        }
      }
      place += blocks_.copies[b];
    }
    return true;
  }

private:
  using Copy = std::vector<std::vector<int>>::const_iterator;

  // The labels that most copies have.
  static const std::vector<int> &mostCommon(Copy begin, Copy end) {
    return *std::max_element(begin, end, [&](const std::vector<int> &a, const std::vector<int> &b) {
      return std::count(begin, end, a) < std::count(begin, end, b);
    });
  }

  struct Joint {               // a link, before it is known in which block it counts
    int first = 0, second = 0; // variables
    search::Link link;
  };

  int64_t bytesOf(const SolverValue &value, SbpState state) const {
    return int64_t(state.isSplit() ? value.bytes / double(axis_.ranks) : value.bytes);
  }

  Price box(const SolverValue &value, SbpState from, SbpState to, double times) const {
    if (from == to) {
      return {};
    }
    if (std::isinf(times)) {
      return search::kImpossible;
    }
    const double seconds = boxSeconds(value, from, to, axis_, machine_) * times;
    return {std::llround(seconds / kPicosecond), 0};
  }

  void addNodes() {
    for (int n = 0; n < int(nodes_.size()); ++n) {
      Variable &variable = variables_.emplace_back();
      variable.block = blocks_.of[n];
      for (double seconds : nodes_[n].seconds) {
        variable.own.push_back({std::llround(seconds * nodes_[n].weight / kPicosecond), 0});
      }
    }
    // What is held as it is made.
    for (const SolverValue &value : values_) {
      if (value.producer < 0 || value.free) {
        continue;
      }
      const SolverNode &node = nodes_[value.producer];
      for (size_t c = 0; c < node.candidates.size(); ++c) {
        variables_[value.producer].own[c].bytes +=
            int64_t(value.held.made * double(bytesOf(value, node.candidates[c]->results[value.result])));
      }
    }
  }

  std::vector<SbpState> madeStates(const SolverValue &value) const {
    std::vector<SbpState> states;
    for (const ir::Signature *s : nodes_[value.producer].candidates) {
      states.push_back(s->results[value.result]);
    }
    return states;
  }

  std::vector<SbpState> readStates(SolverValue::Use use) const {
    std::vector<SbpState> states;
    for (const ir::Signature *s : nodes_[use.node].candidates) {
      states.push_back(s->operands[use.operand]);
    }
    return states;
  }

  // The states in which a value may be handed on: those it is made in, and of those it is read in all that are not
  // pending, as nothing is gained by making a value pending.
  std::vector<SbpState> handedStates(const SolverValue &value) const {
    std::vector<SbpState> states = value.producer < 0 ? std::vector{value.fixed} : madeStates(value);
    for (SolverValue::Use use : value.uses) {
      for (SbpState state : readStates(use)) {
        if (!state.isPartial()) {
          states.push_back(state);
        }
      }
    }
    return sorted(std::move(states));
  }

  static std::vector<SbpState> sorted(std::vector<SbpState> states) {
    std::sort(states.begin(), states.end());
    states.erase(std::unique(states.begin(), states.end()), states.end());
    return states;
  }

  // Joins two variables of whose labels these are the states.
  template <typename PriceOf>
  void join(int first, const std::vector<SbpState> &firstStates, int second, const std::vector<SbpState> &secondStates,
            PriceOf priceOf) {
    const std::vector<SbpState> rows = sorted(firstStates), columns = sorted(secondStates);
    auto classesOf = [](const std::vector<SbpState> &states, const std::vector<SbpState> &classes) {
      std::vector<int> of;
      for (SbpState state : states) {
        of.push_back(int(std::lower_bound(classes.begin(), classes.end(), state) - classes.begin()));
      }
      return of;
    };
    search::Link link{0, 0, classesOf(firstStates, rows), classesOf(secondStates, columns), int(columns.size()), {}};
    for (SbpState from : rows) {
      for (SbpState to : columns) {
        link.price.push_back(priceOf(from, to));
      }
    }
    joints_.push_back({first, second, std::move(link)});
  }

  void addValue(const SolverValue &value) {
    const std::vector<SbpState> states = handedStates(value);
    double most = 0; // times that it is boxed for any reader
    for (SolverValue::Use use : value.uses) {
      const double moves = nodes_[use.node].moves[use.operand];
      most = std::isinf(moves) ? most : std::max(most, moves);
    }
    const int handed = int(variables_.size());
    Variable &variable = variables_.emplace_back();
    variable.block = blocks_.of[value.producer < 0 ? value.uses[0].node : value.producer];
    variable.states = states;
    for (SbpState state : states) {
      const Price price{0, int64_t(value.held.read * double(bytesOf(value, state)))};
      variable.own.push_back(value.producer < 0 ? price + box(value, value.fixed, state, most) : price);
    }
    if (value.producer >= 0) {
      join(value.producer, madeStates(value), handed, states, [&](SbpState from, SbpState to) {
        const int64_t copy = from == to ? 0 : int64_t(value.held.copy * double(bytesOf(value, to)));
        return box(value, from, to, most) + Price{0, copy};
      });
    }
    for (SolverValue::Use use : value.uses) {
      const double moves = nodes_[use.node].moves[use.operand];
      auto read = [&](SbpState from, SbpState to) { return box(value, from, to, moves); };
      if (!std::isinf(moves)) {
        join(handed, states, use.node, readStates(use), read);
      } else if (value.producer >= 0) {
        join(value.producer, madeStates(value), use.node, readStates(use), read);
      } else {
        for (auto [price, want] : llvm::zip(variables_[use.node].own, readStates(use))) {
          price = price + read(value.fixed, want);
        }
      }
    }
  }

  // Of two variables that are joined across blocks one passes through to the other: those that many are joined with
  // first.
  void spread() {
    for (Variable &variable : variables_) {
      variable.first = variable.last = variable.block;
    }
    std::vector<const Joint *> open;
    for (const Joint &joint : joints_) {
      if (variables_[joint.first].block != variables_[joint.second].block) {
        open.push_back(&joint);
      }
    }
    while (!open.empty()) {
      std::map<int, int> count;
      for (const Joint *joint : open) {
        ++count[joint->first];
        ++count[joint->second];
      }
      // Of equals the one with fewer labels, and then a value.
      auto worth = [&](const std::pair<const int, int> &entry) {
        return std::tuple(entry.second, -int(variables_[entry.first].own.size()), entry.first);
      };
      const int most = std::max_element(count.begin(), count.end(), [&](const auto &a, const auto &b) {
                         return worth(a) < worth(b);
                       })->first;
      Variable &variable = variables_[most];
      std::vector<const Joint *> left;
      for (const Joint *joint : open) {
        if (joint->first != most && joint->second != most) {
          left.push_back(joint);
          continue;
        }
        const int there = variables_[joint->first == most ? joint->second : joint->first].block;
        variable.first = std::min(variable.first, there);
        variable.last = std::max(variable.last, there);
      }
      open = std::move(left);
    }
  }

  // Variables that a block knows: its own ones in order, then those that pass.
  std::vector<int> known(int block) const {
    std::vector<int> all;
    for (int v = 0; v < int(variables_.size()); ++v) {
      if (variables_[v].block == block) {
        all.push_back(v);
      }
    }
    for (int v = 0; v < int(variables_.size()); ++v) {
      if (variables_[v].block != block && variables_[v].first <= block && block <= variables_[v].last) {
        all.push_back(v);
      }
    }
    return all;
  }

  int indexIn(int block, int variable) const {
    const std::vector<int> &all = known_[block];
    return int(std::find(all.begin(), all.end(), variable) - all.begin());
  }

  // Variables that both a block and the next know, those alike in the same order at every border: first what passes
  // through more than two blocks, then what the first block gives the second, then what it gets from there.
  std::vector<int> border(int block) const {
    std::vector<std::tuple<int, int, int>> sorted;
    for (int v = 0; v < int(variables_.size()); ++v) {
      const Variable &variable = variables_[v];
      if (variable.first > block || variable.last < block + 1) {
        continue;
      }
      const bool passes = variable.last - variable.first > 1;
      sorted.push_back({passes ? 0 : variable.block == block ? 1 : 2, v, v});
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> all;
    for (const auto &[kind, order, v] : sorted) {
      all.push_back(v);
    }
    return all;
  }

  // Whether what a block that stands for copies gets from the one before is what it gives the next.
  bool copiesFollowEachOther() const {
    for (int b = 0; b < int(blocks_.copies.size()); ++b) {
      if (blocks_.copies[b] == 1) {
        continue;
      }
      const std::vector<int> in = border(b - 1), out = border(b);
      auto alike = [&](int a, int c) {
        const Variable &first = variables_[a], &second = variables_[c];
        return a == c || (first.states == second.states && first.own.size() == second.own.size());
      };
      if (!std::equal(in.begin(), in.end(), out.begin(), out.end(), alike)) {
        return false;
      }
    }
    return true;
  }

  search::Chain chainOf() {
    const int count = int(blocks_.copies.size());
    known_.clear();
    for (int b = 0; b < count; ++b) {
      known_.push_back(known(b));
    }
    search::Chain chain;
    for (int b = 0; b < count; ++b) {
      search::Block &block = chain.blocks.emplace_back();
      for (int v : known_[b]) {
        const Variable &variable = variables_[v];
        block.labelling.own.push_back(variable.block == b ? variable.own : std::vector<Price>(variable.own.size()));
      }
      for (int side : {b - 1, b}) {
        if (side < 0 || side + 1 >= count) {
          continue;
        }
        for (int v : border(side)) {
          (side == b ? block.out : block.in).push_back(indexIn(b, v));
        }
      }
      chain.runs.push_back({b, int(blocks_.copies[b])});
    }
    for (const Joint &joint : joints_) {
      // Where both are known: where the one is at home that the other one passes to.
      const Variable &first = variables_[joint.first], &second = variables_[joint.second];
      const int b = first.first <= second.block && second.block <= first.last ? second.block : first.block;
      search::Link link = joint.link;
      link.first = indexIn(b, joint.first);
      link.second = indexIn(b, joint.second);
      chain.blocks[b].labelling.links.push_back(std::move(link));
    }
    return chain;
  }

  std::vector<SolverNode> &nodes_;
  const std::vector<SolverValue> &values_;
  const Blocks &blocks_;
  const plan::Spread axis_;
  const CostModel &machine_;
  std::vector<Variable> variables_; // nodes first
  std::vector<Joint> joints_;
  std::vector<std::vector<int>> known_; // of each block its variables
};

} // namespace

bool chooseExactly(std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values, const Blocks &blocks,
                   const plan::Spread &axis, const CostModel &machine, double limit) {
  return Problem(nodes, values, blocks, axis, machine).solve(limit);
}

} // namespace weft::compiler
