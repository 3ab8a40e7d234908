#include "runtime/plan/memory.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/execution.h"
#include "runtime/plan/footprint.h"
#include "runtime/plan/names.h"

namespace weft::plan {
namespace {

// How an actor uses the bytes of one root, for one life of their contents.
struct Use {
  int32_t buffer = 0;  // the first of the root's views that is used
  int32_t first = 0, last = 0;
  bool begins = false;           // starts by writing all of it: new contents
  bool begins_at_first = false;  // likewise in micro-batch 0
};

// What is the same in every act of an actor.
struct Profile {
  std::vector<Use> uses;           // of roots that outlive the act, a root's in order
  std::vector<BytesByKind> inner;  // a work each: bytes of the roots that do not
  int64_t most_inner = 0;
};

// The life of what a slot of a root holds.
struct Life {
  int32_t first_act = -1, first_work = 0, last_act = 0, last_work = 0;
};

// Bytes come to life before a work, or are dead after it.
struct Change {
  int32_t act = 0, work = 0;
  int32_t root = 0;
  bool birth = false;
};

int64_t Sum(const BytesByKind& bytes) { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

class Measure {
 public:
  explicit Measure(const Program& program) : program_(program), scratch_(ScratchOf(program)) {
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) profiles_.push_back(ProfileOf(a));
    lives_.resize(program.root.size());
  }

  void Perform(const Act& act) {
    const int32_t index = static_cast<int32_t>(acts_.size());
    acts_.push_back({act.actor, act.micro_batch});
    for (const Use& use : profiles_[act.actor].uses) {
      const int32_t root = program_.root[use.buffer];
      const size_t slot = program_.SlotOf(act.actor, use.buffer, act.micro_batch);
      std::vector<Life>& lives = lives_[root];
      if (lives.size() <= slot) lives.resize(slot + 1);
      Life& life = lives[slot];
      if (life.first_act < 0 || (act.micro_batch == 0 ? use.begins_at_first : use.begins)) {
        Close(root, life);
        life.first_act = index;
        life.first_work = use.first;
      }
      life.last_act = index;
      life.last_work = use.last;
    }
  }

  StageMemory Finish() {
    StageMemory memory;
    memory.arena_bytes = program_.stage->arena_bytes();
    BytesByKind live = {};
    for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
      if (program_.root[b] != b) continue;
      const int kind = program_.buffer(b).kind();
      memory.total[kind] += program_.slot_bytes[b] * program_.buffer(b).slots();
      ++memory.buffers[kind];
      if (program_.persistent[b]) live[kind] += program_.slot_bytes[b];
      for (Life& life : lives_[b]) {
        if (program_.metric[b]) life.last_act = static_cast<int32_t>(acts_.size());
        Close(b, life);
      }
    }
    memory.at_peak = live;
    memory.lower_bound_bytes = Sum(live);
    Sweep(live, memory);
    return memory;
  }

 private:
  struct Performed {
    int32_t actor = 0;
    int64_t micro_batch = 0;
  };

  Profile ProfileOf(int32_t a) {
    Profile profile;
    const std::vector<Work>& works = program_.work[a];
    std::vector<Use> inner;
    for (size_t w = 0; w < works.size(); ++w) {
      const auto use = [&](int32_t b, bool write, bool at_first) {
        const int32_t root = program_.root[b];
        if (program_.persistent[b]) return;
        std::vector<Use>& uses = scratch_[root] ? inner : profile.uses;
        const bool whole = write && program_.slot_bytes[b] == program_.slot_bytes[root];
        const auto at = place_.find(root);
        // Writing all of it without having read it begins a new life.
        if (at != place_.end() && (!whole || uses[at->second].last == static_cast<int32_t>(w))) {
          uses[at->second].last = w;
          return;
        }
        place_[root] = uses.size();
        uses.push_back({b, static_cast<int32_t>(w), static_cast<int32_t>(w), whole, whole || at_first});
      };
      for (int32_t b : works[w].reads) use(b, false, b == works[w].accumulator);
      for (int32_t b : works[w].writes) use(b, true, false);
    }
    place_.clear();
    profile.inner = InnerOf(inner, works.size());
    for (const BytesByKind& bytes : profile.inner) profile.most_inner = std::max(profile.most_inner, Sum(bytes));
    return profile;
  }

  std::vector<BytesByKind> InnerOf(const std::vector<Use>& uses, size_t works) const {
    std::vector<BytesByKind> inner(works + 1, BytesByKind{});
    for (const Use& use : uses) {
      const int32_t root = program_.root[use.buffer];
      inner[use.first][program_.buffer(root).kind()] += program_.slot_bytes[root];
      inner[use.last + 1][program_.buffer(root).kind()] -= program_.slot_bytes[root];
    }
    for (size_t w = 1; w <= works; ++w) {
      for (size_t k = 0; k < inner[w].size(); ++k) inner[w][k] += inner[w - 1][k];
    }
    inner.pop_back();
    return inner;
  }

  void Close(int32_t root, Life& life) {
    if (life.first_act < 0) return;
    changes_.push_back({life.first_act, life.first_work, root, true});
    changes_.push_back({life.last_act, life.last_work, root, false});
    life.first_act = -1;
  }

  // Walks the acts in order; `live` is what is live before the first one.
  void Sweep(BytesByKind live, StageMemory& memory) {
    std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
      return std::tuple(a.act, a.work, !a.birth) < std::tuple(b.act, b.work, !b.birth);
    });
    const auto apply = [&](const Change& change) {
      const int64_t bytes = program_.slot_bytes[change.root];
      live[program_.buffer(change.root).kind()] += change.birth ? bytes : -bytes;
    };
    auto change = changes_.begin();
    for (int32_t act = 0; act < static_cast<int32_t>(acts_.size()); ++act) {
      const Profile& profile = profiles_[acts_[act].actor];
      int64_t most = Sum(live) + profile.most_inner;
      for (auto it = change; it != changes_.end() && it->act == act; ++it) {
        if (it->birth) most += program_.slot_bytes[it->root];
      }
      if (most <= memory.lower_bound_bytes) {
        for (; change != changes_.end() && change->act == act; ++change) apply(*change);
        continue;
      }
      for (int32_t w = 0; w < static_cast<int32_t>(profile.inner.size()); ++w) {
        const auto here = [&] { return change != changes_.end() && change->act == act && change->work == w; };
        for (; here() && change->birth; ++change) apply(*change);
        BytesByKind now = live;
        for (size_t k = 0; k < now.size(); ++k) now[k] += profile.inner[w][k];
        if (Sum(now) > memory.lower_bound_bytes) {
          memory.lower_bound_bytes = Sum(now);
          memory.at_peak = now;
          memory.peak_actor = acts_[act].actor;
          memory.peak_micro_batch = acts_[act].micro_batch;
          memory.peak_work = w;
        }
        for (; here(); ++change) apply(*change);
      }
    }
  }

  const Program& program_;
  const std::vector<bool> scratch_;
  std::vector<Profile> profiles_;
  absl::flat_hash_map<int32_t, size_t> place_;  // while a profile is made: a root's place in its list
  std::vector<std::vector<Life>> lives_;        // root, slot
  std::vector<Performed> acts_;
  std::vector<Change> changes_;
};

}  // namespace

absl::StatusOr<std::vector<StageMemory>> MeasureMemory(const Plan& plan) {
  const std::vector<Program> programs = ProgramsOf(plan);
  std::vector<StageMemory> most(programs.size());
  for (Turn turn : {Turn::kFirstStreamFirst, Turn::kLastStreamFirst}) {
    std::vector<Measure> measures;
    for (const Program& program : programs) measures.emplace_back(program);
    absl::Status status = Execute(
        programs,
        [&](const Act& act) {
          measures[act.stage].Perform(act);
          return absl::OkStatus();
        },
        turn);
    if (!status.ok()) return status;
    for (size_t s = 0; s < programs.size(); ++s) {
      const StageMemory memory = measures[s].Finish();
      if (turn == Turn::kFirstStreamFirst || memory.lower_bound_bytes > most[s].lower_bound_bytes) most[s] = memory;
    }
  }
  return most;
}

std::vector<int32_t> LargestOf(const Program& program, int count) {
  std::vector<int32_t> order;
  for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
    if (program.root[b] == b) order.push_back(b);
  }
  const auto bytes = [&](int32_t b) { return program.slot_bytes[b] * program.buffer(b).slots(); };
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return std::pair(-bytes(a), a) < std::pair(-bytes(b), b); });
  if (static_cast<int>(order.size()) > count) order.resize(count);
  return order;
}

std::string LargestText(const Program& program, int count) {
  std::vector<std::string> texts;
  for (int32_t b : LargestOf(program, count)) {
    const Buffer& buffer = program.buffer(b);
    const std::string slots = buffer.slots() > 1 ? absl::StrCat(" in ", buffer.slots(), " slots") : "";
    texts.push_back(absl::StrCat("`", buffer.name(), "` ", LocalTypeText(*program.placement, buffer), " ",
                                 BytesText(program.slot_bytes[b] * buffer.slots()), slots, " (", NameOf(buffer.kind()),
                                 ")"));
  }
  return absl::StrJoin(texts, ", ");
}

}  // namespace weft::plan
