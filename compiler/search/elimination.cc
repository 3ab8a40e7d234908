#include "compiler/search/elimination.h"

#include <algorithm>
#include <limits>

#include "compiler/search/entries.h"

namespace weft::search {
namespace {

// A variable that touches more than this is not looked at until others around it are gone. Example: the norm of all
// gradients.
constexpr size_t kMostFactors = 24;

// What the classes of a bucket's variable cost at an entry: their own costs, and those of the parts.
class Rows {
public:
  template <typename Part>
  Rows(std::vector<Cost> own, const std::vector<Part> &parts, const std::vector<std::vector<Cost>> &tables)
      : own_(std::move(own)), row_(own_.size()) {
    for (const Part &part : parts) {
      tables_.push_back(tables[part.factor].data());
      steps_.push_back(part.ownSteps.data());
    }
  }

  int64_t work() const { return int64_t(own_.size()) * int64_t(1 + tables_.size()); }

  const std::vector<Cost> &all(const size_t *bases) {
    row_ = own_;
    for (size_t p = 0; p < tables_.size(); ++p) {
      for (size_t c = 0; c < row_.size(); ++c) {
        row_[c] = plus(row_[c], tables_[p][bases[p] + steps_[p][c]]);
      }
    }
    return row_;
  }

  // The least of them. Of few parts: most of the time is spent here.
  Cost least(const size_t *bases) {
    switch (tables_.size()) {
    case 1:
      return least<1>(bases);
    case 2:
      return least<2>(bases);
    case 3:
      return least<3>(bases);
    default:
      all(bases);
      return *std::min_element(row_.begin(), row_.end());
    }
  }

private:
  template <size_t parts> Cost least(const size_t *bases) const {
    static_assert(parts < 7); // or sums of kNever are too large
    Cost least = kNever;
    for (size_t c = 0; c < own_.size(); ++c) {
      Cost cost = own_[c];
      for (size_t p = 0; p < parts; ++p) {
        cost += tables_[p][bases[p] + steps_[p][c]];
      }
      least = std::min(least, cost);
    }
    return least;
  }

  const std::vector<Cost> own_;
  std::vector<Cost> row_;
  std::vector<const Cost *> tables_; // of each part
  std::vector<const size_t *> steps_;
};

} // namespace

size_t Factor::at(int variable) const { return std::find(scope.begin(), scope.end(), variable) - scope.begin(); }

size_t Factor::entryOf(const std::vector<int> &labels) const {
  size_t entry = 0;
  for (size_t i = 0; i < scope.size(); ++i) {
    entry = entry * classes[i] + classOf[i][labels[scope[i]]];
  }
  return entry;
}

Elimination::Elimination(const Labelling &problem, std::vector<std::vector<int>> left, const std::vector<int> &border,
                         int64_t table)
    : problem_(problem), left_(std::move(left)), factorsOf_(problem.own.size()) {
  for (const Link &link : problem.links) {
    const int firstClasses = int(link.price.size()) / link.secondClasses;
    add({{link.first, link.second},
         {link.firstClass, link.secondClass},
         {firstClasses, link.secondClasses},
         link.price.size()});
    given_.push_back(link.price);
  }
  for (int v : border) {
    std::vector<int> classOf(problem.own[v].size(), -1);
    std::vector<Price> prices;
    for (int label : left_[v]) {
      classOf[label] = int(prices.size());
      prices.push_back(problem.own[v][label]);
    }
    add({{v}, {classOf}, {int(prices.size())}, prices.size()});
    given_.push_back(std::move(prices));
  }
  order(border, table);
}

void Elimination::order(const std::vector<int> &border, int64_t table) {
  std::set<std::pair<double, int>> queue; // entries that eliminating a variable looks at
  std::vector<double> entries(left_.size());
  for (int v = 0; v < int(left_.size()); ++v) {
    if (std::find(border.begin(), border.end(), v) == border.end()) {
      queue.insert({entries[v] = entriesOf(v), v});
    }
  }
  while (!queue.empty()) {
    const int v = queue.begin()->second;
    queue.erase(queue.begin());
    std::set<int> touched;
    bool withOwn = true;
    for (const std::vector<int> &group : groupsOf(v, table)) {
      eliminate(v, group, withOwn, touched);
      withOwn = false;
    }
    for (int u : touched) {
      if (queue.erase({entries[u], u}) > 0) {
        queue.insert({entries[u] = entriesOf(u), u});
      }
    }
  }
  std::set<int> rest(whole_.begin(), whole_.end()), touched;
  for (int v : border) {
    rest.insert(factorsOf_[v].begin(), factorsOf_[v].end());
  }
  eliminate(-1, {rest.begin(), rest.end()}, /*withOwn=*/false, touched);
}

void Elimination::add(Factor factor) {
  for (int v : factor.scope) {
    factorsOf_[v].push_back(int(factors_.size()));
  }
  if (factor.scope.empty()) {
    whole_.push_back(int(factors_.size()));
  }
  factors_.push_back(std::move(factor));
}

JointClasses Elimination::join(int v, const std::vector<const std::vector<int> *> &classOf) const {
  JointClasses joint{std::vector<int>(problem_.own[v].size(), -1), {}};
  for (int label : left_[v]) {
    joint.of[label] = 0;
  }
  joint.first.assign(1, left_[v][0]);
  for (const std::vector<int> *of : classOf) { // each one splits the classes so far
    const int width = 1 + *std::max_element(of->begin(), of->end());
    std::vector<int> known(joint.first.size() * width, -1);
    joint.first.clear();
    for (int label : left_[v]) {
      int &number = known[size_t(joint.of[label]) * width + (*of)[label]];
      if (number < 0) {
        number = joint.count();
        joint.first.push_back(label);
      }
      joint.of[label] = number;
    }
  }
  return joint;
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
    joint.emplace(u, join(u, of));
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

std::vector<std::vector<int>> Elimination::groupsOf(int v, int64_t table) {
  const bool fixed = left_[v].size() == 1;
  if (!fixed && tableOf(v, factorsOf_[v]) <= double(table)) {
    return {factorsOf_[v]};
  }
  std::vector<int> factors = factorsOf_[v];
  std::sort(factors.begin(), factors.end(), [&](int a, int b) { // the largest one first
    return std::pair(factors_[b].entries, a) < std::pair(factors_[a].entries, b);
  });
  std::vector<std::vector<int>> groups;
  for (int f : factors) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](std::vector<int> with) {
      with.push_back(f);
      return !fixed && tableOf(v, with) <= double(table);
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

void Elimination::eliminate(int v, const std::vector<int> &group, bool withOwn, std::set<int> &touched) {
  const std::map<int, JointClasses> around = neighbours(v, group);
  Bucket bucket{v, withOwn, {{}, {0}}, {}, int(factors_.size())};
  if (v >= 0) {
    std::vector<const std::vector<int> *> mine;
    for (int f : group) {
      mine.push_back(&factors_[f].classOf[factors_[f].at(v)]);
    }
    bucket.own = join(v, mine);
  }
  Factor made;
  for (const auto &[u, joint] : around) {
    made.scope.push_back(u);
    made.classOf.push_back(joint.of);
    made.classes.push_back(joint.count());
    made.entries *= joint.count();
    touched.insert(u);
  }
  for (int f : group) {
    const Factor &factor = factors_[f];
    std::vector<size_t> strides(factor.scope.size(), 1);
    for (size_t i = factor.scope.size(); i-- > 1;) {
      strides[i - 1] = strides[i] * factor.classes[i];
    }
    const auto stepsOf = [&](int variable, const JointClasses &joint) {
      std::vector<size_t> steps(joint.count(), 0);
      const size_t i = factor.at(variable);
      for (int c = 0; c < joint.count() && i < factor.scope.size(); ++c) {
        steps[c] = strides[i] * factor.classOf[i][joint.first[c]];
      }
      return steps;
    };
    Part &part = bucket.parts.emplace_back(Part{f, {}, stepsOf(v, bucket.own)});
    for (const auto &[u, joint] : around) {
      part.steps.push_back(stepsOf(u, joint));
    }
    for (int u : factor.scope) {
      factorsOf_[u].erase(std::find(factorsOf_[u].begin(), factorsOf_[u].end(), f));
    }
  }
  buckets_.push_back(std::move(bucket));
  add(std::move(made));
}

std::vector<Cost> Elimination::ownCosts(const Bucket &bucket, Weights weights) const {
  std::vector<Cost> costs(bucket.own.count(), bucket.withOwn ? kNever : 0);
  for (size_t i = 0; bucket.withOwn && i < left_[bucket.variable].size(); ++i) {
    const int label = left_[bucket.variable][i];
    Cost &least = costs[bucket.own.of[label]];
    least = std::min(least, weights.of(problem_.own[bucket.variable][label]));
  }
  return costs;
}

std::vector<std::vector<Cost>> Elimination::inside(Weights weights, Work &work) const {
  std::vector<std::vector<Cost>> tables(factors_.size());
  for (size_t f = 0; f < factors_.size(); ++f) {
    tables[f].resize(factors_[f].entries, kNever);
    for (size_t entry = 0; f < given_.size() && entry < tables[f].size(); ++entry) {
      tables[f][entry] = weights.of(given_[f][entry]);
    }
  }
  for (const Bucket &bucket : buckets_) {
    Rows rows(ownCosts(bucket, weights), bucket.parts, tables);
    std::vector<Cost> &made = tables[bucket.made];
    forEachEntry(bucket.parts, factors_[bucket.made].classes,
                 [&](size_t entry, const size_t *bases) { made[entry] = rows.least(bases); });
    work.done += int64_t(made.size()) * rows.work();
  }
  return tables;
}

std::vector<std::vector<Cost>> Elimination::outside(Weights weights, const std::vector<std::vector<Cost>> &inside,
                                                    std::vector<Cost> border, Cost most, Work &work,
                                                    std::vector<std::vector<Cost>> *marginals) const {
  std::vector<std::vector<Cost>> outside(factors_.size());
  for (size_t f = given_.size(); f < factors_.size(); ++f) {
    outside[f].resize(factors_[f].entries, kNever);
  }
  outside.back() = std::move(border);
  if (marginals != nullptr) {
    marginals->clear();
    for (const std::vector<Price> &own : problem_.own) {
      marginals->emplace_back(own.size(), 0);
    }
    marginalsOfBorder(inside.back(), outside.back(), *marginals);
  }
  for (size_t b = buckets_.size(); b-- > 0;) {
    const Bucket &bucket = buckets_[b];
    const std::vector<Cost> own = ownCosts(bucket, weights);
    Rows rows(own, bucket.parts, inside);
    std::vector<Cost> &around = outside[bucket.made];
    std::vector<Cost> leastOf(own.size(), kNever); // of each class
    forEachEntry(bucket.parts, factors_[bucket.made].classes, [&](size_t entry, const size_t *bases) {
      if (plus(around[entry], inside[bucket.made][entry]) > std::min(most, kNever - 1)) {
        around[entry] = kNever;
        return;
      }
      const std::vector<Cost> &row = rows.all(bases);
      for (size_t c = 0; c < row.size(); ++c) {
        const Cost all = plus(around[entry], row[c]);
        leastOf[c] = std::min(leastOf[c], all);
        for (size_t p = 0; p < bucket.parts.size() && all < kNever && all <= most; ++p) {
          const int f = bucket.parts[p].factor;
          if (const size_t i = bases[p] + bucket.parts[p].ownSteps[c]; !outside[f].empty()) {
            outside[f][i] = std::min(outside[f][i], all - inside[f][i]);
          }
        }
      }
    });
    work.done += int64_t(around.size()) * rows.work();
    for (size_t i = 0; marginals != nullptr && bucket.variable >= 0 && i < left_[bucket.variable].size(); ++i) {
      const int label = left_[bucket.variable][i], c = bucket.own.of[label];
      const Cost mine = bucket.withOwn ? weights.of(problem_.own[bucket.variable][label]) : 0;
      Cost &marginal = (*marginals)[bucket.variable][label]; // the groups of a variable are one bound each
      marginal = std::max(marginal, mine == kNever ? kNever : plus(leastOf[c], mine - own[c]));
    }
  }
  return outside;
}

void Elimination::marginalsOfBorder(const std::vector<Cost> &inside, const std::vector<Cost> &outside,
                                    std::vector<std::vector<Cost>> &marginals) const {
  const Factor &factor = factors_.back();
  size_t stride = factor.entries;
  for (size_t i = 0; i < factor.scope.size(); ++i) {
    stride /= factor.classes[i];
    std::vector<Cost> leastOf(factor.classes[i], kNever);
    for (size_t entry = 0; entry < factor.entries; ++entry) {
      Cost &least = leastOf[entry / stride % factor.classes[i]];
      least = std::min(least, plus(inside[entry], outside[entry]));
    }
    for (int label : left_[factor.scope[i]]) {
      marginals[factor.scope[i]][label] = leastOf[factor.classOf[i][label]];
    }
  }
}

void Elimination::follow(Weights weights, const std::vector<std::vector<Cost>> &inside,
                         std::vector<int> &labels) const {
  for (size_t end = buckets_.size() - 1; end > 0;) { // the last bucket has no variable
    const int v = buckets_[end - 1].variable;
    size_t begin = end; // a variable's groups follow each other
    while (begin > 0 && buckets_[begin - 1].variable == v) {
      --begin;
    }
    Cost least = -1;
    int best = left_[v][0];
    for (int label : left_[v]) {
      labels[v] = label;
      Cost cost = weights.of(problem_.own[v][label]);
      for (size_t b = begin; b < end; ++b) {
        for (const Part &part : buckets_[b].parts) {
          cost = plus(cost, inside[part.factor][factors_[part.factor].entryOf(labels)]);
        }
      }
      if (least < 0 || cost < least) {
        least = cost;
        best = label;
      }
    }
    labels[v] = best;
    end = begin;
  }
}

} // namespace weft::search
