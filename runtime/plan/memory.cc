#include "runtime/plan/memory.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/execution.h"
#include "runtime/plan/footprint.h"
#include "runtime/plan/names.h"
#include "runtime/plan/orders.h"

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
  std::vector<Use> uses;               // of roots that outlive the act, a root's in order
  std::vector<BytesByCategory> inner;  // a work each: bytes of the roots that do not
  std::vector<Use> scratch;            // these
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

int64_t Sum(const BytesByCategory& bytes) { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

// True for the roots that a forward makes for its backward.
std::vector<bool> KeptOf(const Program& program) {
  std::vector<bool> forward(program.root.size(), false), kept(program.root.size(), false);
  for (size_t a = 0; a < program.work.size(); ++a) {
    const Actor::Phase phase = program.actor(static_cast<int32_t>(a)).phase();
    for (const Work& work : program.work[a]) {
      for (int32_t b : work.writes) {
        if (phase == Actor::FORWARD) forward[program.root[b]] = true;
      }
      for (int32_t b : work.reads) {
        const bool later = phase == Actor::BACKWARD || phase == Actor::WEIGHT;
        if (later && forward[program.root[b]]) kept[program.root[b]] = true;
      }
    }
  }
  return kept;
}

class Measure {
 public:
  explicit Measure(const Program& program)
      : program_(program), scratch_(ScratchOf(program)), categories_(CategoriesOf(program)) {
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) profiles_.push_back(ProfileOf(a));
    lives_.resize(program.root.size());
  }

  void Perform(const Orders::Step& act) {
    const int32_t index = static_cast<int32_t>(acts_.size());
    acts_.push_back(act);
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
    BytesByCategory live = {};
    for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
      if (program_.root[b] != b) continue;
      ++memory.buffers[CategoryOf(b)];
      if (categories_[b] == Category::kGradients) memory.gradient_bytes += program_.slot_bytes[b];
      if (program_.buffer(b).kind() == Buffer::PARAMETER) {
        const auto& shape = program_.buffer(b).shape();
        memory.parameter_elements += std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
      }
      if (program_.persistent[b]) live[CategoryOf(b)] += program_.slot_bytes[b];
      for (Life& life : lives_[b]) {
        if (program_.metric[b]) life.last_act = static_cast<int32_t>(acts_.size());
        Close(b, life);
      }
    }
    memory.at_peak = memory.most = live;
    memory.lower_bound_bytes = Sum(live);
    Sweep(live, memory);
    CollectLive(memory);
    return memory;
  }

 private:
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
    profile.scratch = std::move(inner);
    return profile;
  }

  std::vector<BytesByCategory> InnerOf(const std::vector<Use>& uses, size_t works) const {
    std::vector<BytesByCategory> inner(works + 1, BytesByCategory{});
    for (const Use& use : uses) {
      const int32_t root = program_.root[use.buffer];
      inner[use.first][CategoryOf(root)] += program_.slot_bytes[root];
      inner[use.last + 1][CategoryOf(root)] -= program_.slot_bytes[root];
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

  int CategoryOf(int32_t b) const { return static_cast<int>(categories_[b]); }

  // Walks the acts in order; `live` is what is live before the first one.
  void Sweep(BytesByCategory live, StageMemory& memory) {
    std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
      return std::tuple(a.act, a.work, !a.birth) < std::tuple(b.act, b.work, !b.birth);
    });
    auto change = changes_.begin();
    for (int32_t act = 0; act < static_cast<int32_t>(acts_.size()); ++act) {
      const Profile& profile = profiles_[acts_[act].actor];
      UnitMemory& unit = UnitOf(acts_[act], memory);
      for (int32_t w = 0; w < static_cast<int32_t>(profile.inner.size()); ++w) {
        const auto here = [&] { return change != changes_.end() && change->act == act && change->work == w; };
        const auto apply = [&] {
          live[CategoryOf(change->root)] += program_.slot_bytes[change->root] * (change->birth ? 1 : -1);
        };
        for (; here() && change->birth; ++change) apply();
        BytesByCategory now = live;
        for (int k = 0; k < kCategories; ++k) {
          now[k] += profile.inner[w][k];
          memory.most[k] = std::max(memory.most[k], now[k]);
        }
        const int64_t bytes = Sum(now);
        if (bytes > Sum(unit.most)) unit.most = now;
        if (bytes > memory.lower_bound_bytes) {
          memory.lower_bound_bytes = bytes;
          memory.at_peak = now;
          memory.peak_actor = acts_[act].actor;
          memory.peak_micro_batch = acts_[act].micro_batch;
          memory.peak_work = w;
          peak_act_ = act;
        }
        for (; here(); ++change) apply();
      }
    }
  }

  // The last unit, or a new one if the act begins another on a compute stream.
  UnitMemory& UnitOf(const Orders::Step& act, StageMemory& memory) {
    const Actor& actor = program_.actor(act.actor);
    const bool computes = program_.stage->streams(actor.stream()).kind() == Stream::COMPUTE;
    if (memory.units.empty()) memory.units.push_back({"begin", {}});
    if (!computes) return memory.units.back();
    const bool begins = actor.section() == Actor::STEP && memory.units.size() == 1;
    std::string name = begins ? "begin" : UnitName(actor, act.micro_batch);
    if (memory.units.back().name != name) memory.units.push_back({std::move(name), {}});
    return memory.units.back();
  }

  std::string UnitName(const Actor& actor, int64_t micro_batch) {
    if (actor.section() == Actor::STEP) return "step";
    const char* kind = actor.phase() == Actor::BACKWARD ? "B" : actor.phase() == Actor::WEIGHT ? "W" : "F";
    const size_t chunk = std::find(chunks_.begin(), chunks_.end(), actor.chunk()) - chunks_.begin();
    if (chunk == chunks_.size()) chunks_.push_back(actor.chunk());
    return absl::StrCat(kind, micro_batch, chunk == 0 ? "" : absl::StrCat(".", chunk));
  }

  // What is live at the peak that Sweep has found.
  void CollectLive(StageMemory& memory) const {
    absl::flat_hash_map<int32_t, int> counts;
    for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
      if (program_.root[b] == b && program_.persistent[b]) counts[b] = 1;
    }
    const std::pair peak(peak_act_, memory.peak_work);
    for (const Change& change : changes_) {
      const std::pair at(change.act, change.work);
      if (change.birth ? at <= peak : at < peak) counts[change.root] += change.birth ? 1 : -1;
    }
    if (memory.peak_actor >= 0) {
      for (const Use& use : profiles_[memory.peak_actor].scratch) {
        if (use.first <= memory.peak_work && memory.peak_work <= use.last) counts[program_.root[use.buffer]] = 1;
      }
    }
    for (const auto& [root, count] : counts) {
      if (count > 0) memory.live.push_back({root, count * program_.slot_bytes[root], count});
    }
    std::sort(memory.live.begin(), memory.live.end(), [](const StageMemory::Live& a, const StageMemory::Live& b) {
      return std::pair(-a.bytes, a.buffer) < std::pair(-b.bytes, b.buffer);
    });
  }

  const Program& program_;
  const std::vector<bool> scratch_;
  const std::vector<Category> categories_;
  std::vector<Profile> profiles_;
  absl::flat_hash_map<int32_t, size_t> place_;  // while a profile is made: a root's place in its list
  std::vector<std::vector<Life>> lives_;        // root, slot
  std::vector<Orders::Step> acts_;
  std::vector<Change> changes_;
  std::vector<int32_t> chunks_;  // in the order in which they come
  int32_t peak_act_ = -1;
};

}  // namespace

absl::StatusOr<std::vector<StageMemory>> MeasureMemory(const Plan& plan) {
  const std::vector<Program> programs = ProgramsOf(plan);
  std::vector<StageMemory> most(programs.size());
  std::vector<Orders> orders;
  for (const Program& program : programs) orders.emplace_back(program);
  const absl::Status status = Execute(programs, [&](const Act& act) {
    orders[act.stage].Add(act);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  using Rule = Orders::Rule;
  for (size_t s = 0; s < programs.size(); ++s) {
    for (Rule rule : {Rule::kEarly, Rule::kLate, Rule::kSendLate, Rule::kHoldSends}) {
      if (plan.transfers().empty() && rule != Rule::kEarly && rule != Rule::kLate) continue;
      Measure measure(programs[s]);
      for (const Orders::Step& step : orders[s].In(rule)) measure.Perform(step);
      const StageMemory memory = measure.Finish();
      if (rule == Rule::kEarly || memory.lower_bound_bytes > most[s].lower_bound_bytes) most[s] = memory;
    }
  }
  return most;
}

const char* NameOf(Category category) {
  constexpr const char* kNames[] = {"parameters",  "gradients", "optimizer",
                                    "activations", "workspace", "communication"};
  return kNames[static_cast<int>(category)];
}

namespace {

// How the bytes of each root are used.
class Roles {
 public:
  explicit Roles(const Program& program) : program_(program), roles_(program.root.size()) {
    for (size_t a = 0; a < program.work.size(); ++a) {
      for (const Work& work : program.work[a]) Add(static_cast<int32_t>(a), work);
      for (const Collective& it : program.actor(static_cast<int32_t>(a)).collectives()) {
        const Buffer::Kind kind = KindOf(it.input());
        const bool parameter = kind == Buffer::PARAMETER || kind == Buffer::WORKING;
        if (it.kind() == Collective::ALL_GATHER && parameter) roles_[program.root[it.output()]].gathered = true;
      }
    }
  }

  Category Of(int32_t root, bool scratch, bool kept) const {
    const Role& role = roles_[root];
    const Category other = scratch ? Category::kWorkspace : Category::kActivations;
    switch (KindOf(root)) {
      case Buffer::PARAMETER:
        return role.master || (role.copied && !role.micro_reads) ? Category::kOptimizer : Category::kParameters;
      case Buffer::WORKING:
        return role.micro_reads ? Category::kParameters : Category::kCommunication;
      case Buffer::OPTIMIZER:
        return Category::kOptimizer;
      case Buffer::GRADIENT:
        if (program_.buffer(root).shape_size() == 0) return other;
        if (role.micro_writes && role.step_reads) return Category::kGradients;
        return role.communicated ? Category::kCommunication : other;
      case Buffer::COMMUNICATION:
        return kept && !role.gathered ? Category::kActivations : Category::kCommunication;
      default:
        return other;
    }
  }

 private:
  struct Role {
    bool micro_reads = false, micro_writes = false, step_reads = false;
    bool communicated = false;  // a collective or another stage made it
    bool gathered = false;      // from shares of parameters
    bool copied = false;        // a copy to work with is made of it
    bool master = false;        // likewise, of another type
  };

  Buffer::Kind KindOf(int32_t b) const { return program_.buffer(program_.root[b]).kind(); }

  void Add(int32_t a, const Work& work) {
    const bool micro = program_.micro(a);
    for (int32_t in : work.reads) {
      Role& role = roles_[program_.root[in]];
      (micro ? role.micro_reads : role.step_reads) = true;
    }
    for (int32_t out : work.writes) {
      Role& role = roles_[program_.root[out]];
      role.micro_writes = role.micro_writes || micro;
      role.communicated = role.communicated || program_.actor(a).kernels_size() == 0;
      if (KindOf(out) != Buffer::WORKING) continue;
      for (int32_t in : work.reads) {
        Role& from = roles_[program_.root[in]];
        from.copied = true;
        from.master = from.master || (program_.actor(a).kernels_size() > 0 &&
                                      program_.buffer(in).dtype() != program_.buffer(out).dtype());
      }
    }
  }

  const Program& program_;
  std::vector<Role> roles_;
};

}  // namespace

std::vector<Category> CategoriesOf(const Program& program) {
  const std::vector<bool> scratch = ScratchOf(program), kept = KeptOf(program);
  const Roles roles(program);
  std::vector<Category> categories;
  for (int32_t root : program.root) categories.push_back(roles.Of(root, scratch[root], kept[root]));
  return categories;
}

double BytesAParameter(const StageMemory& memory) {
  if (memory.parameter_elements == 0) return 0;
  const auto most = [&](Category category) { return memory.most[static_cast<int>(category)]; };
  const int64_t bytes = most(Category::kParameters) + most(Category::kOptimizer) + memory.gradient_bytes;
  return static_cast<double>(bytes) / static_cast<double>(memory.parameter_elements);
}

std::string OriginOf(const Program& program, int32_t buffer) {
  for (const Actor& actor : program.stage->actors()) {
    for (const Kernel& kernel : actor.kernels()) {
      for (int32_t b : kernel.outputs()) {
        if (program.root[b] == program.root[buffer]) return kernel.location();
      }
    }
    for (const Collective& collective : actor.collectives()) {
      if (program.root[collective.output()] == program.root[buffer]) return collective.location();
    }
  }
  return "";
}

std::string LargestText(const Program& program, const StageMemory& memory, int count) {
  const std::vector<Category> categories = CategoriesOf(program);
  std::vector<std::string> texts;
  for (const StageMemory::Live& it : memory.live) {
    if (static_cast<int>(texts.size()) == count) break;
    const Buffer& buffer = program.buffer(it.buffer);
    const std::string origin = OriginOf(program, it.buffer);
    texts.push_back(absl::StrCat("`", buffer.name(), "` ", LocalTypeText(*program.placement, buffer), " ",
                                 BytesText(it.bytes),
                                 it.count > 1 ? absl::StrCat(" for ", it.count, " micro-batches") : "", " (",
                                 NameOf(categories[it.buffer]), origin.empty() ? "" : ", made at ", origin, ")"));
  }
  return absl::StrJoin(texts, ", ");
}

}  // namespace weft::plan
