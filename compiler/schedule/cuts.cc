#include "compiler/schedule/cuts.h"

#include <algorithm>
#include <cstdint>

namespace weft::schedule {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// By how much another cut must be better, as a part: less is rounding.
constexpr double kBetter = 1e-9;
// How many ends of chunks are looked at for each cut that may be measured: most lead nowhere.
constexpr int64_t kSteps = 1000;

/// Sums over the first pieces.
struct Sums {
  std::vector<double> forward = {0}, backward = {0}, weight = {0}, once = {0}, state = {0}, kept = {0}, forWeight = {0};

  explicit Sums(const std::vector<Load> &pieces) {
    for (const Load &piece : pieces) {
      forward.push_back(forward.back() + piece.seconds.forward);
      backward.push_back(backward.back() + piece.seconds.backward);
      weight.push_back(weight.back() + piece.seconds.weight);
      once.push_back(once.back() + piece.once_s);
      state.push_back(state.back() + piece.stateBytes);
      kept.push_back(kept.back() + piece.keptBytes);
      forWeight.push_back(forWeight.back() + piece.weightBytes);
    }
  }

  Load of(size_t begin, size_t end) const {
    return {{forward[end] - forward[begin], backward[end] - backward[begin], weight[end] - weight[begin]},
            once[end] - once[begin],
            state[end] - state[begin],
            kept[end] - kept[begin],
            forWeight[end] - forWeight[begin]};
  }
};

/// Of a chunk.
double bytesOfChunk(const Load &own, const Stash &stash) {
  return own.stateBytes + own.keptBytes * stash.held + own.weightBytes * stash.toWeight;
}

/// What is less first: bytes above the limit, then seconds.
std::pair<double, double> worthOf(const Cut &cut, double limit) {
  return {cut.bytes > limit ? cut.bytes : 0, cut.seconds()};
}

/// What can be said of a stage's part of a step before the other stages are cut.
///
/// Of stage s, whose chunk begins behind the pieces P, in a step of m micro-batches. F(P) is the forward of these
/// pieces, B(P) their backward, f, b and w what the stage's own chunk takes.
///   - It begins when the first micro-batch has come through P, and its last backward goes back through P:
///       F(P) + m (f + b + w) + B(P),  without B(P) where backwards are split, since w may come last.
///   - Its first backward comes when the first micro-batch has been through the whole model and back to s. Behind that
///     it has m backwards to do, and those of the m forwards that its order has not put before:
///       F(all) + B(behind s) + m (b + w) + (m - before) f + B(P)
///   - And the mirror of that, from its last forward.
/// Each is the length of a path of the schedule, with the transfers on it. The longest path is the step; so the largest
/// of these bounds, over all stages, is never more than that.
class Bounds {
public:
  Bounds(const CutProblem &problem, const Sums &sums)
      : shape_(problem.schedule.shape), split_(isSplit(problem.schedule.order)), sums_(sums) {
    transfers_.push_back(0);
    for (int chunk = 1; chunk < shape_.allChunks(); ++chunk) {
      const int from = shape_.stageOf(chunk - 1), to = shape_.stageOf(chunk);
      transfers_.push_back(transfers_.back() + (from == to ? 0 : problem.transfer(from, to)));
    }
    for (const std::vector<Unit> &units : problem.schedule.order)
      count(units);
  }

  /// Of a chunk of the model with the pieces from `begin` to `end`; of a stage with other chunks too, a part of it.
  double operator()(int chunk, size_t begin, size_t end) const {
    const Load own = sums_.of(begin, end);
    const double m = shape_.microBatches, f = own.seconds.forward, b = own.seconds.backward, w = own.seconds.weight;
    const double back = split_ ? 0 : sums_.backward[begin] + transfers_[chunk];
    double most = sums_.forward[begin] + transfers_[chunk] + m * (f + b + w) + back;
    if (shape_.chunks == 1) {
      const size_t all = sums_.forward.size() - 1;
      const double down = sums_.forward[all] + transfers_.back();
      const double up = sums_.backward[all] - sums_.backward[end] + transfers_.back() - transfers_[chunk];
      const double forwards = before_[chunk], backwards = behind_[chunk];
      most = std::max(most, down + up + m * (b + w) + (m - forwards) * f + back);
      if (!split_) {
        const double first = sums_.forward[begin] + transfers_[chunk] + m * f + (m - backwards) * b;
        const double rest = sums_.forward[all] - sums_.forward[end] + transfers_.back() - transfers_[chunk];
        most = std::max(most, first + rest + up + b + back);
      }
    }
    return most + own.once_s;
  }

private:
  // How many forwards come before the first backward, and how many backwards behind the last forward.
  void count(const std::vector<Unit> &units) {
    const auto isForward = [](const Unit &unit) { return unit.kind == UnitKind::Forward; };
    const auto first = std::find_if_not(units.begin(), units.end(), isForward);
    before_.push_back(double(first - units.begin()));
    double behind = 0;
    for (const Unit &unit : units)
      behind = isForward(unit) ? 0 : behind + (unit.kind == UnitKind::Backward);
    behind_.push_back(behind);
  }

  const Shape shape_;
  const bool split_;
  const Sums &sums_;
  std::vector<double> transfers_;       // from chunk to chunk, up to a chunk
  std::vector<double> before_, behind_; // of stages
};

class Cutter {
public:
  explicit Cutter(const CutProblem &problem)
      : problem_(problem), shape_(problem.schedule.shape), sums_(problem.pieces), bound_(problem, sums_),
        n_(problem.pieces.size()), chunks_(size_t(shape_.allChunks())) {}

  Cut quick() {
    const Begins begins = leastBound();
    return measured(problem_, begins.empty() ? leastBytes() : begins);
  }

  Cut best(int most) {
    left_ = most;
    best_ = quick();
    while (improve()) {
    }
    const bool fits = best_.bytes <= problem_.limitBytes;
    setSuffixes();
    if (fits && left_ > 0) {
      loads_.assign(size_t(shape_.stages), 0);
      begins_ = {0};
      steps_ = kSteps * most;
      enumerate(0, 0, 0);
    }
    best_.isExact = fits && left_ > 0 && steps_ > 0;
    best_.bound_s = best_.isExact ? best_.seconds() : std::max(suffix_[0][0], busiest());
    return best_;
  }

private:
  double bytesOf(int chunk, size_t begin, size_t end) const {
    return bytesOfChunk(sums_.of(begin, end), problem_.stashes[shape_.stageOf(chunk)][shape_.localOf(chunk)]);
  }

  double boundOf(size_t chunk, size_t begin, size_t end) const {
    return bytesOf(int(chunk), begin, end) > problem_.limitBytes ? kNever : bound_(int(chunk), begin, end);
  }

  double secondsOf(size_t begin, size_t end) const {
    const Durations own = sums_.of(begin, end).seconds;
    return own.forward + own.backward + own.weight;
  }

  /// The cut whose largest bound of a chunk is least; empty if none fits.
  Begins leastBound() const {
    const bool single = shape_.chunks == 1;
    return leastOf([&](size_t chunk, size_t begin, size_t end) {
      return single ? boundOf(chunk, begin, end) : secondsOf(begin, end);
    });
  }

  /// The cut whose largest chunk needs the fewest bytes.
  Begins leastBytes() const {
    return leastOf([&](size_t chunk, size_t begin, size_t end) { return bytesOf(int(chunk), begin, end); });
  }

  /// The cut whose largest cost of a chunk is least; empty if every cut has one that is infinite.
  template <typename CostOf> Begins leastOf(CostOf cost) const {
    std::vector<std::vector<double>> least = table(kNever);
    least[0][0] = 0;
    forEachPart([&](size_t chunk, size_t begin, size_t end) {
      if (least[chunk][begin] < least[chunk + 1][end])
        least[chunk + 1][end] = std::min(least[chunk + 1][end], std::max(least[chunk][begin], cost(chunk, begin, end)));
    });
    const double most = least[chunks_][n_] * (1 + kBetter);
    if (least[chunks_][n_] == kNever)
      return {};
    std::vector<std::vector<double>> even = table(kNever);
    std::vector<std::vector<size_t>> from(chunks_ + 1, std::vector<size_t>(n_ + 1, 0));
    even[0][0] = 0;
    forEachPart([&](size_t chunk, size_t begin, size_t end) {
      if (even[chunk][begin] == kNever || cost(chunk, begin, end) > most)
        return;
      const double seconds = secondsOf(begin, end), sum = even[chunk][begin] + seconds * seconds;
      if (sum < even[chunk + 1][end]) {
        even[chunk + 1][end] = sum;
        from[chunk + 1][end] = begin;
      }
    });
    Begins begins(chunks_);
    for (size_t chunk = chunks_, end = n_; chunk > 0; --chunk)
      end = begins[chunk - 1] = from[chunk][end];
    return begins;
  }

  std::vector<std::vector<double>> table(double value) const {
    return {chunks_ + 1, std::vector<double>(n_ + 1, value)};
  }

  /// Every chunk with all pieces that it may have.
  template <typename Visit> void forEachPart(Visit visit) const {
    for (size_t chunk = 0; chunk < chunks_; ++chunk) {
      for (size_t begin = chunk; begin < n_; ++begin) {
        const bool last = chunk + 1 == chunks_;
        for (size_t end = last ? n_ : begin + 1; end + (chunks_ - chunk - 1) <= n_; ++end)
          visit(chunk, begin, end);
      }
    }
  }

  bool take(const Begins &begins) {
    --left_;
    const Cut cut = measured(problem_, begins);
    const auto [bytes, seconds] = worthOf(cut, problem_.limitBytes);
    const auto [bestBytes, bestSeconds] = worthOf(best_, problem_.limitBytes);
    if (bytes > bestBytes || (bytes == bestBytes && seconds >= bestSeconds * (1 - kBetter)))
      return false;
    best_ = cut;
    return true;
  }

  /// Whether a piece less in one chunk, and one more in another, is better.
  bool improve() {
    for (size_t more = 0; more < chunks_; ++more) {
      for (size_t less = 0; less < chunks_; ++less) {
        Begins begins = best_.begins;
        // The borders between the two go by one piece.
        for (size_t border = std::min(more, less) + 1; border <= std::max(more, less); ++border)
          begins[border] += more < less ? 1 : size_t(-1);
        if (more == less || hasEmpty(begins))
          continue;
        if (left_ <= 0)
          return false;
        if (take(begins))
          return true;
      }
    }
    return false;
  }

  bool hasEmpty(const Begins &begins) const {
    for (size_t chunk = 0; chunk < chunks_; ++chunk) {
      if (begins[chunk] >= (chunk + 1 < chunks_ ? begins[chunk + 1] : n_))
        return true;
    }
    return false;
  }

  /// Of the chunks from one on, with the pieces from one on: the least that their largest bound can be.
  void setSuffixes() {
    suffix_ = table(kNever);
    suffix_[chunks_][n_] = 0;
    for (size_t chunk = chunks_; chunk-- > 0;) {
      for (size_t begin = chunk; begin < n_; ++begin) {
        for (size_t end = begin + 1; end <= n_; ++end) {
          const double rest = suffix_[chunk + 1][end];
          if (rest < suffix_[chunk][begin])
            suffix_[chunk][begin] = std::min(suffix_[chunk][begin], std::max(rest, boundOf(chunk, begin, end)));
        }
      }
    }
  }

  /// Some stage runs at least a part of everything.
  double busiest() const { return shape_.microBatches * secondsOf(0, n_) / shape_.stages; }

  double least() const { return best_.seconds() * (1 - kBetter); }

  /// All cuts of the chunks from `chunk` on that may be better, behind those in begins_. A stage with several chunks
  /// takes at least all of them together.
  void enumerate(size_t chunk, size_t begin, double most) {
    if (chunk == chunks_) {
      if (begin == n_ && begins_ != best_.begins)
        take(begins_);
      return;
    }
    double &load = loads_[size_t(shape_.stageOf(int(chunk)))];
    const double before = load;
    for (size_t end = begin + 1; end <= n_ && left_ > 0 && --steps_ > 0; ++end) {
      load = before + shape_.microBatches * secondsOf(begin, end);
      const double now = std::max({most, load, boundOf(chunk, begin, end)});
      if (now >= least())
        break; // more pieces are no faster
      if (suffix_[chunk + 1][end] >= least())
        continue;
      if (chunk + 1 < chunks_)
        begins_.push_back(end);
      enumerate(chunk + 1, end, now);
      if (chunk + 1 < chunks_)
        begins_.pop_back();
    }
    load = before;
  }

  const CutProblem &problem_;
  const Shape shape_;
  const Sums sums_;
  const Bounds bound_;
  const size_t n_, chunks_;
  Cut best_;
  int left_ = 0;                            // cuts that may be measured
  int64_t steps_ = 1;                       // of the way there
  std::vector<std::vector<double>> suffix_; // see setSuffixes
  std::vector<double> loads_;               // of stages, of the chunks in begins_
  Begins begins_;
};

} // namespace

Cut measured(const CutProblem &problem, const Begins &begins) {
  const Shape &shape = problem.schedule.shape;
  const Sums sums(problem.pieces);
  std::vector<Durations> durations;
  std::vector<double> once(size_t(shape.stages), 0), bytes = once, lowState = once, lowKept = once;
  for (int chunk = 0; chunk < shape.allChunks(); ++chunk) {
    const size_t end = chunk + 1 < shape.allChunks() ? begins[size_t(chunk) + 1] : problem.pieces.size();
    const Load own = sums.of(begins[size_t(chunk)], end);
    const size_t stage = size_t(shape.stageOf(chunk));
    durations.push_back(own.seconds);
    once[stage] += own.once_s;
    const Stash &stash = problem.stashes[stage][size_t(shape.localOf(chunk))];
    bytes[stage] += bytesOfChunk(own, stash);
    for (size_t i = begins[size_t(chunk)]; i < end; ++i) {
      lowState[stage] += problem.pieces[i].lowStateBytes;
      lowKept[stage] += problem.pieces[i].lowKeptBytes * stash.held;
    }
  }
  Cut cut{begins};
  cut.makespan_s = unitTimes(problem.schedule, durations, problem.transfer).makespan;
  cut.once_s = *std::max_element(once.begin(), once.end());
  cut.bytes = *std::max_element(bytes.begin(), bytes.end());
  cut.lowStateBytes = *std::max_element(lowState.begin(), lowState.end());
  cut.lowKeptBytes = *std::max_element(lowKept.begin(), lowKept.end());
  return cut;
}

Cut quickCut(const CutProblem &problem) { return Cutter(problem).quick(); }

Cut bestCut(const CutProblem &problem, int most) { return Cutter(problem).best(most); }

} // namespace weft::schedule
