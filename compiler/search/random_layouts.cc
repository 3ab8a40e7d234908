#include "compiler/search/random_layouts.h"

#include <algorithm>
#include <map>
#include <random>

namespace weft::search {
namespace {

// The state of a tensor on one axis: the dim that is split, or one of these.
constexpr int kBroadcast = -1, kPartial = -2;
// On all axes.
using State = std::vector<int>;

struct Tensor {
  int op;                     // its variable
  std::vector<int64_t> shape; // elements of each dim
  std::vector<State> states;  // of each label of the op
};

// What an op says about one axis: the states of its operands and that of its result.
using Rule = std::vector<int>;

class Generator {
public:
  Generator(uint32_t seed, double most) : engine_(seed), most_(most) {
    for (int axes = 2 + below(2); axes > 0; --axes) {
      mesh_.push_back(2 + below(3));
    }
  }

  Labelling run() {
    parameter();
    parameter();
    const size_t variables = 3 + below(6);
    for (int tries = 0; tries < 100 && problem_.own.size() < variables; ++tries) {
      left_ = int(variables - problem_.own.size());
      const Tensor a = any(), b = any();
      const size_t rank = a.shape.size();
      switch (below(6)) {
      case 0:
        parameter();
        break;
      case 1: // element by element, of one operand: not linear
        op({&a}, a.shape, elementwise(rank, 1, false), 2);
        break;
      case 2: // a sum, linear in both
        if (a.shape == b.shape && a.op != b.op) {
          op({&a, &b}, a.shape, elementwise(rank, 2, true), 3);
        }
        break;
      case 3: // a product, ik,kj->ij
      case 4:
        if (a.op != b.op && rank == 2 && b.shape.size() == 2 && a.shape[1] == b.shape[0]) {
          const Rule rows{0, kBroadcast, 0}, columns{kBroadcast, 1, 1}, sum{1, 0, kPartial};
          op({&a, &b}, {a.shape[0], b.shape[1]}, {rows, columns, sum, Rule(3, kBroadcast)}, 2 * a.shape[1]);
        }
        break;
      case 5: // a sum over the first dim
        if (rank == 2) {
          op({&a}, {a.shape[1]}, {{0, kPartial}, {1, 0}, {kBroadcast, kBroadcast}, {kPartial, kPartial}}, 1);
        }
        break;
      }
    }
    return problem_;
  }

private:
  int below(int n) { return int(engine_() % uint32_t(n)); }
  const Tensor &any() { return tensors_[below(int(tensors_.size()))]; }

  static std::vector<Rule> elementwise(size_t rank, int operands, bool linear) {
    std::vector<Rule> rules{Rule(operands + 1, kBroadcast)};
    for (int dim = 0; dim < int(rank); ++dim) {
      rules.push_back(Rule(operands + 1, dim));
    }
    if (linear) {
      rules.push_back(Rule(operands + 1, kPartial));
    }
    return rules;
  }

  // Elements of a rank's tile; 0 if the shape does not divide.
  int64_t tile(const std::vector<int64_t> &shape, const State &state) const {
    std::vector<int64_t> left = shape;
    for (size_t axis = 0; axis < mesh_.size(); ++axis) {
      if (const int dim = state[axis]; dim >= 0) {
        if (left[dim] % mesh_[axis] != 0) {
          return 0;
        }
        left[dim] /= mesh_[axis];
      }
    }
    int64_t elements = 1;
    for (int64_t dim : left) {
      elements *= dim;
    }
    return elements;
  }

  // All choices of a rule for each axis.
  std::vector<std::vector<int>> joint(size_t rules) const {
    std::vector<std::vector<int>> all{{}};
    for (size_t axis = 0; axis < mesh_.size(); ++axis) {
      std::vector<std::vector<int>> more;
      for (const std::vector<int> &some : all) {
        for (int rule = 0; rule < int(rules); ++rule) {
          more.push_back(some);
          more.back().push_back(rule);
        }
      }
      all = more;
    }
    return all;
  }

  // So many labels, at random, that the variables which are still to come may have some as well: the model's author
  // suggests a few.
  template <typename Label> void thin(std::vector<Label> &labels) {
    const double share = most_ / count_;
    int most = 1;
    for (double all = 1; all <= share; ++most) {
      all = 1;
      for (int i = 0; i < left_; ++i) {
        all *= most + 1;
      }
    }
    most = std::min(1 + most + below(most), int(share));
    while (int(labels.size()) > most) {
      labels.erase(labels.begin() + below(int(labels.size())));
    }
    count_ *= double(std::max<size_t>(1, labels.size()));
  }

  // Weights and what the optimizer keeps of them.
  void parameter() {
    const int64_t dims[] = {8, 12, 6, 3}; // few, so that tensors meet
    std::vector<int64_t> shape{dims[below(4)]};
    if (below(4) > 0) {
      shape.push_back(dims[below(4)]);
    }
    const std::vector<Rule> rules = elementwise(shape.size(), 0, false);
    Tensor tensor{int(problem_.own.size()), shape, {}};
    for (const std::vector<int> &choice : joint(rules.size())) {
      State state;
      for (int rule : choice) {
        state.push_back(rules[rule][0]);
      }
      if (tile(shape, state) > 0) {
        tensor.states.push_back(state);
      }
    }
    thin(tensor.states);
    std::vector<Price> own;
    for (const State &state : tensor.states) {
      own.push_back({below(5), 16 * tile(shape, state)});
    }
    problem_.own.push_back(own);
    tensors_.push_back(tensor);
  }

  void op(const std::vector<const Tensor *> &operands, const std::vector<int64_t> &shape,
          const std::vector<Rule> &rules, int64_t flops) {
    std::vector<std::vector<State>> labels; // the states of the operands, and of the result
    for (const std::vector<int> &choice : joint(rules.size())) {
      std::vector<State> states(operands.size() + 1);
      for (int rule : choice) {
        for (size_t i = 0; i < states.size(); ++i) {
          states[i].push_back(rules[rule][i]);
        }
      }
      bool divides = tile(shape, states.back()) > 0;
      for (size_t i = 0; i < operands.size(); ++i) {
        divides = divides && tile(operands[i]->shape, states[i]) > 0;
      }
      if (divides) {
        labels.push_back(states);
      }
    }
    thin(labels);
    Tensor result{int(problem_.own.size()), shape, {}};
    std::vector<Price> own;
    std::vector<std::vector<State>> wanted(operands.size()); // of each operand, by label
    for (const std::vector<State> &states : labels) {
      // A contraction that is split does less on each rank as well.
      int64_t work = flops * tile(shape, states.back());
      for (size_t axis = 0; axis < mesh_.size(); ++axis) {
        work /= states.back()[axis] == kPartial && states[0][axis] >= 0 ? mesh_[axis] : 1;
      }
      own.push_back({1 + work, 4 * tile(shape, states.back())});
      result.states.push_back(states.back());
      for (size_t i = 0; i < operands.size(); ++i) {
        wanted[i].push_back(states[i]);
      }
    }
    problem_.own.push_back(own);
    for (size_t i = 0; i < operands.size(); ++i) {
      connect(*operands[i], result.op, wanted[i]);
    }
    tensors_.push_back(result);
  }

  static std::vector<int> number(const std::vector<State> &states, std::vector<State> &distinct) {
    std::map<State, int> known;
    std::vector<int> of;
    for (const State &state : states) {
      const auto [it, added] = known.try_emplace(state, int(distinct.size()));
      if (added) {
        distinct.push_back(state);
      }
      of.push_back(it->second);
    }
    return of;
  }

  void connect(const Tensor &tensor, int op, const std::vector<State> &wanted) {
    std::vector<State> have, want;
    Link link{tensor.op, op, number(tensor.states, have), number(wanted, want), 0, {}};
    link.secondClasses = int(want.size());
    for (const State &from : have) {
      for (const State &to : want) {
        link.price.push_back(box(tensor.shape, from, to));
      }
    }
    problem_.links.push_back(link);
  }

  // Ring collectives, one axis after another, slow enough that holding more is often faster; the boxed tile is held
  // beside the other.
  Price box(const std::vector<int64_t> &shape, const State &from, const State &to) const {
    if (from == to) {
      return {};
    }
    Price price{0, 4 * tile(shape, to)};
    State state = from;
    for (size_t axis = 0; axis < mesh_.size(); ++axis) {
      const int a = from[axis], b = to[axis];
      const int64_t n = mesh_[axis], whole = tile(shape, from) * (a >= 0 ? n : 1);
      if (a == b) {
        continue;
      }
      if (b == kPartial) {
        return kImpossible;
      }
      const int64_t rings = a == kPartial ? (b == kBroadcast ? 2 : 1) : (a == kBroadcast ? 0 : 1);
      price.seconds += rings * (40 + 6 * whole * (n - 1) / n / (a >= 0 && b >= 0 ? n : 1));
    }
    return price;
  }

  std::mt19937 engine_;
  const double most_;
  double count_ = 1;
  int left_ = 8;              // variables that are still to come
  std::vector<int64_t> mesh_; // ranks of each axis
  std::vector<Tensor> tensors_;
  Labelling problem_;
};

} // namespace

Labelling randomLayouts(uint32_t seed, double most) { return Generator(seed, most).run(); }

} // namespace weft::search
