#include "compiler/passes/shard/copies.h"

#include <algorithm>
#include <map>

namespace weft::compiler {
namespace {

using Key = std::vector<double>;

// How far away neighbours may be that tell two nodes apart. 1 would take the update of a bias for that of the weight of
// a norm of the same length; each further step gives more layers at both ends of a model classes of their own.
constexpr int kSteps = 2;

void append(Key &key, ir::SbpState state) { key.insert(key.end(), {double(state.kind), double(state.dim)}); }

void append(Key &key, const SolverValue &value) {
  const Key own = moveKey(value);
  key.insert(key.end(), own.begin(), own.end());
}

// What can be said of a node without its neighbours.
Key ownKey(const SolverNode &node, const std::vector<SolverValue> &values) {
  Key key{node.weight, double(node.candidates.size()), double(node.operands.size())};
  for (size_t c = 0; c < node.candidates.size(); ++c) {
    key.push_back(node.seconds[c]);
    for (ir::SbpState state : node.candidates[c]->operands) {
      append(key, state);
    }
    for (ir::SbpState state : node.candidates[c]->results) {
      append(key, state);
    }
  }
  key.insert(key.end(), node.moves.begin(), node.moves.end());
  for (int value : node.operands) {
    append(key, values[value]);
  }
  for (int value : node.results) {
    append(key, values[value]);
  }
  return key;
}

// The class of a node and those of its neighbours. Of several readers of a result the order does not count.
Key keyAmong(const std::vector<int> &classes, int index, const std::vector<SolverNode> &nodes,
             const std::vector<SolverValue> &values) {
  const SolverNode &node = nodes[index];
  Key key{double(classes[index])};
  for (int v : node.operands) {
    const SolverValue &value = values[v];
    key.insert(key.end(), {value.producer < 0 ? -1.0 : double(classes[value.producer]), double(value.result)});
  }
  for (int v : node.results) {
    std::vector<std::pair<int, int>> readers;
    for (SolverValue::Use use : values[v].uses) {
      readers.push_back({classes[use.node], use.operand});
    }
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    key.push_back(double(readers.size()));
    for (auto [reader, operand] : readers) {
      key.insert(key.end(), {double(reader), double(operand)});
    }
  }
  return key;
}

} // namespace

std::vector<double> moveKey(const SolverValue &value) {
  Key key{value.bytes,
          double(value.free),
          double(value.keepSplit),
          double(value.keepState),
          double(value.overlapped),
          double(value.producer < 0)};
  if (value.producer < 0) {
    append(key, value.fixed);
  }
  return key;
}

std::vector<std::vector<int>> copiesOf(const std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values) {
  std::vector<int> classes(nodes.size());
  auto number = [&](auto keyOf) {
    std::map<Key, int> known;
    std::vector<int> next;
    for (int n = 0; n < int(nodes.size()); ++n) {
      next.push_back(known.try_emplace(keyOf(n), int(known.size())).first->second);
    }
    classes = std::move(next);
    return known.size();
  };
  size_t count = number([&](int n) { return ownKey(nodes[n], values); });
  for (int step = 0; step < kSteps; ++step) {
    count = number([&](int n) { return keyAmong(classes, n, nodes, values); });
  }
  std::vector<std::vector<int>> members(count);
  for (int n = 0; n < int(nodes.size()); ++n) {
    members[classes[n]].push_back(n);
  }
  return members;
}

} // namespace weft::compiler
