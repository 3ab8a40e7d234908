#include "compiler/search/random_layouts.h"

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
    for (int ops = 1 + below(7); ops > 0 && going_; --ops) {
      const Tensor a = any(), b = any();
      const size_t rank = a.shape.size();
      switch (below(5)) {
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
        if (a.op != b.op && rank == 2 && b.shape.size() == 2 && a.shape[1] == b.shape[0]) {
          const Rule rows{0, kBroadcast, 0}, columns{kBroadcast, 1, 1}, sum{1, 0, kPartial},
              whole{kBroadcast, kBroadcast, kBroadcast};
          op({&a, &b}, {a.shape[0], b.shape[1]}, {rows, columns, sum, whole}, 2 * a.shape[1]);
        }
        break;
      case 4: // a sum over the first dim
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

  // A variable with these labels, if there are not too many labellings then.
  bool add(const std::vector<Price> &own) {
    if (own.empty() || count_ * double(own.size()) > most_) {
      going_ = own.empty();
      return false;
    }
    count_ *= double(own.size());
    problem_.own.push_back(own);
    return true;
  }

  // Weights and what the optimizer keeps of them; a suggestion of the author may leave few states.
  void parameter() {
    const int64_t dims[] = {2, 4, 6, 8, 12, 16, 3};
    std::vector<int64_t> shape{dims[below(7)]};
    if (below(4) > 0) {
      shape.push_back(dims[below(7)]);
    }
    const std::vector<Rule> rules = elementwise(shape.size(), 0, false);
    const int kept = 1 + below(4);
    Tensor tensor{int(problem_.own.size()), shape, {}};
    std::vector<Price> own;
    for (const std::vector<int> &choice : joint(rules.size())) {
      State state;
      for (int rule : choice) {
        state.push_back(rules[rule][0]);
      }
      const int64_t elements = tile(shape, state);
      if (elements > 0 && (own.empty() || below(4) < kept)) {
        own.push_back({3 * elements + below(5), 16 * elements});
        tensor.states.push_back(state);
      }
    }
    if (add(own)) {
      tensors_.push_back(tensor);
    }
  }

  void op(const std::vector<const Tensor *> &operands, const std::vector<int64_t> &shape,
          const std::vector<Rule> &rules, int64_t flops) {
    Tensor result{int(problem_.own.size()), shape, {}};
    std::vector<Price> own;
    std::vector<std::vector<State>> wanted(operands.size()); // of each operand, by label
    const int kept = 1 + below(4);
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
      if (!divides || (!own.empty() && below(4) >= kept)) {
        continue;
      }
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
    if (!add(own)) {
      return;
    }
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

  // Ring collectives, one axis after another; the boxed tile is held beside the other.
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
      price.seconds += rings * (5 + 3 * whole * (n - 1) / n / (a >= 0 && b >= 0 ? n : 1));
    }
    return price;
  }

  std::mt19937 engine_;
  const double most_;
  double count_ = 1;
  bool going_ = true;
  std::vector<int64_t> mesh_; // ranks of each axis
  std::vector<Tensor> tensors_;
  Labelling problem_;
};

} // namespace

Labelling randomLayouts(uint32_t seed, double most) { return Generator(seed, most).run(); }

} // namespace weft::search
