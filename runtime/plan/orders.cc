#include "runtime/plan/orders.h"

#include <algorithm>

namespace weft::plan {

Orders::Orders(const Program& program) : program_(program) {
  for (int s = 0; s < program.index; ++s) first_stream_ += program.plan->stages(s).streams_size();
  const auto& streams = program.stage->streams();
  const auto computes = [](const Stream& stream) { return stream.kind() == Stream::COMPUTE; };
  const auto it = std::find_if(streams.begin(), streams.end(), computes);
  compute_ = it == streams.end() ? 0 : static_cast<int32_t>(it - streams.begin());
  streams_.resize(streams.size());
  needed_.assign(streams.size(), 0);
}

void Orders::Add(const Act& act) {
  const Step step{act.actor, act.micro_batch};
  const int32_t stream = act.stream - first_stream_;
  const auto before = act.before.subspan(first_stream_, streams_.size());
  if (stream != compute_) {
    Other other{step, Releases(program_.actor(act.actor)), before[compute_], INT32_MAX, {}};
    other.before.assign(before.begin(), before.end());
    streams_[stream].push_back(static_cast<int32_t>(others_.size()));
    others_.push_back(std::move(other));
    return;
  }
  for (size_t s = 0; s < streams_.size(); ++s) {
    if (static_cast<int32_t>(s) == compute_) continue;
    for (; needed_[s] < before[s]; ++needed_[s]) {
      others_[streams_[s][needed_[s]]].late = static_cast<int32_t>(computed_.size());
    }
  }
  computed_.push_back(step);
}

bool Orders::Releases(const Actor& actor) const {
  int64_t needed = 0, left = 0;
  for (const Collective& it : actor.collectives()) {
    needed += program_.slot_bytes[it.input()];
    left += program_.slot_bytes[it.output()];
  }
  return actor.end_case() == Actor::kSend || needed > left;
}

absl::Span<const Orders::Rule> Orders::rules() const {
  static constexpr Rule kRules[] = {Rule::kEarly, Rule::kLate, Rule::kReleaseLate, Rule::kHoldReleases};
  const bool differ = std::any_of(others_.begin(), others_.end(), [](const Other& it) { return it.releases; });
  return absl::MakeSpan(kRules).first(differ ? 4 : 2);
}

// One order while it is made.
class Orders::Run {
 public:
  Run(const Orders& orders, Rule rule) : orders_(orders), rule_(rule), ended_(orders.streams_.size(), 0) {
    for (size_t i = 0; i < orders.others_.size(); ++i) {
      const Other& other = orders.others_[i];
      if (!Waits(other)) by_early_.push_back(static_cast<int32_t>(i));
      by_late_.push_back(static_cast<int32_t>(i));
    }
    const auto by = [&](int32_t Other::* key) {
      return [&orders, key](int32_t a, int32_t b) {
        return std::pair(orders.others_[a].*key, a) < std::pair(orders.others_[b].*key, b);
      };
    };
    std::sort(by_early_.begin(), by_early_.end(), by(&Other::early));
    std::sort(by_late_.begin(), by_late_.end(), by(&Other::late));
    done_.assign(orders.others_.size(), false);
  }

  std::vector<Step> Steps() {
    size_t late = 0, early = 0;
    const int32_t end = static_cast<int32_t>(orders_.computed_.size());
    for (int32_t k = 0; k <= end; ++k) {
      for (; early < by_early_.size() && orders_.others_[by_early_[early]].early <= k; ++early) {
        held_.push_back(by_early_[early]);
      }
      DoHeld();
      for (; late < by_late_.size() && (k == end || orders_.others_[by_late_[late]].late <= k); ++late) {
        Do(by_late_[late]);
      }
      if (rule_ == Rule::kHoldReleases) DoHeld();
      if (k < end) steps_.push_back(orders_.computed_[k]);
    }
    return std::move(steps_);
  }

 private:
  bool Waits(const Other& other) const { return rule_ == Rule::kLate || (rule_ != Rule::kEarly && other.releases); }

  void DoHeld() {
    const auto do_now = [&](int32_t i) {
      if (rule_ == Rule::kHoldReleases && !Ready(i)) return false;
      Do(i);
      return true;
    };
    held_.erase(std::remove_if(held_.begin(), held_.end(), do_now), held_.end());
  }

  bool Ready(int32_t i) const {
    for (size_t s = 0; s < ended_.size(); ++s) {
      if (static_cast<int32_t>(s) != orders_.compute_ && orders_.others_[i].before[s] > ended_[s]) return false;
    }
    return true;
  }

  // With all that comes before.
  void Do(int32_t i) {
    if (done_[i]) return;
    for (size_t s = 0; s < ended_.size(); ++s) {
      if (static_cast<int32_t>(s) == orders_.compute_) continue;
      while (ended_[s] < orders_.others_[i].before[s]) Do(orders_.streams_[s][ended_[s]]);
    }
    if (done_[i]) return;
    done_[i] = true;
    ++ended_[StreamOf(i)];
    steps_.push_back(orders_.others_[i].step);
  }

  int32_t StreamOf(int32_t i) const { return orders_.program_.actor(orders_.others_[i].step.actor).stream(); }

  const Orders& orders_;
  const Rule rule_;
  std::vector<int32_t> by_early_, by_late_;
  std::vector<int32_t> held_;
  std::vector<int32_t> ended_;  // a stream each: acts that are done
  std::vector<bool> done_;      // an other each
  std::vector<Step> steps_;
};

std::vector<Orders::Step> Orders::In(Rule rule) const { return Run(*this, rule).Steps(); }

}  // namespace weft::plan
