#include "runtime/measure/memory.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "runtime/measure/lives.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/semantics/execution.h"
#include "runtime/semantics/footprint.h"
#include "runtime/semantics/orders.h"

namespace weft::plan {
namespace {

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

int64_t Sum(const BytesByCategory& bytes) { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

// Says what the lives of a stage's buffers amount to.
class Report {
 public:
  Report(const Program& program, const Lives& lives)
      : program_(program), lives_(lives), categories_(CategoriesOf(program)) {
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) scratch_.push_back(ScratchBytesOf(a));
  }

  StageMemory Make() {
    StageMemory memory;
    memory.arena_bytes = program_.stage->arena_bytes();
    for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
      if (program_.root[b] != b) continue;
      if (program_.buffer(b).kind() == Buffer::PARAMETER) {
        const auto& shape = UnpaddedShape(program_.buffer(b));
        memory.parameter_elements += std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
      }
      if (!program_.on_device[b]) continue;
      ++memory.buffers[CategoryOf(b)];
      if (categories_[b] == Category::kGradients) memory.gradient_bytes += program_.slot_bytes[b];
    }
    memory.at_peak = memory.most = StateBytes();
    memory.lower_bound_bytes = Sum(memory.at_peak);
    Sweep(memory);
    CollectLive(memory);
    return memory;
  }

  Course MakeCourse() const {
    Course course;
    Walk(
        StateBytes(), [&](const Lives::Performed&) { course.most.emplace_back(); },
        [&](const Lives::Performed&, size_t, int32_t, const BytesByCategory& now) {
          if (Sum(now) > Sum(course.most.back())) course.most.back() = now;
        });
    const std::vector<Lives::Performed>& acts = lives_.acts();
    const auto act_of = [&](int64_t part) {
      const auto after = std::upper_bound(acts.begin(), acts.end(), part,
                                          [](int64_t at, const Lives::Performed& act) { return at < act.part; });
      return static_cast<size_t>(after - acts.begin()) - 1;
    };
    const auto slot_of = [&](size_t act, int32_t b) {
      return static_cast<int32_t>(program_.SlotOf(acts[act].actor, b, acts[act].micro_batch));
    };
    for (const Lives::Life& life : lives_.lives()) {
      const size_t first = act_of(life.first);
      course.lives.push_back({life.root, slot_of(first, life.root), first, act_of(life.last)});
    }
    for (size_t a = 0; a < acts.size(); ++a) {
      for (const Lives::Use& use : lives_.profile(acts[a].actor).scratch) {
        const int32_t root = program_.root[use.buffer];
        course.scratch.push_back({root, slot_of(a, root), a, a});
      }
    }
    return course;
  }

 private:
  int CategoryOf(int32_t b) const { return static_cast<int>(categories_[b]); }
  int64_t BytesOf(int32_t root) const { return program_.slot_bytes[root]; }

  // What lives from step to step.
  BytesByCategory StateBytes() const {
    BytesByCategory bytes = {};
    for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
      if (program_.StaysOnDevice(b)) bytes[CategoryOf(b)] += BytesOf(b);
    }
    return bytes;
  }

  // A work each: what lives within one act alone.
  std::vector<BytesByCategory> ScratchBytesOf(int32_t a) const {
    std::vector<BytesByCategory> bytes(program_.work[a].size() + 1, BytesByCategory{});
    for (const Lives::Use& use : lives_.profile(a).scratch) {
      const int32_t root = program_.root[use.buffer];
      bytes[use.first][CategoryOf(root)] += BytesOf(root);
      bytes[use.last + 1][CategoryOf(root)] -= BytesOf(root);
    }
    for (size_t w = 1; w < bytes.size(); ++w) {
      for (int k = 0; k < kCategories; ++k) bytes[w][k] += bytes[w - 1][k];
    }
    return bytes;
  }

  // Walks the works of all acts in order, beside which `live` holds what is live before the first one: begins(act),
  // then look(act, part, work, what is live) of each of its works.
  template <typename Begins, typename Look>
  void Walk(BytesByCategory live, const Begins& begins, const Look& look) const {
    std::vector<BytesByCategory> change(lives_.parts() + 1, BytesByCategory{});
    for (const Lives::Life& life : lives_.lives()) {
      change[life.first][CategoryOf(life.root)] += BytesOf(life.root);
      change[life.last + 1][CategoryOf(life.root)] -= BytesOf(life.root);
    }
    for (const Lives::Performed& act : lives_.acts()) {
      const std::vector<int32_t>& parts = lives_.profile(act.actor).parts;
      begins(act);
      for (size_t part = 0; part + 1 < parts.size(); ++part) {
        for (int k = 0; k < kCategories; ++k) live[k] += change[act.part + part][k];
        for (int32_t w = parts[part]; w < parts[part + 1]; ++w) {
          BytesByCategory now = live;
          for (int k = 0; k < kCategories; ++k) now[k] += scratch_[act.actor][w][k];
          look(act, part, w, now);
        }
      }
    }
  }

  // Before the first act state alone lives.
  void Sweep(StageMemory& memory) {
    UnitMemory* unit = nullptr;
    Walk(
        memory.at_peak, [&](const Lives::Performed& act) { unit = &UnitOf(act, memory); },
        [&](const Lives::Performed& act, size_t part, int32_t w, const BytesByCategory& now) {
          Look(act, part, w, now, *unit, memory);
        });
  }

  // At one moment, the work `w` of an act, when `now` is live.
  void Look(const Lives::Performed& act, size_t part, int32_t w, const BytesByCategory& now, UnitMemory& unit,
            StageMemory& memory) {
    for (int k = 0; k < kCategories; ++k) memory.most[k] = std::max(memory.most[k], now[k]);
    const int64_t bytes = Sum(now);
    if (bytes > Sum(unit.most)) unit.most = now;
    if (bytes <= memory.lower_bound_bytes) return;
    memory.lower_bound_bytes = bytes;
    memory.at_peak = now;
    memory.peak_actor = act.actor;
    memory.peak_micro_batch = act.micro_batch;
    memory.peak_work = w;
    peak_ = act.part + static_cast<int64_t>(part);
  }

  // The last unit, or a new one if the act begins another on a compute stream.
  UnitMemory& UnitOf(const Lives::Performed& act, StageMemory& memory) {
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
      if (program_.StaysOnDevice(b)) counts[b] = 1;
    }
    for (const Lives::Life& life : lives_.lives()) {
      if (life.first <= peak_ && peak_ <= life.last) ++counts[life.root];
    }
    if (memory.peak_actor >= 0) {
      for (const Lives::Use& use : lives_.profile(memory.peak_actor).scratch) {
        if (use.first <= memory.peak_work && memory.peak_work <= use.last) counts[program_.root[use.buffer]] = 1;
      }
    }
    for (const auto& [root, count] : counts) memory.live.push_back({root, count * BytesOf(root), count});
    std::sort(memory.live.begin(), memory.live.end(), [](const StageMemory::Live& a, const StageMemory::Live& b) {
      return std::pair(-a.bytes, a.buffer) < std::pair(-b.bytes, b.buffer);
    });
  }

  const Program& program_;
  const Lives& lives_;
  const std::vector<Category> categories_;
  std::vector<std::vector<BytesByCategory>> scratch_;  // actor, work
  std::vector<int32_t> chunks_;                        // in the order in which they come
  int64_t peak_ = -1;                                  // the part
};

}  // namespace

absl::StatusOr<std::vector<StageMemory>> MeasureMemory(const Plan& plan) {
  const std::vector<Program> programs = ProgramsOf(plan);
  std::vector<Orders> orders(programs.begin(), programs.end());
  const absl::Status status = Execute(programs, [&](const Act& act) {
    orders[act.stage].Add(act);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  std::vector<StageMemory> most;
  for (size_t s = 0; s < programs.size(); ++s) {
    Lives lives(programs[s]);
    for (Orders::Rule rule : orders[s].rules()) {
      lives.Perform(orders[s].In(rule));
      StageMemory memory = Report(programs[s], lives).Make();
      if (most.size() == s) {
        most.push_back(std::move(memory));
      } else if (memory.lower_bound_bytes > most[s].lower_bound_bytes) {
        most[s] = std::move(memory);
      }
    }
  }
  return most;
}

Course CourseOf(const Program& program, const std::vector<StageAct>& acts) {
  Lives lives(program);
  lives.Perform(acts);
  return Report(program, lives).MakeCourse();
}

const char* NameOf(Category category) {
  constexpr const char* kNames[] = {"parameters", "gradients",     "optimizer", "activations",
                                    "workspace",  "communication", "cache"};
  return kNames[static_cast<int>(category)];
}

namespace {

// How the bytes of each root are used.
class Roles {
 public:
  explicit Roles(const Program& program) : program_(program), roles_(program.root.size()) {
    for (const Buffer& buffer : program.stage->buffers()) {
      for (int32_t parameter : buffer.init().inputs()) roles_[parameter].master = true;
    }
    for (size_t a = 0; a < program.work.size(); ++a) {
      for (const Work& work : program.work[a]) Add(static_cast<int32_t>(a), work);
      for (const Collective& collective : program.actor(static_cast<int32_t>(a)).collectives()) {
        const Buffer::Kind kind = KindOf(collective.input());
        const bool parameter = kind == Buffer::PARAMETER || kind == Buffer::WORKING;
        if (collective.kind() == Collective::ALL_GATHER && parameter)
          roles_[program.root[collective.output()]].gathered = true;
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
      case Buffer::CACHE:
        return Category::kCache;
      case Buffer::GRADIENT:
        if (program_.buffer(root).shape_size() == 0) return other;
        if (role.backward_writes && role.update_reads) return Category::kGradients;
        return role.communicated ? Category::kCommunication : other;
      case Buffer::COMMUNICATION:
        return kept && !role.gathered ? Category::kActivations : Category::kCommunication;
      default:
        return other;
    }
  }

 private:
  struct Role {
    bool micro_reads = false;
    // Before the updates, in a micro-batch or once a step; and from there on.
    bool backward_writes = false, update_reads = false;
    bool communicated = false;  // a collective or another stage made it
    bool gathered = false;      // from shares of parameters
    bool copied = false;        // a copy to work with is made of it
    bool master = false;        // likewise, of another type
  };

  Buffer::Kind KindOf(int32_t b) const { return program_.buffer(program_.root[b]).kind(); }

  void Add(int32_t a, const Work& work) {
    const bool micro = program_.micro(a), backward = micro || program_.actor(a).phase() == Actor::BACKWARD;
    for (int32_t in : work.reads) {
      Role& role = roles_[program_.root[in]];
      role.micro_reads = role.micro_reads || micro;
      role.update_reads = role.update_reads || !backward;
    }
    for (int32_t out : work.writes) {
      Role& role = roles_[program_.root[out]];
      role.backward_writes = role.backward_writes || backward;
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

}  // namespace weft::plan
