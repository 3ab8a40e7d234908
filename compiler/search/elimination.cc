#include "compiler/search/elimination.h"

#include <algorithm>
#include <limits>

#include "compiler/search/sides.h"

namespace weft::search {
namespace {

// A variable that touches more than this is not looked at until others around it are gone. Example: the norm of all
// gradients.
constexpr size_t kMostFactors = 24;

JointClasses join(const std::vector<int> &labels, int allLabels, const std::vector<const std::vector<int> *> &classOf) {
  JointClasses joint{std::vector<int>(allLabels, -1), {}};
  std::map<std::vector<int>, int> known;
  for (int label : labels) {
    std::vector<int> key;
    for (const std::vector<int> *of : classOf) {
      key.push_back((*of)[label]);
    }
    auto [it, added] = known.try_emplace(std::move(key), joint.count());
    if (added) {
      joint.first.push_back(label);
    }
    joint.of[label] = it->second;
  }
  return joint;
}

} // namespace

Elimination::Elimination(const Labelling &problem, const std::vector<std::vector<int>> &left, const Effort &effort)
    : left_(left), effort_(effort), own_(problem.own), factorsOf_(problem.own.size()), met_(problem.own.size()) {
  for (const Link &link : problem.links) {
    const int firstClasses = int(link.cost.size()) / link.secondClasses;
    add({{link.first, link.second},
         {link.firstClass, link.secondClass},
         {firstClasses, link.secondClasses},
         link.cost});
  }
}

Cost Elimination::run() {
  std::set<std::pair<double, int>> queue; // entries that eliminating a variable looks at
  std::vector<double> entries(left_.size());
  for (int v = 0; v < int(left_.size()); ++v) {
    queue.insert({entries[v] = entriesOf(v), v});
  }
  Cost bound = 0;
  while (!queue.empty()) {
    const int v = queue.begin()->second;
    queue.erase(queue.begin());
    std::set<int> touched;
    for (const std::vector<int> &group : groupsOf(v)) {
      bound = plus(bound, eliminate(v, group, met_[v].empty(), touched));
    }
    order_.push_back(v);
    for (int u : touched) {
      queue.erase({entries[u], u});
      queue.insert({entries[u] = entriesOf(u), u});
    }
  }
  return bound;
}

std::vector<int> Elimination::labels() const {
  std::vector<int> labels(left_.size());
  for (size_t i = order_.size(); i-- > 0;) {
    const int v = order_[i];
    Cost least = -1;
    int best = left_[v][0];
    for (int label : left_[v]) {
      labels[v] = label;
      Cost cost = own_[v][label];
      for (int f : met_[v]) {
        cost = plus(cost, factors_[f].costOf(labels));
      }
      if (least < 0 || cost < least) {
        least = cost;
        best = label;
      }
    }
    labels[v] = best;
  }
  return labels;
}

void Elimination::add(Factor factor) {
  for (int v : factor.scope) {
    factorsOf_[v].push_back(int(factors_.size()));
  }
  factors_.push_back(std::move(factor));
}

std::map<int, JointClasses> Elimination::neighbours(int v, const std::vector<int> &factors) const {
  std::map<int, std::vector<const std::vector<int> *>> maps;
  for (int f : factors) {
    for (size_t i = 0; i < factors_[f].scope.size(); ++i) {
      if (factors_[f].scope[i] != v) {
        maps[factors_[f].scope[i]].push_back(&factors_[f].classOf[i]);
      }
    }
  }
  std::map<int, JointClasses> joint;
  for (const auto &[u, of] : maps) {
    joint.emplace(u, join(left_[u], int(own_[u].size()), of));
  }
  return joint;
}

double Elimination::tableOf(int v, const std::vector<int> &factors) const {
  double entries = 1;
  for (const auto &[u, joint] : neighbours(v, factors)) {
    entries *= joint.count();
  }
  return entries;
}

double Elimination::entriesOf(int v) const {
  return factorsOf_[v].size() > kMostFactors ? std::numeric_limits<double>::max()
                                             : tableOf(v, factorsOf_[v]) * double(left_[v].size());
}

std::vector<std::vector<int>> Elimination::groupsOf(int v) {
  const bool fixed = left_[v].size() == 1;
  if (!fixed && tableOf(v, factorsOf_[v]) <= double(effort_.table)) {
    return {factorsOf_[v]};
  }
  std::vector<int> factors = factorsOf_[v];
  std::stable_sort(factors.begin(), factors.end(),
                   [&](int a, int b) { return factors_[a].table.size() > factors_[b].table.size(); });
  std::vector<std::vector<int>> groups;
  for (int f : factors) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](std::vector<int> with) {
      with.push_back(f);
      return !fixed && tableOf(v, with) <= double(effort_.table);
    });
    if (group == groups.end()) {
      groups.push_back({f});
    } else {
      group->push_back(f);
    }
  }
  if (!fixed && groups.size() > 1 && split_ < 0) {
    split_ = v;
  }
  return groups.empty() ? std::vector<std::vector<int>>{{}} : groups;
}

Cost Elimination::eliminate(int v, const std::vector<int> &group, bool withOwn, std::set<int> &touched) {
  const std::map<int, JointClasses> around = neighbours(v, group);
  std::vector<const std::vector<int> *> mine;
  for (int f : group) {
    mine.push_back(&factors_[f].classOf[factors_[f].at(v)]);
  }
  const JointClasses own = join(left_[v], int(own_[v].size()), mine);
  std::vector<Cost> least(own.count(), withOwn ? kNever : 0);
  for (int label : left_[v]) {
    Cost &cost = least[own.of[label]];
    cost = withOwn ? std::min(cost, own_[v][label]) : 0;
  }
  Factor made;
  size_t entries = 1;
  for (const auto &[u, joint] : around) {
    made.scope.push_back(u);
    made.classOf.push_back(joint.of);
    made.classes.push_back(joint.count());
    entries *= joint.count();
    touched.insert(u);
  }
  made.table.resize(entries);
  fill(v, group, around, own, least, made);
  for (int f : group) {
    met_[v].push_back(f);
    for (int u : factors_[f].scope) {
      std::vector<int> &of = factorsOf_[u];
      of.erase(std::find(of.begin(), of.end(), f));
    }
  }
  if (made.scope.empty()) {
    return made.table[0];
  }
  if (made.scope.size() > 1) {
    add(std::move(made));
    return 0;
  }
  const int u = made.scope[0];
  for (int label : left_[u]) {
    own_[u][label] = plus(own_[u][label], made.table[made.classOf[0][label]]);
  }
  return 0;
}

void Elimination::fill(int v, const std::vector<int> &group, const std::map<int, JointClasses> &around,
                       const JointClasses &own, const std::vector<Cost> &least, Factor &made) {
  // Of each factor of the group: how far its entry moves with a class of each neighbour, and with one of `v`.
  struct Part {
    const Cost *table;
    std::vector<std::vector<size_t>> steps; // a neighbour of `made`, a joint class
    std::vector<size_t> ownSteps;           // a joint class of v
  };
  std::vector<Part> parts;
  for (int f : group) {
    const Factor &factor = factors_[f];
    std::vector<size_t> strides(factor.scope.size(), 1);
    for (size_t i = factor.scope.size() - 1; i-- > 0;) {
      strides[i] = strides[i + 1] * factor.classes[i + 1];
    }
    const auto stepsOf = [&](int variable, const JointClasses &joint) {
      std::vector<size_t> steps(joint.count(), 0);
      const size_t i = factor.at(variable);
      for (int c = 0; c < joint.count() && i < factor.scope.size(); ++c) {
        steps[c] = strides[i] * factor.classOf[i][joint.first[c]];
      }
      return steps;
    };
    Part &part = parts.emplace_back(Part{factor.table.data(), {}, stepsOf(v, own)});
    for (const auto &[u, joint] : around) {
      part.steps.push_back(stepsOf(u, joint));
    }
  }
  std::vector<int> counter(made.scope.size(), 0);
  std::vector<size_t> bases(parts.size());
  for (Cost &entry : made.table) {
    for (size_t p = 0; p < parts.size(); ++p) {
      bases[p] = 0;
      for (size_t i = 0; i < counter.size(); ++i) {
        bases[p] += parts[p].steps[i][counter[i]];
      }
    }
    entry = kNever;
    for (size_t c = 0; c < least.size(); ++c) {
      Cost cost = least[c];
      for (size_t p = 0; p < parts.size() && cost < entry; ++p) {
        cost = plus(cost, parts[p].table[bases[p] + parts[p].ownSteps[c]]);
      }
      entry = std::min(entry, cost);
    }
    for (size_t i = counter.size(); i-- > 0;) {
      if (++counter[i] < made.classes[i]) {
        break;
      }
      counter[i] = 0;
    }
  }
  work_ += int64_t(made.table.size()) * int64_t(least.size()) * int64_t(1 + parts.size());
}

} // namespace weft::search
