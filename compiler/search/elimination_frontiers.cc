// Elimination with frontiers in place of costs.
#include <algorithm>

#include "compiler/search/elimination.h"
#include "compiler/search/entries.h"

namespace weft::search {

// Puts together the frontiers that one class of a bucket's variable has at one entry.
class Combining {
  using Bucket = Elimination::Bucket;

public:
  Combining(const Elimination &elimination, const Frontiers &frontiers, const Bucket &bucket, Work &work)
      : frontiers_(frontiers), bucket_(bucket), work_(work), own_(bucket.own.count()), lost_(bucket.parts.size() + 1),
        rest_(frontiers.completions.size()) {
    for (int label : bucket.withOwn ? elimination.left_[bucket.variable] : std::vector<int>()) {
      if (const Price price = elimination.problem_.own[bucket.variable][label]; price.may()) {
        own_[bucket.own.of[label]].push_back(price);
      }
    }
    for (Frontier &own : own_) {
      bucket.withOwn ? keepUndominated(own) : own.push_back({});
    }
  }

  // The frontier; `steps`, if there is one, gets that of the variable's own prices, and that after each part.
  void combine(size_t entry, const size_t *bases, size_t c, Frontier &result, std::vector<Frontier> *steps = nullptr) {
    result.clear();
    if (!findRest(entry, bases, c)) {
      return;
    }
    result = own_[c];
    keepPossible(result, 0);
    for (size_t p = 0; p < bucket_.parts.size() && !result.empty(); ++p) {
      if (steps != nullptr) {
        steps->push_back(result);
      }
      const FrontierTable &table = frontiers_.tables[bucket_.parts[p].factor];
      const size_t i = bases[p] + bucket_.parts[p].ownSteps[c];
      sum_.clear();
      for (const Price *point = table.first(i), *end = point + table.count(i); point != end; ++point) {
        for (const Price price : result) {
          if (const Price both = price + *point; isPossible(both, p + 1)) {
            sum_.push_back(both);
          }
        }
      }
      work_.done += kPointWork * int64_t(1 + table.count(i) * result.size());
      if (table.count(i) > 1 && result.size() > 1) {
        keepUndominated(sum_);
      }
      thin(sum_, p);
      std::swap(sum_, result);
    }
    if (steps != nullptr) {
      steps->push_back(result);
    }
  }

  // Of what all classes have at an entry.
  void finish(Frontier &all) {
    keepUndominated(all);
    thin(all, bucket_.parts.size());
  }

  // What the cap can have cost, on the way to any entry of the table.
  int64_t lost() const {
    int64_t lost = 0;
    for (int64_t step : lost_) {
      lost = plus(lost, step);
    }
    return lost;
  }

private:
  void thin(Frontier &frontier, size_t step) { lost_[step] = std::max(lost_[step], coarsen(frontier, frontiers_.cap)); }

  // What is still to come costs at least, after each part. False: too much.
  bool findRest(size_t entry, const size_t *bases, size_t c) {
    const size_t parts = bucket_.parts.size();
    for (size_t k = 0; k < rest_.size(); ++k) {
      const Completion &completion = frontiers_.completions[k];
      std::vector<Cost> &rest = rest_[k];
      rest.resize(parts + 1);
      rest[parts] = completion.outside[bucket_.made][entry];
      for (size_t p = parts; p-- > 0;) {
        const size_t i = bases[p] + bucket_.parts[p].ownSteps[c];
        rest[p] = plus(rest[p + 1], completion.inside[bucket_.parts[p].factor][i]);
      }
      if (rest[0] > completion.most || rest[0] >= kNever) {
        return false;
      }
    }
    return true;
  }

  bool isPossible(Price price, size_t parts) const {
    for (size_t k = 0; k < rest_.size(); ++k) {
      const Completion &completion = frontiers_.completions[k];
      if (completion.weights.of(price) + rest_[k][parts] > completion.most) {
        return false;
      }
    }
    return true;
  }

  void keepPossible(Frontier &frontier, size_t parts) const {
    frontier.erase(
        std::remove_if(frontier.begin(), frontier.end(), [&](Price price) { return !isPossible(price, parts); }),
        frontier.end());
  }

  const Frontiers &frontiers_;
  const Bucket &bucket_;
  Work &work_;
  std::vector<Frontier> own_;           // of each class
  std::vector<int64_t> lost_;           // after each part, and in the end
  std::vector<std::vector<Cost>> rest_; // a completion, after so many parts
  Frontier sum_;
};

void Elimination::run(Frontiers &frontiers, Work &work) const {
  frontiers.tables.assign(factors_.size(), {});
  frontiers.lost = 0;
  frontiers.complete = false;
  for (size_t f = 0; f < given_.size(); ++f) {
    FrontierTable &table = frontiers.tables[f];
    table.begin.push_back(0);
    for (const Price price : given_[f]) {
      if (price.may()) {
        table.points.push_back(price);
      }
      table.begin.push_back(table.points.size());
    }
  }
  size_t points = 0;
  for (const Bucket &bucket : buckets_) {
    FrontierTable &made = frontiers.tables[bucket.made];
    made.begin.push_back(0);
    Combining combining(*this, frontiers, bucket, work);
    Frontier all, some;
    forEachEntry(bucket.parts, factors_[bucket.made].classes, [&](size_t entry, const size_t *bases) {
      all.clear();
      const bool isFull = points + made.points.size() > kMostPoints;
      for (size_t c = 0; c < size_t(bucket.own.count()) && !isFull && !work.isOver(); ++c) {
        combining.combine(entry, bases, c, some);
        all.insert(all.end(), some.begin(), some.end());
      }
      combining.finish(all);
      made.points.insert(made.points.end(), all.begin(), all.end());
      made.begin.push_back(made.points.size());
    });
    points += made.points.size();
    if (work.isOver() || points > kMostPoints) {
      return;
    }
    frontiers.lost = plus(frontiers.lost, combining.lost());
  }
  frontiers.complete = true;
}

void Elimination::follow(const Frontiers &frontiers, Price sought, std::vector<int> &labels) const {
  std::vector<Price> target(factors_.size());
  target[buckets_.back().made] = sought;
  Work work;
  for (size_t b = buckets_.size(); b-- > 0;) {
    const Bucket &bucket = buckets_[b];
    // Where the entries of the parts begin, by the labels around.
    std::vector<size_t> bases(bucket.parts.size(), 0);
    const Factor &made = factors_[bucket.made];
    for (size_t i = 0; i < made.scope.size(); ++i) {
      for (size_t p = 0; p < bases.size(); ++p) {
        bases[p] += bucket.parts[p].steps[i][made.classOf[i][labels[made.scope[i]]]];
      }
    }
    Combining combining(*this, frontiers, bucket, work);
    Price left = target[bucket.made];
    Frontier some;
    for (size_t c = 0; c < size_t(bucket.own.count()); ++c) {
      std::vector<Frontier> steps;
      combining.combine(made.entryOf(labels), bases.data(), c, some, &steps);
      if (std::find(some.begin(), some.end(), left) == some.end()) {
        continue;
      }
      for (size_t p = bucket.parts.size(); p-- > 0;) {
        const int f = bucket.parts[p].factor;
        const FrontierTable &table = frontiers.tables[f];
        const size_t i = bases[p] + bucket.parts[p].ownSteps[c];
        const Price *point = std::find_if(table.first(i), table.first(i) + table.count(i), [&](Price price) {
          return std::find(steps[p].begin(), steps[p].end(),
                           Price{left.seconds - price.seconds, left.bytes - price.bytes}) != steps[p].end();
        });
        target[f] = *point;
        left = {left.seconds - point->seconds, left.bytes - point->bytes};
      }
      for (size_t i = 0; bucket.variable >= 0 && i < left_[bucket.variable].size(); ++i) {
        const int label = left_[bucket.variable][i];
        if (bucket.own.of[label] == int(c) && (!bucket.withOwn || problem_.own[bucket.variable][label] == left)) {
          labels[bucket.variable] = label;
          break;
        }
      }
      break;
    }
  }
}

} // namespace weft::search
