// Prints how long the exact search takes for the layouts of GPT-like chains, in seconds of a core, and what gap it
// leaves.
//   layouts [--quick]
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "compiler/search/chain.h"
#include "tools/bench/cpu_seconds.h"

namespace {

using namespace weft::search;
using weft::tools::CpuSeconds;

double PeakMiB() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// A dim is a letter; a state has a letter for each axis: the dim that is split, B or P.
using Dims = std::string;
using State = std::string;

struct Axis {
  int64_t ranks;
  double seconds_per_byte;
};

// H200s by their data sheets.
constexpr double kFlops = 500e12, kMemory = 4.8e12, kLatency = 10e-6;
constexpr double kPicosecond = 1e-12;

class Network {
 public:
  Network(std::vector<Axis> mesh, std::map<char, int64_t> sizes) : mesh_(std::move(mesh)), sizes_(std::move(sizes)) {}

  // A variable of the next block: a tensor in one of its states, without pending sums. It holds `bytes` an element.
  int Value(const Dims& dims, double bytes) {
    std::vector<Price> own;
    Tensor tensor{dims, {}};
    for (const State& state : States(dims)) {
      if (Tile(dims, state) > 0 && state.find('P') == State::npos) {
        own.push_back({0, static_cast<int64_t>(bytes * Tile(dims, state))});
        tensor.states.push_back(state);
      }
    }
    return Add(own, tensor);
  }

  // An op on values, of which dims in `whole` are not split. Linear ops pass pending sums of all operands on. Its
  // result holds `bytes` an element.
  int Op(const std::vector<int>& operands, const Dims& result, double bytes, const Dims& whole = "",
         bool linear = false) {
    Dims all = result;
    for (int operand : operands) {
      for (char dim : tensors_[operand].dims) all += all.find(dim) == Dims::npos ? Dims(1, dim) : "";
    }
    Dims free = "B";
    for (char dim : all) free += whole.find(dim) == Dims::npos ? Dims(1, dim) : "";
    if (linear) free += "P";
    const bool contracts = all != result;
    std::vector<Price> own;
    Tensor made{result, {}};
    std::vector<std::vector<State>> wanted(operands.size());
    for (const State& choice : Choices(free)) {
      bool divides = Tile(result, In(result, choice)) > 0;
      double traffic = 2 * Tile(result, In(result, choice));
      for (int operand : operands) {
        const State state = In(tensors_[operand].dims, choice, 'B');
        divides = divides && Tile(tensors_[operand].dims, state) > 0;
        traffic += 2 * Tile(tensors_[operand].dims, state);
      }
      if (!divides) continue;
      const double flops = contracts ? 2 * Tile(all, choice) : 0;
      own.push_back({static_cast<int64_t>(std::max(flops / kFlops, traffic / kMemory) / kPicosecond),
                     static_cast<int64_t>(bytes * Tile(result, In(result, choice)))});
      made.states.push_back(In(result, choice));
      for (size_t i = 0; i < operands.size(); ++i) wanted[i].push_back(In(tensors_[operands[i]].dims, choice, 'B'));
    }
    const int op = Add(own, made);
    for (size_t i = 0; i < operands.size(); ++i) Connect(operands[i], op, wanted[i]);
    return op;
  }

  // Makes `value` what `op` yields.
  void Bind(int op, int value) { Connect(op, value, tensors_[value].states); }

  // Ends a block.
  Block Take(std::vector<int> in, std::vector<int> out) {
    Block block{std::move(problem_), std::move(in), std::move(out)};
    problem_ = {};
    tensors_.clear();
    return block;
  }

 private:
  struct Tensor {
    Dims dims;
    std::vector<State> states;  // of each label
  };

  // A rank's elements; 0 if the dims do not divide.
  double Tile(const Dims& dims, const State& state) const {
    double elements = 1;
    for (char dim : dims) {
      int64_t size = sizes_.at(dim);
      for (size_t axis = 0; axis < mesh_.size(); ++axis) {
        if (state[axis] != dim) continue;
        if (size % mesh_[axis].ranks != 0) return 0;
        size /= mesh_[axis].ranks;
      }
      elements *= static_cast<double>(size);
    }
    return elements;
  }

  // What a tensor of these dims has where an op splits so: a dim it lacks is a pending sum, or nothing in an operand.
  static State In(const Dims& dims, const State& choice, char without = 'P') {
    State state = choice;
    for (char& letter : state)
      letter = letter == 'B' || letter == 'P' || dims.find(letter) != Dims::npos ? letter : without;
    return state;
  }

  std::vector<State> Choices(const Dims& letters) const {
    std::vector<State> all{""};
    for (size_t axis = 0; axis < mesh_.size(); ++axis) {
      std::vector<State> more;
      for (const State& some : all) {
        for (char letter : letters) more.push_back(some + letter);
      }
      all = more;
    }
    return all;
  }
  std::vector<State> States(const Dims& dims) const { return Choices("B" + dims + "P"); }

  int Add(const std::vector<Price>& own, const Tensor& tensor) {
    problem_.own.push_back(own);
    tensors_.push_back(tensor);
    return static_cast<int>(tensors_.size()) - 1;
  }

  void Connect(int tensor, int op, const std::vector<State>& wanted) {
    const auto number = [](const std::vector<State>& states, std::vector<State>& distinct) {
      std::vector<int> of;
      for (const State& state : states) {
        of.push_back(static_cast<int>(std::find(distinct.begin(), distinct.end(), state) - distinct.begin()));
        if (of.back() == static_cast<int>(distinct.size())) distinct.push_back(state);
      }
      return of;
    };
    std::vector<State> have, want;
    Link link{tensor, op, number(tensors_[tensor].states, have), number(wanted, want), 0, {}};
    link.secondClasses = static_cast<int>(want.size());
    for (const State& from : have) {
      for (const State& to : want) link.price.push_back(Box(tensors_[tensor].dims, from, to));
    }
    problem_.links.push_back(link);
  }

  // Ring collectives, one axis after another.
  Price Box(const Dims& dims, const State& from, const State& to) const {
    double seconds = 0;
    for (size_t axis = 0; axis < mesh_.size(); ++axis) {
      const char a = from[axis], b = to[axis];
      if (a == b || (a == 'B' && b != 'P')) continue;
      if (b == 'P') return kImpossible;
      const double n = static_cast<double>(mesh_[axis].ranks);
      const double bytes = 2 * Tile(dims, from) * (a == 'P' ? 1 : n) / (a != 'P' && b != 'B' ? n : 1);
      seconds += (a == 'P' && b == 'B' ? 2 : 1) * (kLatency + bytes * (n - 1) / n * mesh_[axis].seconds_per_byte);
    }
    return {static_cast<int64_t>(seconds / kPicosecond), 0};
  }

  const std::vector<Axis> mesh_;
  const std::map<char, int64_t> sizes_;
  Labelling problem_;
  std::vector<Tensor> tensors_;
};

constexpr double kKept = 2;    // bytes of an activation that the backward reads
constexpr double kState = 14;  // of a parameter and its optimizer state
constexpr double kGradient = 4;

// A weight and how it is updated; the update reads a gradient.
void Update(Network& network, int weight, int gradient, const Dims& dims) {
  network.Bind(network.Op({weight, gradient}, dims, 0), weight);
}

// A linear layer's backward: the gradient of what it reads. Its weight is updated.
int Backward(Network& network, int x, const Dims& x_dims, int weight, const Dims& w_dims, int dy) {
  Update(network, weight, network.Op({x, dy}, w_dims, kGradient), w_dims);
  return network.Op({dy, weight}, x_dims, 0);
}

Block Transformer(Network& network) {
  const int x = network.Value("bsh", kKept), y = network.Value("bsh", 0), dx = network.Value("bsh", 0),
            dy = network.Value("bsh", 0);
  const int gamma1 = network.Value("h", kState), gamma2 = network.Value("h", kState);
  const int w_qkv = network.Value("hk", 3 * kState), w_proj = network.Value("kh", kState);
  const int w_up = network.Value("hf", kState), w_down = network.Value("fh", kState);
  const int norm1 = network.Op({x, gamma1}, "bsh", kKept, "h");
  const int qkv = network.Op({norm1, w_qkv}, "bsk", 3 * kKept);
  const int attention = network.Op({qkv}, "bsk", kKept, "s");
  const int proj = network.Op({attention, w_proj}, "bsh", 0);
  const int middle = network.Op({x, proj}, "bsh", kKept, "", /*linear=*/true);
  const int norm2 = network.Op({middle, gamma2}, "bsh", kKept, "h");
  const int up = network.Op({norm2, w_up}, "bsf", kKept);
  const int gelu = network.Op({up}, "bsf", kKept);
  const int down = network.Op({gelu, w_down}, "bsh", 0);
  network.Bind(network.Op({middle, down}, "bsh", 0, "", /*linear=*/true), y);
  const int d_gelu = Backward(network, gelu, "bsf", w_down, "fh", dy);
  const int d_up = network.Op({d_gelu, up}, "bsf", 0);
  const int d_norm2 = Backward(network, norm2, "bsh", w_up, "hf", d_up);
  Update(network, gamma2, network.Op({d_norm2, middle}, "h", kGradient), "h");
  const int d_branch2 = network.Op({d_norm2, middle, gamma2}, "bsh", 0, "h");
  const int d_middle = network.Op({dy, d_branch2}, "bsh", 0, "", /*linear=*/true);
  const int d_attention = Backward(network, attention, "bsk", w_proj, "kh", d_middle);
  const int d_qkv = network.Op({d_attention, qkv}, "bsk", 0, "s");
  const int d_norm1 = Backward(network, norm1, "bsh", w_qkv, "hk", d_qkv);
  Update(network, gamma1, network.Op({d_norm1, x}, "h", kGradient), "h");
  const int d_branch1 = network.Op({d_norm1, x, gamma1}, "bsh", 0, "h");
  network.Bind(network.Op({d_middle, d_branch1}, "bsh", 0, "", /*linear=*/true), dx);
  return network.Take({x, dx}, {y, dy});
}

Block Embedding(Network& network) {
  const int y = network.Value("bsh", 0), dy = network.Value("bsh", 0), table = network.Value("vh", kState);
  const int tokens = network.Value("bs", 0);
  network.Bind(network.Op({tokens, table}, "bsh", 0, "s"), y);
  Update(network, table, network.Op({tokens, dy}, "vh", kGradient), "vh");
  return network.Take({}, {y, dy});
}

Block Head(Network& network) {
  const int x = network.Value("bsh", kKept), dx = network.Value("bsh", 0), table = network.Value("vh", kState);
  const int logits = network.Op({x, table}, "bsv", kKept);
  const int softmax = network.Op({logits}, "bsv", 0, "v");
  network.Bind(Backward(network, x, "bsh", table, "vh", softmax), dx);
  return network.Take({x, dx}, {});
}

Chain Gpt(const std::vector<Axis>& mesh, int copies, int64_t hidden, int64_t batch) {
  Network network(mesh, {{'b', batch}, {'s', 1024}, {'h', hidden}, {'k', hidden}, {'f', 4 * hidden}, {'v', 51200}});
  return {{Embedding(network), Transformer(network), Head(network)}, {{0, 1}, {1, copies}, {2, 1}}};
}

void Measure(const char* name, const Chain& chain) {
  const Labelling& block = chain.blocks[1].labelling;
  size_t labels = 0;
  for (const auto& own : block.own) labels = std::max(labels, own.size());
  std::printf("%s: %d blocks of %zu variables, %zu labels at most\n", name, chain.runs[1].copies, block.own.size(),
              labels);
  std::fflush(stdout);
  double start = CpuSeconds();
  const Solution fastest = solve(chain, kNever);
  std::printf("  no limit: %.2f ms, %.2f GB, gap %.3g %%, %.2f s of a core, %.0f MiB\n", 1e-9 * fastest.price.seconds,
              1e-9 * fastest.price.bytes, 100.0 * fastest.gap() / fastest.price.seconds, CpuSeconds() - start,
              PeakMiB());
  std::fflush(stdout);
  const int64_t least = solve(chain, 0).leastBytes;
  for (int percent : {75, 50, 25, 10, 1}) {
    const int64_t limit = least + (fastest.price.bytes - least) / 100 * percent;
    start = CpuSeconds();
    const Solution found = solve(chain, limit);
    std::printf("  limit %6.2f GB: %.2f ms, %.2f GB, gap %.3g %%, %.2f s of a core, %.0f MiB\n", 1e-9 * limit,
                1e-9 * found.price.seconds, 1e-9 * found.price.bytes, 100.0 * found.gap() / found.price.seconds,
                CpuSeconds() - start, PeakMiB());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const Axis node{8, 1 / 400e9}, network{8, 1 / 50e9}, small{4, 1 / 400e9}, middle{4, 1 / 200e9}, large{4, 1 / 50e9};
  for (int copies : quick ? std::vector<int>{12} : std::vector<int>{12, 48, 96}) {
    Measure("one axis", Gpt({node}, copies, 4096, 8));
    Measure("two axes", Gpt({network, node}, copies, 4096, 64));
    if (copies == 12 && !quick) Measure("three axes", Gpt({large, middle, small}, copies, 4096, 64));
  }
  return 0;
}
