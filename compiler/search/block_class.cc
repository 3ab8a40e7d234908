#include "compiler/search/block_class.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/search/dominance.h"

namespace weft::search {

BlockClass::BlockClass(const Block &block, int64_t table) : block_(block), table_(table) {
  std::set<int> border(block.in.begin(), block.in.end());
  border.insert(block.out.begin(), block.out.end());
  border_.assign(border.begin(), border.end());
  for (int v : block.in) {
    ins_ *= int(block.labelling.own[v].size());
  }
  for (int v : block.out) {
    outs_ *= int(block.labelling.own[v].size());
  }
  std::vector<std::vector<int>> all;
  for (const std::vector<Price> &own : block.labelling.own) {
    all.emplace_back(own.size());
    std::iota(all.back().begin(), all.back().end(), 0);
  }
  cases_.push_back(caseOf(std::move(all)));
}

std::unique_ptr<BlockClass::Case> BlockClass::caseOf(std::vector<std::vector<int>> left) const {
  left = undominatedLabels(block_.labelling, std::move(left), border_);
  auto made = std::make_unique<Case>(Case{Elimination(block_.labelling, std::move(left), border_, table_), {}});
  const Factor &border = made->elimination.border();
  const std::vector<Part> ins = partsOf(/*isIn=*/true, border), outs = partsOf(/*isIn=*/false, border);
  made->entryOf.reserve(ins.size() * outs.size());
  for (const Part &in : ins) {
    for (const Part &out : outs) {
      const bool is = in.entry >= 0 && out.entry >= 0 && in.shared == out.shared;
      made->entryOf.push_back(is ? in.entry + out.entry : -1);
    }
  }
  return made;
}

std::vector<BlockClass::Part> BlockClass::partsOf(bool isIn, const Factor &border) const {
  const auto has = [](const std::vector<int> &side, int v) {
    return std::find(side.begin(), side.end(), v) != side.end();
  };
  std::vector<Part> parts(isIn ? ins_ : outs_);
  std::vector<int> labels(block_.labelling.own.size());
  for (int state = 0; state < int(parts.size()); ++state) {
    for (int v : border_)
      labels[v] = -1;
    bool is = set(isIn ? block_.in : block_.out, state, labels);
    Part &part = parts[state];
    size_t entry = 0;
    for (size_t i = 0; is && i < border.scope.size(); ++i) {
      const int v = border.scope[i];
      const bool counts = isIn ? has(block_.in, v) : !has(block_.in, v);
      const int mine = labels[v] < 0 ? 0 : border.classOf[i][labels[v]];
      is = mine >= 0;
      entry = entry * border.classes[i] + (counts ? mine : 0);
    }
    part.entry = is ? int(entry) : -1;
    for (int v : border_) {
      if (has(block_.in, v) && has(block_.out, v))
        part.shared.push_back(labels[v]);
    }
  }
  return parts;
}

bool BlockClass::set(const std::vector<int> &variables, int state, std::vector<int> &labels) const {
  bool same = true;
  for (size_t i = variables.size(); i-- > 0;) {
    const int v = variables[i], count = int(block_.labelling.own[v].size());
    same = same && (labels[v] < 0 || labels[v] == state % count);
    labels[v] = state % count;
    state /= count;
  }
  return same;
}

std::vector<int> BlockClass::atBorder(int in, int out) const {
  std::vector<int> labels(block_.labelling.own.size(), 0);
  set(block_.in, in, labels);
  set(block_.out, out, labels);
  return labels;
}

std::vector<Cost> BlockClass::costs(Weights weights, Work &work) {
  std::vector<Cost> costs(size_t(ins_) * outs_, kNever);
  for (const auto &one : cases_) {
    if (!(one->weights == weights)) {
      one->inside = one->elimination.inside(weights, work);
      one->weights = weights;
    }
    for (size_t i = 0; i < costs.size(); ++i) {
      costs[i] = one->entryOf[i] < 0 ? costs[i] : std::min(costs[i], one->inside.back()[one->entryOf[i]]);
    }
  }
  return costs;
}

std::vector<int> BlockClass::labels(int in, int out) const {
  const size_t pair = size_t(in) * outs_ + out;
  const Case *best = nullptr;
  Cost least = kNever;
  for (const auto &one : cases_) {
    if (const int entry = one->entryOf[pair]; entry >= 0 && one->inside.back()[entry] < least) {
      least = one->inside.back()[entry];
      best = one.get();
    }
  }
  std::vector<int> labels = atBorder(in, out);
  if (best == nullptr) {
    return {};
  }
  best->elimination.follow(best->weights, best->inside, labels);
  return labels;
}

Cost BlockClass::Case::least(const std::vector<Cost> &around) const {
  Cost least = kNever;
  for (size_t i = 0; i < around.size(); ++i) {
    least = entryOf[i] < 0 ? least : std::min(least, plus(around[i], inside.back()[entryOf[i]]));
  }
  return least;
}

std::vector<Cost> BlockClass::Case::byEntry(const std::vector<Cost> &around) const {
  std::vector<Cost> entries(elimination.border().entries, kNever);
  for (size_t i = 0; i < around.size(); ++i) {
    if (entryOf[i] >= 0) {
      entries[entryOf[i]] = std::min(entries[entryOf[i]], around[i]);
    }
  }
  return entries;
}

BlockClass::Least BlockClass::least(const std::vector<Cost> &around) const {
  Least least;
  for (const auto &one : cases_) {
    Cost &mine = one->elimination.split() < 0 ? least.closed : least.open;
    mine = std::min(mine, one->least(around));
  }
  return least;
}

bool BlockClass::isExact() const {
  return std::all_of(cases_.begin(), cases_.end(), [](const auto &one) { return one->elimination.split() < 0; });
}

void BlockClass::drop(const std::vector<Cost> &around, Cost most) {
  cases_.erase(std::remove_if(cases_.begin(), cases_.end(),
                              [&](const auto &one) {
                                const Cost least = one->least(around);
                                return least > most || least == kNever;
                              }),
               cases_.end());
}

void BlockClass::divide(const std::vector<Cost> &around) {
  size_t best = cases_.size();
  Cost least = kNever;
  for (size_t i = 0; i < cases_.size(); ++i) {
    const Cost cost = cases_[i]->elimination.split() < 0 ? kNever : cases_[i]->least(around);
    if (cost < least) {
      least = cost;
      best = i;
    }
  }
  if (best == cases_.size()) {
    return;
  }
  const int v = cases_[best]->elimination.split();
  const std::vector<std::vector<int>> left = cases_[best]->elimination.left();
  cases_.erase(cases_.begin() + best);
  for (int label : left[v]) {
    std::vector<std::vector<int>> fewer = left;
    fewer[v] = {label};
    cases_.push_back(caseOf(std::move(fewer)));
  }
}

void BlockClass::shrink(const std::vector<Cost> &around, Cost most, Work &work) {
  std::vector<std::unique_ptr<Case>> cases = std::move(cases_);
  cases_.clear();
  for (auto &one : cases) {
    std::vector<std::vector<Cost>> marginals;
    one->elimination.outside(one->weights, one->inside, one->byEntry(around), most, work, &marginals);
    std::vector<std::vector<int>> left = one->elimination.left();
    bool none = false;
    for (size_t v = 0; v < left.size(); ++v) {
      const auto isNeedless = [&](int label) { return marginals[v][label] > std::min(most, kNever - 1); };
      left[v].erase(std::remove_if(left[v].begin(), left[v].end(), isNeedless), left[v].end());
      none = none || left[v].empty();
    }
    if (!none) {
      const bool same = left == one->elimination.left();
      cases_.push_back(same ? std::move(one) : caseOf(std::move(left)));
    }
  }
}

void BlockClass::clear() {
  for (const auto &one : cases_) {
    one->frontiers = {};
  }
}

void BlockClass::complete(const std::vector<Cost> &around, Cost most, Work &work) {
  for (const auto &one : cases_) {
    one->frontiers.completions.push_back(
        {one->weights, most, one->inside,
         one->elimination.outside(one->weights, one->inside, one->byEntry(around), most, work)});
  }
}

FrontierTable BlockClass::frontiers(size_t cap, Work &work) {
  for (const auto &one : cases_) {
    one->frontiers.cap = cap;
    one->elimination.run(one->frontiers, work);
  }
  FrontierTable table;
  table.begin.push_back(0);
  Frontier all;
  for (size_t i = 0; isComplete() && i < size_t(ins_) * outs_; ++i) {
    all.clear();
    for (const auto &one : cases_) {
      if (const int entry = one->entryOf[i]; entry >= 0) {
        const FrontierTable &mine = one->frontiers.tables.back();
        all.insert(all.end(), mine.first(entry), mine.first(entry) + mine.count(entry));
      }
    }
    keepUndominated(all);
    table.points.insert(table.points.end(), all.begin(), all.end());
    table.begin.push_back(table.points.size());
  }
  return table;
}

bool BlockClass::isComplete() const {
  return std::all_of(cases_.begin(), cases_.end(), [](const auto &one) { return one->frontiers.complete; });
}

int64_t BlockClass::lost() const {
  int64_t lost = 0;
  for (const auto &one : cases_) {
    lost = std::max(lost, one->frontiers.lost);
  }
  return lost;
}

std::vector<int> BlockClass::labels(int in, int out, Price sought) const {
  std::vector<int> labels = atBorder(in, out);
  const size_t pair = size_t(in) * outs_ + out;
  for (const auto &one : cases_) {
    const FrontierTable &table = one->frontiers.tables.back();
    const int entry = one->entryOf[pair];
    if (entry >= 0 && std::find(table.first(entry), table.first(entry) + table.count(entry), sought) !=
                          table.first(entry) + table.count(entry)) {
      one->elimination.follow(one->frontiers, sought, labels);
      return labels;
    }
  }
  return {};
}

} // namespace weft::search
