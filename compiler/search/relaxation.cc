#include "compiler/search/relaxation.h"

#include <algorithm>

namespace weft::search {
namespace {

// Messages are at most this, so that sums of them stay below kNever.
constexpr Cost kMostSaid = Cost(1) << 52;

// Sweeps over all nodes at most; few need more than five.
constexpr int kMostSweeps = 20;

} // namespace

Relaxation::Relaxation(const Chain &chain, const std::vector<int> &classOf) : chain_(chain), classOf_(classOf) {
  std::vector<int> tableOf; // the first one of each block
  for (const Block &block : chain.blocks) {
    tableOf.push_back(int(links_.size()));
    for (const Link &link : block.labelling.links) {
      links_.push_back(&link);
    }
  }
  std::vector<int> border;
  for (size_t place = 0; place < classOf.size(); ++place) {
    const Block &block = chain.blocks[classOf[place]];
    std::vector<int> &nodes = nodeOf_.emplace_back(block.labelling.own.size(), -1);
    for (size_t i = 0; i < block.in.size(); ++i) {
      nodes[block.in[i]] = border[i];
      for (size_t label = 0; label < own_[border[i]].size(); ++label) {
        own_[border[i]][label] = own_[border[i]][label] + block.labelling.own[block.in[i]][label];
      }
    }
    const auto make = [&](int v) {
      if (nodes[v] < 0) {
        nodes[v] = int(own_.size());
        own_.push_back(block.labelling.own[v]);
        placeOf_.push_back(int(place));
      }
    };
    for (int v = 0; v < int(nodes.size()); ++v) {
      if (std::find(block.out.begin(), block.out.end(), v) == block.out.end()) {
        make(v);
      }
    }
    border.clear();
    for (int v : block.out) { // the last ones, so that messages pass along the chain
      make(v);
      border.push_back(nodes[v]);
    }
    for (size_t i = 0; i < block.labelling.links.size(); ++i) {
      const Link &link = block.labelling.links[i];
      edges_.push_back({nodes[link.first], nodes[link.second], &link, tableOf[classOf[place]] + int(i)});
    }
  }
  ends_.resize(own_.size());
  for (size_t e = 0; e < edges_.size(); ++e) {
    ends_[edges_[e].first].push_back({int(e), true});
    ends_[edges_[e].second].push_back({int(e), false});
  }
}

Relaxation::Nodes Relaxation::run(Weights weights, int rounds, Work &work, bool fresh) {
  if (fresh) {
    begin(weights);
  }
  Nodes best;
  Cost least = 0;
  for (int i = 0; i < 2 * rounds; ++i) {
    Nodes nodes(own_.size(), -1);
    pass(/*forward=*/i % 2 == 0, nodes, work);
    for (Nodes some : {std::move(nodes), best.empty() ? Nodes() : alike(best)}) {
      if (some.empty()) {
        continue;
      }
      descend(some, weights);
      if (const Cost cost = weights.of(priceOf(some)); best.empty() || cost < least) {
        best = std::move(some);
        least = cost;
      }
    }
  }
  return best;
}

// Copies of a block are alike in most good labels: at all places those of one place, the one with which that is best.
Relaxation::Nodes Relaxation::alike(const Nodes &nodes) const {
  Nodes best = nodes;
  Cost least = weights_.of(priceOf(nodes));
  for (size_t place = 0; place < classOf_.size(); ++place) {
    Nodes some = nodes;
    for (size_t other = 0; other < classOf_.size(); ++other) {
      for (size_t v = 0; v < nodeOf_[other].size() && classOf_[other] == classOf_[place]; ++v) {
        if (const int node = nodeOf_[other][v]; placeOf_[node] == int(other)) {
          some[node] = nodes[nodeOf_[place][v]];
        }
      }
    }
    if (const Cost cost = weights_.of(priceOf(some)); cost < least) {
      best = std::move(some);
      least = cost;
    }
  }
  return best;
}

void Relaxation::begin(Weights weights) {
  weights_ = weights;
  costs_.clear();
  for (const Link *link : links_) {
    std::vector<Cost> &costs = costs_.emplace_back();
    for (const Price price : link->price) {
      costs.push_back(weights.of(price));
    }
  }
  messages_.clear();
  for (const Edge &edge : edges_) {
    messages_.emplace_back(edge.link->price.size() / edge.link->secondClasses, 0);
    messages_.emplace_back(edge.link->secondClasses, 0);
  }
}

// What each label costs, with what all neighbours say.
std::vector<Cost> Relaxation::gathered(int node) const {
  std::vector<Cost> all;
  for (size_t label = 0; label < own_[node].size(); ++label) {
    Cost cost = weights_.of(own_[node][label]);
    for (const End &end : ends_[node]) {
      cost = plus(cost, message(end, /*toMe=*/true)[classesOf(end)[label]]);
    }
    all.push_back(cost);
  }
  return all;
}

void Relaxation::pass(bool forward, Nodes &nodes, Work &work) {
  for (int i = 0; i < int(own_.size()); ++i) {
    const int node = forward ? i : int(own_.size()) - 1 - i;
    for (const End &end : ends_[node]) {
      pull(end);
      work.done += int64_t(costs_[edges_[end.edge].table].size());
    }
    const std::vector<Cost> all = gathered(node);
    nodes[node] = choose(node, all, nodes);
    const Cost least = *std::min_element(all.begin(), all.end());
    const auto comesNext = [&](const End &end) { return forward == (otherOf(end) > node); };
    const Cost next = std::count_if(ends_[node].begin(), ends_[node].end(), comesNext);
    for (const End &end : ends_[node]) {
      if (!comesNext(end)) {
        continue;
      }
      // Each link to a node that comes next gets an equal part of what the labels cost more than the best one.
      std::vector<Cost> &said = message(end, /*toMe=*/true);
      std::vector<Cost> part(said.size(), kNever);
      for (size_t label = 0; label < all.size(); ++label) {
        Cost &mine = part[classesOf(end)[label]];
        mine = all[label] == kNever ? mine : std::min(mine, all[label] - least);
      }
      for (size_t c = 0; c < said.size(); ++c) {
        if (part[c] < kNever && said[c] < kNever) {
          said[c] = std::max(said[c] - part[c] / std::max(next, Cost(ends_[node].size()) - next), -kMostSaid);
        }
      }
    }
  }
}

// Takes out of a link what each class of the labels costs there at least.
void Relaxation::pull(const End &end) {
  const Edge &edge = edges_[end.edge];
  const std::vector<Cost> &costs = costs_[edge.table];
  std::vector<Cost> &mine = message(end, /*toMe=*/true);
  const std::vector<Cost> &others = message(end, /*toMe=*/false);
  std::vector<Cost> least(mine.size(), kNever);
  const size_t width = edge.link->secondClasses, height = costs.size() / width;
  for (size_t i = 0; i < height; ++i) {
    const Cost *row = costs.data() + i * width;
    for (size_t j = 0; j < width; ++j) { // of what may not be kNever is left, more or less; the rest is far below
      Cost &cost = least[end.first ? i : j];
      cost = std::min(cost, others[end.first ? j : i] == kNever ? kNever : row[j] - others[end.first ? j : i]);
    }
  }
  for (size_t c = 0; c < mine.size(); ++c) {
    mine[c] = mine[c] == kNever || least[c] >= kNever / 2 ? kNever : std::min(least[c], kMostSaid);
  }
}

// The label that is best beside those which other nodes have.
int Relaxation::choose(int node, const std::vector<Cost> &all, const Nodes &nodes) const {
  Cost least = kNever;
  int best = -1;
  for (size_t label = 0; label < all.size(); ++label) {
    Cost cost = all[label];
    for (const End &end : ends_[node]) {
      const int other = nodes[otherOf(end)];
      if (other < 0 || cost == kNever) {
        continue;
      }
      const std::vector<int> &others =
          end.first ? edges_[end.edge].link->secondClass : edges_[end.edge].link->firstClass;
      const Cost both = weights_.of(priceAt(end, int(label), other)),
                 mine = message(end, /*toMe=*/true)[classesOf(end)[label]],
                 his = message(end, /*toMe=*/false)[others[other]];
      cost = both == kNever || mine == kNever || his == kNever ? kNever : plus(cost, both - mine - his);
    }
    if (best < 0 || cost < least) {
      least = cost;
      best = int(label);
    }
  }
  return best;
}

Relaxation::Bound Relaxation::bound(Work &work) const {
  Bound bound;
  for (const Block &block : chain_.blocks) {
    bound.marginals.emplace_back();
    for (const std::vector<Price> &own : block.labelling.own) {
      bound.marginals.back().emplace_back(own.size(), kNever);
    }
  }
  // More than the least, of each node's labels.
  std::vector<std::vector<Cost>> more;
  const auto add = [&](Cost least) {
    bound.least = least == kNever || bound.least == kNever ? kNever : bound.least + least;
  };
  for (int node = 0; node < int(own_.size()); ++node) {
    std::vector<Cost> &all = more.emplace_back(gathered(node));
    const Cost least = *std::min_element(all.begin(), all.end());
    for (Cost &cost : all) {
      cost = cost == kNever ? kNever : cost - least;
    }
    add(least);
  }
  for (size_t e = 0; e < edges_.size(); ++e) {
    const Edge &edge = edges_[e];
    const std::vector<Cost> &costs = costs_[edge.table], &first = messages_[2 * e], &second = messages_[2 * e + 1];
    std::vector<Cost> rows(first.size(), kNever), columns(second.size(), kNever);
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t j = 0; j < columns.size(); ++j) {
        if (const Cost cost = costs[i * columns.size() + j]; cost < kNever && first[i] < kNever && second[j] < kNever) {
          rows[i] = std::min(rows[i], cost - first[i] - second[j]);
          columns[j] = std::min(columns[j], cost - first[i] - second[j]);
        }
      }
    }
    work.done += int64_t(costs.size());
    const Cost least = *std::min_element(rows.begin(), rows.end());
    add(least);
    for (size_t label = 0; label < more[edge.first].size(); ++label) {
      const Cost row = rows[edge.link->firstClass[label]];
      more[edge.first][label] = row == kNever ? kNever : plus(more[edge.first][label], row - least);
    }
    for (size_t label = 0; label < more[edge.second].size(); ++label) {
      const Cost column = columns[edge.link->secondClass[label]];
      more[edge.second][label] = column == kNever ? kNever : plus(more[edge.second][label], column - least);
    }
  }
  for (size_t place = 0; place < classOf_.size(); ++place) {
    std::vector<std::vector<Cost>> &marginals = bound.marginals[classOf_[place]];
    for (size_t v = 0; v < marginals.size(); ++v) {
      for (size_t label = 0; label < marginals[v].size(); ++label) {
        const Cost mine = more[nodeOf_[place][v]][label];
        if (bound.least < kNever && mine < kNever) {
          marginals[v][label] = std::min(marginals[v][label], bound.least + mine);
        }
      }
    }
  }
  return bound;
}

Price Relaxation::priceAt(const End &end, int mine, int other) const {
  const Link &link = *edges_[end.edge].link;
  const int first = link.firstClass[end.first ? mine : other], second = link.secondClass[end.first ? other : mine];
  return link.price[first * link.secondClasses + second];
}

Price Relaxation::priceOf(const Nodes &nodes) const {
  Price price;
  for (size_t node = 0; node < nodes.size(); ++node) {
    price = price + own_[node][nodes[node]];
  }
  for (size_t e = 0; e < edges_.size(); ++e) {
    price = price + priceAt({int(e), true}, nodes[edges_[e].first], nodes[edges_[e].second]);
  }
  return price;
}

std::vector<std::vector<int>> Relaxation::labelsOf(const Nodes &nodes) const {
  std::vector<std::vector<int>> labels;
  for (const std::vector<int> &place : nodeOf_) {
    std::vector<int> &mine = labels.emplace_back();
    for (int node : place) {
      mine.push_back(nodes[node]);
    }
  }
  return labels;
}

Relaxation::Nodes Relaxation::cross(const Nodes &first, const Nodes &then, int64_t limit, const Nodes &best) const {
  Nodes chosen = best;
  int64_t seconds = best.empty() ? kNever : priceOf(best).seconds;
  for (int place = 0; place <= int(classOf_.size()); ++place) {
    Nodes mixed;
    for (size_t node = 0; node < placeOf_.size(); ++node) {
      mixed.push_back(placeOf_[node] < place ? first[node] : then[node]);
    }
    if (const Price price = priceOf(mixed); price.bytes <= limit && price.seconds < seconds) {
      seconds = price.seconds;
      chosen = std::move(mixed);
    }
  }
  return chosen;
}

Price Relaxation::around(const Nodes &nodes, int node, int label) const {
  Price price = own_[node][label];
  for (const End &end : ends_[node]) {
    price = price + priceAt(end, label, nodes[otherOf(end)]);
  }
  return price;
}

void Relaxation::descend(Nodes &nodes, Weights weights) const {
  bool changed = true;
  for (int sweep = 0; sweep < kMostSweeps && changed; ++sweep) {
    changed = false;
    for (int node = 0; node < int(nodes.size()); ++node) {
      Cost least = weights.of(around(nodes, node, nodes[node]));
      for (int label = 0; label < int(own_[node].size()); ++label) {
        if (const Cost cost = weights.of(around(nodes, node, label)); cost < least) {
          least = cost;
          nodes[node] = label;
          changed = true;
        }
      }
    }
  }
}

void Relaxation::fill(Nodes &nodes, int64_t limit) const {
  const Price price = priceOf(nodes);
  if (!price.may()) {
    return;
  }
  int64_t bytes = price.bytes;
  bool changed = true;
  for (int sweep = 0; sweep < kMostSweeps && changed; ++sweep) {
    changed = false;
    for (int node = 0; node < int(nodes.size()); ++node) {
      Price now = around(nodes, node, nodes[node]);
      for (int label = 0; label < int(own_[node].size()); ++label) {
        const Price then = around(nodes, node, label);
        if (then.may() && bytes - now.bytes + then.bytes <= limit && then.seconds < now.seconds) {
          bytes += then.bytes - now.bytes;
          now = then;
          nodes[node] = label;
          changed = true;
        }
      }
    }
  }
}

} // namespace weft::search
