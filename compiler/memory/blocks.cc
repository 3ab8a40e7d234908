#include "compiler/memory/blocks.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace weft::compiler {
namespace {

constexpr int32_t kNever = std::numeric_limits<int32_t>::max();
constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// How an actor uses the bytes of a root: its works `first` to `last`.
struct Use {
  int32_t actor = 0;
  int32_t first = 0, last = 0;
};

// How all actors use them.
struct Uses {
  std::vector<Use> actors;
  bool of_step = false;  // once a step: a sum over the micro-batches, what a STEP actor touches, a metric
  bool metric = false;
  bool passed = false;  // to or from another stream than that which computes
};

// A root each.
std::vector<Uses> UsesOf(const plan::Program& program, int32_t compute_stream) {
  std::vector<Uses> uses(program.root.size());
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    const auto add = [&](int32_t b, int32_t w) {
      Uses& use = uses[program.root[b]];
      if (use.actors.empty() || use.actors.back().actor != a) use.actors.push_back({a, w, w});
      use.actors.back().last = w;
      use.of_step = use.of_step || !program.micro(a);
      use.passed = use.passed || program.actor(a).stream() != compute_stream;
    };
    for (size_t w = 0; w < program.work[a].size(); ++w) {
      const plan::Work& work = program.work[a][w];
      for (int32_t b : work.reads) add(b, static_cast<int32_t>(w));
      for (int32_t b : work.writes) add(b, static_cast<int32_t>(w));
      // But a sum that comes from a tier is on the device for a part of each micro-batch.
      const int32_t maker = work.accumulator < 0 ? -1 : program.writer[work.accumulator];
      if (work.accumulator >= 0 && (maker < 0 || !plan::MovesTiers(program.actor(maker))))
        uses[program.root[work.accumulator]].of_step = true;
    }
  }
  for (size_t b = 0; b < program.root.size(); ++b) {
    Uses& use = uses[program.root[b]];
    use.metric = use.metric || program.metric[b];
    use.of_step = use.of_step || program.metric[b];
  }
  return uses;
}

// The contents of a slot, from the first act that touches them to the last.
struct SlotLife {
  // What the compute stream does with them, and what the others may, as moments.
  Span computed = {kEnd, -1}, others = {kEnd, -1};
  // A stream each: so many of its acts have ended when the first act of another stream starts, and when the last one
  // ends.
  std::vector<int32_t> before, after;

  Span span() const { return {std::min(computed.first, others.first), std::max(computed.last, others.last)}; }
  // True if all its acts end before any of the later life begins, in every execution.
  bool IsBefore(const SlotLife& later) const {
    if (computed.last >= std::min(later.computed.first, later.others.first)) return false;
    if (others.last >= later.computed.first) return false;
    for (size_t s = 0; s < after.size(); ++s) {
      if (after[s] > (later.before.empty() ? kNever : later.before[s])) return false;
    }
    return true;
  }
};

int32_t ComputeStream(const plan::Program& program) {
  const auto& streams = program.stage->streams();
  const auto computes = [](const plan::Stream& stream) { return stream.kind() == plan::Stream::COMPUTE; };
  const auto it = std::find_if(streams.begin(), streams.end(), computes);
  return it == streams.end() ? 0 : static_cast<int32_t>(it - streams.begin());
}

// When the acts of a stage come, as moments.
class Moments {
 public:
  Moments(const plan::Program& program, const plan::Orders& orders) : program_(program), orders_(orders) {
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
      first_.push_back(static_cast<int64_t>(acts_.size()));
      acts_.resize(acts_.size() + (program.micro(a) ? program.micro_batches : 1));
    }
    std::vector<int64_t> gaps;  // before each computed act
    const plan::Actor* last = nullptr;
    int64_t last_turn = 0;
    const int64_t together = OverlapOf(program);
    for (const plan::StageAct& act : orders.computed()) {
      const plan::Actor& actor = program.actor(act.actor);
      const bool same = last != nullptr && last->phase() == actor.phase() && last->chunk() == actor.chunk() &&
                        last->section() == actor.section() && last_turn == act.micro_batch / together;
      units_ += !same;
      last = &actor;
      last_turn = act.micro_batch / together;
      gaps.push_back(end_);
      ActOf(act.actor, act.micro_batch) = {{end_, end_}, units_};
      end_ += 2 * static_cast<int64_t>(program.work[act.actor].size());
    }
    gaps.push_back(end_);
    std::vector<int32_t> positions(program.stage->streams_size(), 0);
    for (size_t i = 0; i < orders.others().size(); ++i) {
      const plan::Orders::Other& other = orders.others()[i];
      const size_t late = std::min<size_t>(other.late, gaps.size() - 1);
      ActOf(other.act.actor, other.act.micro_batch) = {{gaps[other.early], gaps[late]},
                                                       -1,
                                                       static_cast<int32_t>(i),
                                                       positions[program.actor(other.act.actor).stream()]++};
    }
  }

  // The last moment of the step.
  int64_t end() const { return end_; }

  // Of a root for one micro-batch, or from one to another.
  SlotLife LifeOf(const Uses& uses, int64_t first, int64_t last) const {
    SlotLife life;
    for (const Use& use : uses.actors) {
      Add(use, first, life);
      if (last != first && program_.micro(use.actor)) Add(use, last, life);
    }
    // It is looked at when every stream has ended.
    if (uses.metric) life.computed.last = end_;
    return life;
  }

  // True if one act has ended when another one starts, in every execution.
  bool IsBefore(int32_t early, int64_t early_micro_batch, int32_t late, int64_t late_micro_batch) const {
    const ActTime &a = ActOf(early, early_micro_batch), &b = ActOf(late, late_micro_batch);
    if (b.other < 0) return a.other < 0 ? a.span.first < b.span.first : a.span.last <= b.span.first;
    if (a.other < 0) return a.span.first < b.span.first;
    return orders_.Before(b.other)[program_.actor(early).stream()] > a.position;
  }

  // Likewise for every micro-batch, of two that the compute stream performs.
  bool IsAlwaysBefore(int32_t early, int32_t late) const {
    if (!program_.micro(early) || !program_.micro(late)) return false;
    for (int64_t i = 0; i < program_.micro_batches; ++i) {
      const ActTime &a = ActOf(early, i), &b = ActOf(late, i);
      if (a.other >= 0 || b.other >= 0 || a.span.first >= b.span.first) return false;
    }
    return true;
  }

  // The units that use it first and last; -1 if one alone does.
  std::pair<int32_t, int32_t> UnitsOf(const Uses& uses, int64_t micro_batch) const {
    int32_t first = kNever, last = -1;
    for (const Use& use : uses.actors) {
      const ActTime& act = acts_[first_[use.actor] + (program_.micro(use.actor) ? micro_batch : 0)];
      if (act.unit < 0) continue;
      first = std::min(first, act.unit);
      last = std::max(last, act.unit);
    }
    return first < last ? std::pair(first, last) : std::pair(-1, -1);
  }

 private:
  struct ActTime {
    Span span;  // of a computed act: its gap; of others: when it may come
    int32_t unit = -1;
    int32_t other = -1, position = 0;  // of those of its stream
  };

  ActTime& ActOf(int32_t actor, int64_t micro_batch) { return acts_[first_[actor] + micro_batch]; }
  const ActTime& ActOf(int32_t actor, int64_t micro_batch) const { return acts_[first_[actor] + micro_batch]; }

  void Add(const Use& use, int64_t micro_batch, SlotLife& life) const {
    const ActTime& act = acts_[first_[use.actor] + (program_.micro(use.actor) ? micro_batch : 0)];
    if (act.other < 0) {
      life.computed.first = std::min(life.computed.first, act.span.first + 2 * use.first + 1);
      life.computed.last = std::max(life.computed.last, act.span.first + 2 * use.last + 1);
      return;
    }
    life.others.first = std::min(life.others.first, act.span.first);
    life.others.last = std::max(life.others.last, act.span.last);
    const absl::Span<const int32_t> before = orders_.Before(act.other);
    if (life.before.empty()) {
      life.before.assign(before.begin(), before.end());
      life.after.assign(before.size(), 0);
    }
    for (size_t s = 0; s < before.size(); ++s) life.before[s] = std::min(life.before[s], before[s]);
    int32_t& ended = life.after[program_.actor(use.actor).stream()];
    ended = std::max(ended, act.position + 1);
  }

  const plan::Program& program_;
  const plan::Orders& orders_;
  std::vector<int64_t> first_;  // an actor each: place of its first act
  std::vector<ActTime> acts_;
  int64_t end_ = 0;
  int32_t units_ = -1;
};

// Sorts, and joins what touches.
std::vector<Span> United(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
  std::vector<Span> united;
  for (const Span& span : spans) {
    if (!united.empty() && span.first <= united.back().last + 1) {
      united.back().last = std::max(united.back().last, span.last);
    } else {
      united.push_back(span);
    }
  }
  return united;
}

// True if no two of the lives ever hold something at one time. Both ascend.
bool AreOrdered(absl::Span<const SlotLife> a, absl::Span<const SlotLife> b) {
  size_t j = 0;
  for (const SlotLife& life : a) {
    while (j < b.size() && b[j].IsBefore(life)) ++j;
    if (j < b.size() && !life.IsBefore(b[j])) return false;
  }
  return true;
}

}  // namespace

int64_t OverlapOf(const plan::Program& program) {
  return std::clamp<int64_t>(program.plan->header().job().batch().overlap(), 1, program.micro_batches);
}

std::vector<bool> AreOfMicroBatch(const plan::Program& program) {
  const std::vector<Uses> uses = UsesOf(program, ComputeStream(program));
  std::vector<bool> are(uses.size(), false);
  for (size_t b = 0; b < uses.size(); ++b) {
    are[b] = program.root[b] == static_cast<int32_t>(b) && !uses[b].actors.empty() && !uses[b].of_step &&
             !program.persistent[b] && program.on_device[b];
  }
  return are;
}

std::vector<bool> NeverWaited(const plan::Program& program, const plan::Orders& orders,
                              const std::vector<int32_t>& slots) {
  const Moments moments(program, orders);
  const int32_t size = static_cast<int32_t>(program.root.size());
  std::vector<bool> never(size, true);
  for (int32_t b = 0; b < size; ++b) {
    const int32_t writer = program.writer[b];
    if (writer < 0 || !program.micro(writer)) continue;
    const int64_t ahead = slots[program.root[b]];
    for (int32_t reader : program.readers[b]) {
      for (int64_t i = 0; i + ahead < program.micro_batches && program.micro(reader) && never[program.root[b]]; ++i) {
        never[program.root[b]] = moments.IsBefore(reader, i, writer, i + ahead);
      }
    }
  }
  // An actor writes all that it writes at once: it is enough that it waits for what is read last.
  std::vector<int32_t> views(size, 0);
  for (int32_t root : program.root) ++views[root];
  const auto covers = [&](int32_t b, int32_t other) {
    return slots[b] == slots[other] &&
           std::all_of(program.readers[other].begin(), program.readers[other].end(), [&](int32_t x) {
             return std::any_of(program.readers[b].begin(), program.readers[b].end(),
                                [&](int32_t y) { return x == y || moments.IsAlwaysBefore(x, y); });
           });
  };
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    std::vector<int32_t> waited;
    for (int32_t b : program.actor(a).writes()) {
      if (program.root[b] == b && views[b] == 1 && !never[b]) waited.push_back(b);
    }
    for (int32_t b : waited) {
      for (int32_t other : waited) {
        if (b != other && !never[b] && !never[other] && covers(b, other)) never[other] = true;
      }
    }
  }
  return never;
}

Blocks::Blocks(const plan::Program& program, const plan::Orders& orders, const std::vector<int32_t>& slots,
               const std::vector<int32_t>& together) {
  const Moments moments(program, orders);
  const int64_t overlap = OverlapOf(program);
  moments_ = moments.end() + 1;
  const std::vector<Uses> all = UsesOf(program, ComputeStream(program));
  std::vector<std::pair<int32_t, std::vector<SlotLife>>> passed;  // blocks that other streams touch
  for (int32_t root = 0; root < static_cast<int32_t>(all.size()); ++root) {
    if (program.root[root] != root || !program.on_device[root]) continue;
    const Uses& uses = all[root];
    const int64_t count = slots[root] / together[root];
    for (int64_t place = 0; place < count; ++place) {
      Block& block = blocks_.emplace_back();
      block.root = root;
      block.bytes = program.slot_bytes[root] * together[root];
      block.state = program.persistent[root];
      if (block.state || uses.actors.empty()) {
        block.life = {{0, moments.end()}};
        continue;
      }
      std::vector<SlotLife> lives;
      if (uses.of_step) {
        lives.push_back(moments.LifeOf(uses, 0, program.micro_batches - 1));
      } else {
        for (int64_t first = place * together[root]; first < program.micro_batches; first += slots[root]) {
          const int64_t end = std::min<int64_t>(first + together[root], program.micro_batches);
          for (int64_t i = first; i < end; ++i) lives.push_back(moments.LifeOf(uses, i, i));
        }
        if (!lives.empty() && !uses.passed && together[root] <= overlap)
          std::tie(block.unit, block.until) = moments.UnitsOf(uses, place * together[root]);
      }
      for (const SlotLife& life : lives) block.life.push_back(life.span());
      block.life = United(std::move(block.life));
      if (uses.passed) passed.push_back({size() - 1, std::move(lives)});
    }
  }
  AddConflicts();
  for (size_t i = 0; i < passed.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const auto& [a, lives_of_a] = passed[i];
      const auto& [b, lives_of_b] = passed[j];
      if (Conflict(a, b) && AreOrdered(lives_of_a, lives_of_b)) Allow(a, b);
    }
  }
}

Blocks::Blocks(const Blocks& blocks, const std::vector<int32_t>& group, int32_t groups)
    : blocks_(groups), moments_(blocks.moments_), words_((groups + 63) / 64), rows_(groups * words_, 0) {
  for (int32_t a = 0; a < blocks.size(); ++a) {
    if (group[a] < 0) continue;
    Block& block = blocks_[group[a]];
    block.bytes += blocks[a].bytes;
    block.life.insert(block.life.end(), blocks[a].life.begin(), blocks[a].life.end());
    uint64_t* row = &rows_[group[a] * words_];
    blocks.ForEachInTheWay(a, [&](int32_t b) {
      if (group[b] >= 0 && group[b] != group[a]) row[group[b] / 64] |= uint64_t{1} << group[b] % 64;
    });
  }
  for (Block& block : blocks_) block.life = United(std::move(block.life));
}

int64_t Blocks::LengthOf(int32_t b) const {
  int64_t length = 0;
  for (const Span& span : blocks_[b].life) length += span.last - span.first + 1;
  return length;
}

bool Blocks::IsAlways(int32_t b) const {
  const std::vector<Span>& life = blocks_[b].life;
  return life.size() == 1 && life[0].first == 0 && life[0].last + 1 == moments_;
}

void Blocks::AddConflicts() {
  // A block begins to live, or has ended, at a moment.
  struct Change {
    int64_t moment = 0;
    bool begins = false;
    int32_t block = 0;
    auto operator<=>(const Change&) const = default;  // ends first
  };
  words_ = (blocks_.size() + 63) / 64;
  rows_.assign(blocks_.size() * words_, 0);
  std::vector<Change> changes;
  for (int32_t b = 0; b < size(); ++b) {
    for (const Span& span : blocks_[b].life) {
      changes.push_back({span.first, true, b});
      changes.push_back({span.last + 1, false, b});
    }
  }
  std::sort(changes.begin(), changes.end());
  std::vector<uint64_t> live(words_, 0);
  for (const Change& change : changes) {
    const uint64_t bit = uint64_t{1} << change.block % 64;
    if (!change.begins) {
      live[change.block / 64] &= ~bit;
      continue;
    }
    uint64_t* row = &rows_[change.block * words_];
    for (size_t w = 0; w < words_; ++w) row[w] |= live[w];
    live[change.block / 64] |= bit;
  }
  for (int32_t a = 0; a < size(); ++a) {
    ForEachInTheWay(a, [&](int32_t b) { rows_[b * words_ + a / 64] |= uint64_t{1} << a % 64; });
  }
}

void Blocks::Allow(int32_t a, int32_t b) {
  rows_[a * words_ + b / 64] &= ~(uint64_t{1} << b % 64);
  rows_[b * words_ + a / 64] &= ~(uint64_t{1} << a % 64);
}

}  // namespace weft::compiler
