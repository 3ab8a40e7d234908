#include "ops/dialect/sharding_rule.h"

#include <cctype>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace weft::ir {

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, SbpState state) {
  switch (state.kind) {
  case SbpState::Broadcast:
    return os << "B";
  case SbpState::Split:
    return os << "S(" << state.dim << ")";
  case SbpState::PartialSum:
    return os << "P";
  case SbpState::PartialMax:
    return os << "P(max)";
  }
  return os;
}

namespace {

using Shapes = llvm::ArrayRef<llvm::ArrayRef<int64_t>>;

[[noreturn]] void badRule(llvm::StringRef text, const llvm::Twine &why) {
  llvm::report_fatal_error("sharding rule \"" + text + "\": " + why);
}

// Reads one rule's text; the ellipsis dimensions get factors of their own.
class RuleParser {
public:
  RuleParser(llvm::StringRef text, ShardingRule &rule) : text_(text), rule_(rule) {}

  void size(char letter, int64_t n) { rule_.factors[factor(letter)].size = n; }

  void tensor(llvm::StringRef dims, llvm::ArrayRef<int64_t> shape, ShardingRule::Tensor &out) {
    llvm::SmallVector<llvm::StringRef> names = split(dims);
    int64_t explicitDims = llvm::count_if(names, [](llvm::StringRef n) { return n != "."; });
    size_t next = 0;
    for (llvm::StringRef name : names) {
      if (name == ".") {
        for (int64_t i = 0; i < int64_t(shape.size()) - explicitDims; ++i) {
          out.push_back({ellipsis(i, shape[next++])});
        }
        continue;
      }
      if (next >= shape.size()) {
        badRule(text_, "more dimensions than the tensor has");
      }
      int64_t extent = shape[next++];
      ShardingRule::Dim dim;
      if (name != "1") {
        for (char letter : name) {
          dim.push_back(factor(letter));
        }
        if (dim.size() == 1) {
          bindSize(dim[0], extent);
        }
      }
      out.push_back(dim);
    }
    if (next != shape.size()) {
      badRule(text_, "fewer dimensions than the tensor has");
    }
  }

private:
  llvm::SmallVector<llvm::StringRef> split(llvm::StringRef dims) {
    llvm::SmallVector<llvm::StringRef> names;
    while (!dims.empty()) {
      if (dims.front() == '(') {
        size_t close = dims.find(')');
        names.push_back(dims.slice(1, close));
        dims = dims.drop_front(close + 1);
      } else {
        names.push_back(dims.take_front(1));
        dims = dims.drop_front(1);
      }
    }
    return names;
  }

  int factor(char letter) {
    auto [it, added] = letters_.try_emplace(letter, int(rule_.factors.size()));
    if (added) {
      rule_.factors.push_back({-1, std::isupper(static_cast<unsigned char>(letter)) != 0});
    }
    return it->second;
  }

  int ellipsis(int64_t index, int64_t extent) {
    while (int64_t(ellipsis_.size()) <= index) {
      ellipsis_.push_back(int(rule_.factors.size()));
      rule_.factors.push_back({-1, false});
    }
    bindSize(ellipsis_[index], extent);
    return ellipsis_[index];
  }

  void bindSize(int index, int64_t extent) {
    int64_t &size = rule_.factors[index].size;
    if (size == -1) {
      size = extent;
    } else if (size != extent) {
      badRule(text_, "a factor has extents " + llvm::Twine(size) + " and " + llvm::Twine(extent));
    }
  }

  llvm::StringRef text_;
  ShardingRule &rule_;
  std::map<char, int> letters_;
  llvm::SmallVector<int> ellipsis_;
};

} // namespace

ShardingRule ShardingRule::parse(llvm::StringRef text, Shapes operandShapes, Shapes resultShapes,
                                 llvm::ArrayRef<std::pair<char, int64_t>> sizes) {
  ShardingRule rule;
  auto [left, right] = text.split("->");
  llvm::SmallVector<llvm::StringRef> ins, outs;
  if (!operandShapes.empty()) {
    left.split(ins, ',');
  }
  if (!resultShapes.empty()) {
    right.split(outs, ',');
  }
  if (ins.size() != operandShapes.size() || outs.size() != resultShapes.size()) {
    badRule(text, "not one entry an operand and result");
  }
  RuleParser parser(text, rule);
  for (auto [letter, n] : sizes) {
    parser.size(letter, n);
  }
  for (auto [dims, shape] : llvm::zip(ins, operandShapes)) {
    parser.tensor(dims, shape, rule.operands.emplace_back());
  }
  for (auto [dims, shape] : llvm::zip(outs, resultShapes)) {
    parser.tensor(dims, shape, rule.results.emplace_back());
  }
  return rule;
}

ShardingRule ShardingRule::pointwise(Shapes operandShapes, llvm::ArrayRef<int64_t> shape, unsigned numResults) {
  ShardingRule rule;
  Tensor whole;
  for (int64_t extent : shape) {
    whole.push_back({int(rule.factors.size())});
    rule.factors.push_back({extent, false});
  }
  for (llvm::ArrayRef<int64_t> operand : operandShapes) {
    Tensor dims;
    size_t offset = shape.size() - operand.size();
    for (size_t i = 0; i < operand.size(); ++i) {
      bool broadcast = operand[i] == 1 && shape[offset + i] != 1;
      dims.push_back(broadcast ? Dim{} : whole[offset + i]);
    }
    rule.operands.push_back(dims);
  }
  rule.results.assign(numResults, whole);
  return rule;
}

ShardingRule ShardingRule::replicated(Shapes operandShapes, Shapes resultShapes) {
  ShardingRule rule;
  auto add = [&](Shapes shapes, llvm::SmallVector<Tensor> &out) {
    for (llvm::ArrayRef<int64_t> shape : shapes) {
      Tensor dims;
      for (int64_t extent : shape) {
        dims.push_back({int(rule.factors.size())});
        rule.factors.push_back({extent, true});
      }
      out.push_back(dims);
    }
  };
  add(operandShapes, rule.operands);
  add(resultShapes, rule.results);
  return rule;
}

void ShardingRule::print(llvm::raw_ostream &os) const {
  auto list = [&](const llvm::SmallVector<Tensor> &tensors) {
    llvm::interleave(
        tensors, os,
        [&](const Tensor &tensor) {
          os << "[";
          llvm::interleaveComma(tensor, os, [&](const Dim &dim) {
            llvm::interleave(
                dim, os, [&](int f) { os << (factors[f].whole ? "W" : "f") << f << "=" << factors[f].size; }, "*");
          });
          os << "]";
        },
        ", ");
  };
  list(operands);
  os << " -> ";
  list(results);
}

llvm::SmallVector<Signature> enumerateSignatures(const ShardingRule &rule) {
  llvm::SmallVector<Signature> signatures;
  Signature broadcast;
  broadcast.operands.resize(rule.operands.size());
  broadcast.results.resize(rule.results.size());
  signatures.push_back(broadcast);

  // The dimension of a tensor that has `factor`.
  auto find = [](const ShardingRule::Tensor &tensor, int factor) {
    return llvm::find_if(tensor, [&](const ShardingRule::Dim &dim) { return llvm::is_contained(dim, factor); });
  };
  for (int f = 0; f < int(rule.factors.size()); ++f) {
    if (rule.factors[f].whole || rule.factors[f].size == 1) {
      continue;
    }
    Signature s = broadcast;
    s.factor = f;
    auto fill = [&](const llvm::SmallVector<ShardingRule::Tensor> &tensors, llvm::SmallVector<SbpState> &states,
                    SbpState::Kind missing) {
      for (size_t i = 0; i < tensors.size(); ++i) {
        const auto *dim = find(tensors[i], f);
        states[i] = dim != tensors[i].end() ? SbpState::split(dim - tensors[i].begin()) : SbpState{missing, 0};
      }
    };
    fill(rule.operands, s.operands, SbpState::Broadcast);
    fill(rule.results, s.results, rule.reduction);
    if (!llvm::is_contained(signatures, s)) {
      signatures.push_back(s);
    }
  }
  for (const auto &group : rule.linear) {
    Signature s = broadcast;
    for (int operand : group) {
      s.operands[operand] = SbpState::partialSum();
    }
    s.results.assign(rule.results.size(), SbpState::partialSum());
    signatures.push_back(s);
  }
  for (int operand : rule.monotone) {
    Signature s = broadcast;
    s.operands[operand] = SbpState::partialMax();
    s.results.assign(rule.results.size(), SbpState::partialMax());
    signatures.push_back(s);
  }
  if (rule.ring && rule.factors[rule.ring->rows].size > 1) {
    Signature s = broadcast;
    s.factor = rule.ring->rows;
    s.ring = true;
    auto fill = [&](const llvm::SmallVector<ShardingRule::Tensor> &tensors, llvm::ArrayRef<int> round,
                    llvm::SmallVector<SbpState> &states) {
      for (size_t i = 0; i < tensors.size(); ++i) {
        const auto *dim = find(tensors[i], llvm::is_contained(round, int(i)) ? rule.ring->keys : rule.ring->rows);
        states[i] = dim != tensors[i].end() ? SbpState::split(dim - tensors[i].begin()) : SbpState::broadcast();
      }
    };
    fill(rule.operands, rule.ring->operands, s.operands);
    fill(rule.results, rule.ring->results, s.results);
    signatures.push_back(s);
  }
  return signatures;
}

int64_t ShardingRule::Ring::blocks(int64_t partKeys, int64_t parts) const {
  // The first row of a part sees `reach - 1` keys of the parts before it.
  return std::min(parts, (reach - 1 + partKeys - 1) / partKeys + 1);
}

namespace {

// Whether the factors before `factor`, where it is inside of a dimension, are single units.
bool isFirstOfWhatIsLeft(const ShardingRule &rule, int factor, llvm::ArrayRef<int64_t> left) {
  auto holds = [&](const ShardingRule::Tensor &tensor) {
    return llvm::all_of(tensor, [&](const ShardingRule::Dim &dim) {
      const int *at = llvm::find(dim, factor);
      return at == dim.end() || std::all_of(dim.begin(), at, [&](int before) { return left[before] == 1; });
    });
  };
  return llvm::all_of(rule.operands, holds) && llvm::all_of(rule.results, holds);
}

} // namespace

bool divides(const ShardingRule &rule, llvm::ArrayRef<const Signature *> perAxis, llvm::ArrayRef<int64_t> axisSizes) {
  llvm::SmallVector<int64_t> left;
  for (const ShardingRule::Factor &factor : rule.factors) {
    left.push_back(factor.size);
  }
  for (size_t axis = 0; axis < perAxis.size(); ++axis) {
    int f = perAxis[axis]->factor;
    if (f < 0) {
      continue;
    }
    if (left[f] % axisSizes[axis] != 0 || !isFirstOfWhatIsLeft(rule, f, left)) {
      return false;
    }
    if (perAxis[axis]->ring) {
      int64_t &keys = left[rule.ring->keys];
      if (left[f] != rule.factors[f].size || keys % axisSizes[axis] != 0) {
        return false;
      }
      keys /= axisSizes[axis];
    }
    left[f] /= axisSizes[axis];
  }
  return true;
}

} // namespace weft::ir
