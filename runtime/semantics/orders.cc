#include "runtime/semantics/orders.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft::plan {
namespace {

// Acts of a stream, at most, for which room is made before they come.
constexpr int64_t kExpected = 1 << 16;

}  // namespace

Orders::Orders(const Program& program) : program_(program) {
  for (int s = 0; s < program.index; ++s) first_stream_ += program.plan->stages(s).streams_size();
  const auto& streams = program.stage->streams();
  const auto computes = [](const Stream& stream) { return stream.kind() == Stream::COMPUTE; };
  const auto it = std::find_if(streams.begin(), streams.end(), computes);
  compute_ = it == streams.end() ? 0 : static_cast<int32_t>(it - streams.begin());
  for (const Actor& actor : program.stage->actors()) releases_.push_back(Releases(actor));
  int64_t computed = 0, others = 0;
  for (const Stream& stream : streams) {
    for (const weft::plan::Run& run : stream.runs()) {
      (&stream == &streams[compute_] ? computed : others) += run.repeat() * run.actors_size();
    }
  }
  computed_.reserve(std::min(computed, kExpected));
  others_.reserve(std::min(others, kExpected));
  before_.reserve(std::min(others, kExpected) * streams.size());
  streams_.resize(streams.size());
  needed_.assign(streams.size(), 0);
}

void Orders::Add(const Act& act) {
  const StageAct recorded{act.actor, static_cast<int32_t>(act.micro_batch)};
  const int32_t stream = act.stream - first_stream_;
  const auto before = act.before.subspan(first_stream_, streams_.size());
  if (stream != compute_) {
    streams_[stream].push_back(static_cast<int32_t>(others_.size()));
    others_.push_back({recorded, releases_[act.actor], before[compute_], INT32_MAX});
    before_.insert(before_.end(), before.begin(), before.end());
    return;
  }
  for (size_t s = 0; s < streams_.size(); ++s) {
    if (static_cast<int32_t>(s) == compute_) continue;
    for (; needed_[s] < before[s]; ++needed_[s]) {
      others_[streams_[s][needed_[s]]].late = static_cast<int32_t>(computed_.size());
    }
  }
  computed_.push_back(recorded);
}

bool Orders::Releases(const Actor& actor) const {
  int64_t needed = 0, left = 0;
  for (const Collective& collective : actor.collectives()) {
    needed += program_.slot_bytes[collective.input()];
    left += program_.slot_bytes[collective.output()];
  }
  const bool stores = MovesTiers(actor) && actor.kernels(0).name() == kStore;
  return actor.end_case() == Actor::kSend || stores || needed > left;
}

absl::Span<const Orders::Rule> Orders::rules() const {
  static constexpr Rule kRules[] = {Rule::kEarly, Rule::kLate, Rule::kReleaseLate, Rule::kHoldReleases};
  const bool differ = std::any_of(others_.begin(), others_.end(), [](const Other& other) { return other.releases; });
  return absl::MakeSpan(kRules).first(differ ? 4 : 2);
}

// One order while it is made.
class Orders::Run {
 public:
  Run(const Orders& orders, Rule rule)
      : orders_(orders), rule_(rule), ended_(orders.streams_.size(), 0), done_(orders.others_.size(), false) {
    acts_.reserve(orders.computed_.size() + orders.others_.size());
  }

  std::vector<StageAct> Acts() {
    const std::vector<int32_t>&by_early = orders_.by_early_, &by_late = orders_.by_late_;
    size_t late = 0, early = 0;
    const int32_t end = static_cast<int32_t>(orders_.computed_.size());
    for (int32_t k = 0; k <= end; ++k) {
      for (; early < by_early.size() && orders_.others_[by_early[early]].early <= k; ++early) {
        if (Waits(orders_.others_[by_early[early]])) continue;
        held_.push_back(by_early[early]);
        changed_ = true;
      }
      DoHeld();
      for (; late < by_late.size() && (k == end || orders_.others_[by_late[late]].late <= k); ++late) {
        Do(by_late[late]);
      }
      if (rule_ == Rule::kHoldReleases) DoHeld();
      if (k < end) acts_.push_back(orders_.computed_[k]);
    }
    return std::move(acts_);
  }

 private:
  bool Waits(const Other& other) const { return rule_ == Rule::kLate || (rule_ != Rule::kEarly && other.releases); }

  // What is held depends on what the other streams have done.
  void DoHeld() {
    if (!std::exchange(changed_, false)) return;
    const auto do_now = [&](int32_t i) {
      if (rule_ == Rule::kHoldReleases && !Ready(i)) return false;
      Do(i);
      return true;
    };
    held_.erase(std::remove_if(held_.begin(), held_.end(), do_now), held_.end());
  }

  bool Ready(int32_t i) const {
    for (size_t s = 0; s < ended_.size(); ++s) {
      if (static_cast<int32_t>(s) != orders_.compute_ && orders_.Before(i)[s] > ended_[s]) return false;
    }
    return true;
  }

  // With all that comes before.
  void Do(int32_t i) {
    if (done_[i]) return;
    for (size_t s = 0; s < ended_.size(); ++s) {
      if (static_cast<int32_t>(s) == orders_.compute_) continue;
      while (ended_[s] < orders_.Before(i)[s]) Do(orders_.streams_[s][ended_[s]]);
    }
    if (done_[i]) return;
    done_[i] = changed_ = true;
    ++ended_[StreamOf(i)];
    acts_.push_back(orders_.others_[i].act);
  }

  int32_t StreamOf(int32_t i) const { return orders_.program_.actor(orders_.others_[i].act.actor).stream(); }

  const Orders& orders_;
  const Rule rule_;
  std::vector<int32_t> held_;
  bool changed_ = false;
  std::vector<int32_t> ended_;  // a stream each: acts that are done
  std::vector<bool> done_;      // an other each
  std::vector<StageAct> acts_;
};

std::vector<int32_t> Orders::By(int32_t Other::* key) const {
  std::vector<int32_t> places(others_.size());
  std::iota(places.begin(), places.end(), 0);
  std::sort(places.begin(), places.end(),
            [&](int32_t a, int32_t b) { return std::pair(others_[a].*key, a) < std::pair(others_[b].*key, b); });
  return places;
}

std::vector<StageAct> Orders::In(Rule rule) {
  if (by_early_.size() != others_.size()) {
    by_early_ = By(&Other::early);
    by_late_ = By(&Other::late);
  }
  return Run(*this, rule).Acts();
}

}  // namespace weft::plan
