#include "compiler/search/dominance.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/search/sides.h"

namespace weft::search {
namespace {

// Labels are compared in pairs only where that looks at no more entries of links than this. Example: an op with 49
// signatures of 9 states each, beside one of 25 states, needs 2,025.
constexpr int64_t kMostCompared = 1 << 20;

// The classes of these labels, each once.
std::vector<int> classesOf(const std::vector<int> &labels, const std::vector<int> &of) {
  std::vector<int> classes;
  for (int label : labels) {
    classes.push_back(of[label]);
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

// What one choice takes more than another at least, in each resource for itself.
struct More {
  enum { kPossible, kNeverPossible, kElsewhere } is = kPossible; // kElsewhere: it may be where the other may not
  int64_t seconds = 0, bytes = 0;
};

class Dominance {
public:
  Dominance(const Labelling &problem, std::vector<std::vector<int>> left, const std::vector<int> &kept)
      : problem_(problem), sides_(sidesOf(problem)), kept_(kept.begin(), kept.end()), left_(std::move(left)) {}

  std::vector<std::vector<int>> run() {
    std::set<int> queue;
    for (int v = 0; v < int(left_.size()); ++v) {
      queue.insert(v);
    }
    while (!queue.empty()) {
      const int v = *queue.begin();
      queue.erase(queue.begin());
      if (kept_.count(v) == 0 && thin(v)) {
        for (const Side &side : sides_[v]) {
          queue.insert(side.other());
        }
      }
    }
    return left_;
  }

private:
  // Class a of `side` beside class b, over what the neighbour has left.
  static More moreOf(const Side &side, int a, int b, const std::vector<int> &others) {
    More more{More::kNeverPossible, kNever, kNever};
    for (int other : others) {
      const Price with = side.price(a, other), without = side.price(b, other);
      if (!with.may()) {
        continue;
      }
      if (!without.may()) {
        return {More::kElsewhere};
      }
      more.is = More::kPossible;
      more.seconds = std::min(more.seconds, with.seconds - without.seconds);
      more.bytes = std::min(more.bytes, with.bytes - without.bytes);
    }
    return more;
  }

  bool thin(int v) {
    if (left_[v].size() < 2) {
      return false;
    }
    std::vector<std::vector<int>> others;
    std::vector<std::map<std::pair<int, int>, More>> known(sides_[v].size());
    int64_t compared = 0;
    for (const Side &side : sides_[v]) {
      others.push_back(classesOf(left_[side.other()], side.otherClassOf()));
      const int64_t mine = int64_t(classesOf(left_[v], side.classOf()).size());
      compared += mine * mine * int64_t(others.back().size());
    }
    if (compared > kMostCompared) {
      return false;
    }
    const auto isNeedless = [&](int a, int b) {
      const Price ownA = problem_.own[v][a], ownB = problem_.own[v][b];
      if (!ownA.may()) {
        return true;
      }
      bool elsewhere = !ownB.may();
      int64_t seconds = elsewhere ? 0 : ownA.seconds - ownB.seconds, bytes = elsewhere ? 0 : ownA.bytes - ownB.bytes;
      for (size_t s = 0; s < sides_[v].size(); ++s) {
        const Side &side = sides_[v][s];
        const std::pair classes(side.classOf()[a], side.classOf()[b]);
        auto [it, added] = known[s].try_emplace(classes);
        if (added) {
          it->second = moreOf(side, classes.first, classes.second, others[s]);
        }
        if (it->second.is == More::kNeverPossible) {
          return true;
        }
        elsewhere = elsewhere || it->second.is == More::kElsewhere;
        seconds += it->second.seconds;
        bytes += it->second.bytes;
      }
      return !elsewhere && seconds >= 0 && bytes >= 0 && (seconds > 0 || bytes > 0 || b < a);
    };
    const size_t before = left_[v].size();
    std::vector<bool> gone(problem_.own[v].size(), false);
    for (int a : left_[v]) {
      gone[a] =
          std::any_of(left_[v].begin(), left_[v].end(), [&](int b) { return b != a && !gone[b] && isNeedless(a, b); });
    }
    left_[v].erase(std::remove_if(left_[v].begin(), left_[v].end(), [&](int a) { return gone[a]; }), left_[v].end());
    return left_[v].size() < before;
  }

  const Labelling &problem_;
  std::vector<std::vector<Side>> sides_;
  std::set<int> kept_;
  std::vector<std::vector<int>> left_;
};

} // namespace

std::vector<std::vector<int>> undominatedLabels(const Labelling &problem, std::vector<std::vector<int>> left,
                                                const std::vector<int> &kept) {
  return Dominance(problem, std::move(left), kept).run();
}

} // namespace weft::search
