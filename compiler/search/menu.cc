#include "compiler/search/menu.h"

#include <algorithm>
#include <map>

namespace weft::search {
namespace {

// Points of a mixture at most.
constexpr size_t kPoints = 64;

} // namespace

Menu::Menu(const Chain &chain, const std::vector<BlockClass> &classes, const std::vector<int> &classOf)
    : chain_(chain), classes_(classes), classOf_(classOf), ins_(classes.size()), outs_(classes.size()),
      met_(classes.size()) {}

ChainLabels Menu::add(const Sweep &sweep) {
  const std::vector<int> states = sweep.states();
  for (size_t i = 0; i < classOf_.size(); ++i) {
    ins_[classOf_[i]].insert(states[i]);
    outs_[classOf_[i]].insert(states[i + 1]);
  }
  std::vector<std::map<std::pair<int, int>, std::vector<int>>> now(classes_.size());
  for (size_t k = 0; k < classes_.size(); ++k) {
    for (int in : ins_[k]) {
      for (int out : outs_[k]) {
        std::vector<int> labels = classes_[k].labels(in, out);
        const Price price = labels.empty() ? kImpossible : priceOf(chain_.blocks[k].labelling, labels);
        if (price.may()) {
          met_[k].push_back({in, out, price, labels});
        }
        now[k][{in, out}] = std::move(labels);
      }
    }
  }
  ChainLabels best;
  for (size_t i = 0; i < classOf_.size(); ++i) {
    best.push_back(now[classOf_[i]][{states[i], states[i + 1]}]);
  }
  return best;
}

FrontierTable Menu::tableOf(size_t k) const {
  const size_t outs = classes_[k].outs();
  std::map<size_t, Frontier> known;
  for (const Met &met : met_[k]) {
    known[met.in * outs + met.out].push_back(met.price);
  }
  FrontierTable table;
  for (size_t pair = 0; pair < classes_[k].ins() * outs; ++pair) {
    table.begin.push_back(table.points.size());
    if (auto it = known.find(pair); it != known.end()) {
      keepUndominated(it->second);
      table.points.insert(table.points.end(), it->second.begin(), it->second.end());
    }
  }
  table.begin.push_back(table.points.size());
  return table;
}

ChainLabels Menu::mix(const Sweep &sweep, int64_t limit, Cost most, Work &work) const {
  std::vector<BlockFrontiers> blocks;
  for (size_t k = 0; k < classes_.size(); ++k) {
    blocks.push_back({classes_[k].ins(), classes_[k].outs(), tableOf(k)});
  }
  const std::vector<Ahead> ahead = {{sweep.weights(), most, sweep.after()}};
  const Assembly mixed(blocks, classOf_, ahead, kPoints, work);
  ChainLabels labels;
  if (!mixed.isComplete()) {
    return labels;
  }
  const auto isFitting = [&](Price price) { return price.bytes <= limit; };
  const auto fastest = std::find_if(mixed.points().rbegin(), mixed.points().rend(), isFitting);
  if (fastest == mixed.points().rend()) {
    return labels;
  }
  for (const Assembly::Step &step : mixed.stepsTo(*fastest)) {
    const std::vector<Met> &all = met_[classOf_[labels.size()]];
    const auto isIt = [&](const Met &met) {
      return met.in == step.in && met.out == step.out && met.price == step.point;
    };
    labels.push_back(std::find_if(all.begin(), all.end(), isIt)->labels);
  }
  return labels;
}

} // namespace weft::search
