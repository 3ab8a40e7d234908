#include "runtime/measure/lives.h"

#include <algorithm>

#include "runtime/semantics/footprint.h"

namespace weft::plan {

Lives::Lives(const Program& program)
    : program_(program), in_profile_(program.root.size(), kNowhere), place_(program.root.size(), -1) {
  const std::vector<bool> scratch = ScratchOf(program);
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) profiles_.push_back(ProfileOf(a, scratch));
}

void Lives::Perform(const std::vector<StageAct>& acts) {
  lives_.clear();
  acts_.clear();
  parts_ = 0;
  for (const StageAct& act : acts) {
    acts_.push_back({act.actor, act.micro_batch, parts_});
    parts_ += PartsOf(act);
  }
  Follow(acts, [&](const Life& life) { lives_.push_back(life); });
}

template <typename End>
void Lives::Follow(const std::vector<StageAct>& acts, const End& end) {
  std::fill(open_.begin(), open_.end(), Life());
  int64_t parts = 0;
  for (const StageAct& act : acts) {
    Follow(act, parts, end);
    parts += PartsOf(act);
  }
  for (Life& life : open_) {
    if (life.first < 0) continue;
    if (program_.metric[life.root]) life.last = parts - 1;  // a metric is looked at after the step
    end(life);
  }
}

template <typename End>
void Lives::Follow(const StageAct& act, int64_t part, const End& end) {
  for (const Use& use : profiles_[act.actor].uses) {
    Life& life = open_[use.place + (use.slots > 1 ? act.micro_batch % use.slots : 0)];
    if (life.first < 0 || (act.micro_batch == 0 ? use.begins_at_first : use.begins)) {
      if (life.first >= 0) end(life);
      life.root = program_.root[use.buffer];
      life.first = part + use.first_part;
    }
    life.last = part + use.last_part;
  }
}

int64_t Lives::LowerBound(const std::vector<StageAct>& acts) {
  int64_t live = 0, parts = 0;
  for (size_t b = 0; b < program_.root.size(); ++b) {
    if (program_.StaysOnDevice(static_cast<int32_t>(b))) live += program_.slot_bytes[b];
  }
  for (const StageAct& act : acts) parts += PartsOf(act);
  // What begins with each part, less what ended with the one before.
  change_.assign(parts + 1, 0);
  Follow(acts, [&](const Life& life) {
    change_[life.first] += program_.slot_bytes[life.root];
    change_[life.last + 1] -= program_.slot_bytes[life.root];
  });
  int64_t most = live;
  const int64_t* next = change_.data();
  for (const StageAct& act : acts) {
    for (int64_t scratch : profiles_[act.actor].most_scratch) most = std::max(most, (live += *next++) + scratch);
  }
  return most;
}

Lives::Profile Lives::ProfileOf(int32_t a, const std::vector<bool>& scratch) {
  Profile profile;
  const std::vector<Work>& works = program_.work[a];
  for (size_t w = 0; w < works.size(); ++w) {
    const auto use = [&](int32_t b, bool write, bool at_first) {
      const int32_t root = program_.root[b];
      if (program_.persistent[b] || !program_.on_device[b]) return;
      std::vector<Use>& uses = scratch[root] ? profile.scratch : profile.uses;
      const bool whole = write && program_.slot_bytes[b] == program_.slot_bytes[root];
      const size_t at = in_profile_[root];
      // Writing all of it without having read it begins a new life.
      if (at != kNowhere && (!whole || uses[at].last == static_cast<int32_t>(w))) {
        uses[at].last = static_cast<int32_t>(w);
        return;
      }
      in_profile_[root] = uses.size();
      Use& fresh = uses.emplace_back(Use{b, static_cast<int32_t>(w), static_cast<int32_t>(w)});
      fresh.begins = whole;
      fresh.begins_at_first = whole || at_first;
      if (scratch[root]) return;
      fresh.place = PlaceOf(root) + (program_.micro(a) ? 0 : static_cast<int32_t>(program_.SlotOf(a, b, 0)));
      fresh.slots = program_.micro(a) ? program_.slots[b] : 1;
    };
    for (int32_t b : works[w].reads) use(b, false, b == works[w].accumulator);
    for (int32_t b : works[w].writes) use(b, true, false);
  }
  for (const std::vector<Use>* uses : {&profile.scratch, &profile.uses}) {
    for (const Use& use : *uses) in_profile_[program_.root[use.buffer]] = kNowhere;
  }
  Divide(profile, works.size());
  return profile;
}

// As many slots as micro-batches can use.
int32_t Lives::PlaceOf(int32_t root) {
  if (place_[root] < 0) {
    place_[root] = static_cast<int32_t>(open_.size());
    open_.resize(open_.size() + std::min<int64_t>(program_.slots[root], program_.micro_batches));
  }
  return place_[root];
}

void Lives::Divide(Profile& profile, size_t works) const {
  std::vector<int32_t>& parts = profile.parts;
  parts = {0, static_cast<int32_t>(works)};
  for (const Use& use : profile.uses) parts.insert(parts.end(), {use.first, use.last + 1});
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  const auto part_of = [&](int32_t work) {
    return static_cast<int32_t>(std::upper_bound(parts.begin(), parts.end(), work) - parts.begin()) - 1;
  };
  for (Use& use : profile.uses) {
    use.first_part = part_of(use.first);
    use.last_part = part_of(use.last);
  }
  std::vector<int64_t> change(works + 1, 0);
  for (const Use& use : profile.scratch) {
    change[use.first] += program_.slot_bytes[program_.root[use.buffer]];
    change[use.last + 1] -= program_.slot_bytes[program_.root[use.buffer]];
  }
  int64_t scratch = 0;
  for (size_t part = 0; part + 1 < parts.size(); ++part) {
    int64_t& most = profile.most_scratch.emplace_back(0);
    for (int32_t w = parts[part]; w < parts[part + 1]; ++w) most = std::max(most, scratch += change[w]);
  }
}

}  // namespace weft::plan
