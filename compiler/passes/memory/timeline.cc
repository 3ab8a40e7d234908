#include "compiler/passes/memory/timeline.h"

#include "llvm/ADT/StringMap.h"

namespace weft::compiler {

using mlir::Operation;
using mlir::Value;

Timeline::Timeline(task::ProgramOp program, int64_t phases)
    : microBatches_(int64_t(program.getMicroBatches())), phases_(phases) {
  addSections(program);
  addActors(program);
  for (size_t a = 0; a < actors_.size(); ++a) {
    if (!actors_[a].computes) {
      actors_[a].firstAct = reach_.size();
      reach_.resize(reach_.size() + actsOf(a), {beginning(), end()});
    }
  }
  bound(ordered(program));
}

void Timeline::addSections(task::ProgramOp program) {
  std::vector<schedule::Unit> order = task::unitsOf(program);
  instances_ = int64_t(order.size()) + 2;
  sectionAt_.assign(instances_, 0);
  llvm::StringMap<int64_t> sectionOf;
  sections_.push_back({"begin", {}, {0}});
  for (auto [i, unit] : llvm::enumerate(order)) {
    auto [it, added] = sectionOf.try_emplace(schedule::nameOf(unit), int64_t(sections_.size()));
    for (int64_t phase = 0; added && phase < phases_; ++phase) {
      sections_.push_back(
          {schedule::nameOf(unit), {}, std::vector<int64_t>((microBatches_ - phase - 1) / phases_ + 1, 0)});
    }
    sectionAt_[i + 1] = it->second + unit.microBatch % phases_;
    sections_[sectionAt_[i + 1]].instances[unit.microBatch / phases_] = int64_t(i) + 1;
  }
  sectionAt_.back() = int64_t(sections_.size());
  sections_.push_back({"step", {}, {instances_ - 1}});
  for (auto actor : program.getBody().getOps<task::ActorOp>()) {
    Actor &it = actors_.emplace_back();
    it.computes = actor.getStream() == task::StreamKind::Compute;
    it.micro = actor.getSection() == task::Section::Micro;
    it.section = it.micro                                     ? sectionOf.lookup(actor.getUnit().value_or("F"))
                 : actor.getSection() == task::Section::Begin ? 0
                                                              : int64_t(sections_.size()) - 1;
  }
}

void Timeline::addActors(task::ProgramOp program) {
  std::vector<std::vector<size_t>> members(sections_.size());
  auto actors = llvm::to_vector(program.getBody().getOps<task::ActorOp>());
  for (size_t a = 0; a < actors.size(); ++a) {
    if (actors_[a].computes) {
      members[actors_[a].section].push_back(a);
    }
  }
  for (size_t s = 0; s < sections_.size();) {
    int64_t begin = positions_++;
    for (size_t a : members[s]) {
      actors_[a].span.first = positions_;
      for (Operation &op : actors[a].getBody().front()) {
        // The collectives of an actor run at once.
        Operation *before = op.getPrevNode();
        bool joins = before && llvm::isa<task::CollectiveOp>(op) && llvm::isa<task::CollectiveOp>(before);
        index_[&op] = joins ? positions_ - 2 : positions_;
        positions_ += joins ? 0 : 2;
      }
      actors_[a].span.last = positions_ - 2;
    }
    int64_t length = positions_ - begin;
    positions_ = begin;
    for (int64_t phases = isOnce(int64_t(s)) ? 1 : phases_; phases > 0; --phases, ++s) {
      sections_[s].span = {positions_, positions_ + length - 1};
      positions_ += length;
    }
  }
}

Moment Timeline::momentOf(int64_t section, int64_t microBatch, int64_t position) const {
  if (isOnce(section)) {
    return {sections_[section].instances[0], position};
  }
  const Section &phase = sections_[section + microBatch % phases_];
  return {phase.instances[microBatch / phases_], position + phase.span.first - sections_[section].span.first};
}

Moment Timeline::momentOf(const Act &act, int64_t position) const {
  return momentOf(actors_[act.actor].section, act.microBatch, position);
}

// The acts of each other stream in turn, a register's writer before its readers, and these before what reuses its slot.
std::vector<std::pair<Timeline::Act, Timeline::Act>> Timeline::ordered(task::ProgramOp program) const {
  std::vector<std::pair<Act, Act>> pairs;
  llvm::MapVector<llvm::StringRef, std::vector<std::pair<Moment, Act>>> streams;
  for (auto [a, actor] : llvm::enumerate(program.getBody().getOps<task::ActorOp>())) {
    for (int64_t i = 0; i < actsOf(a) && !computes(a); ++i) {
      streams[actor.getLane().value_or(task::stringifyStreamKind(actor.getStream()))].push_back(
          {momentOf(Act{a, i}, int64_t(a)), {a, i}});
    }
  }
  for (auto &[name, acts] : streams) {
    llvm::sort(acts, [](const auto &a, const auto &b) { return a.first < b.first; });
    for (size_t i = 1; i < acts.size(); ++i) {
      pairs.push_back({acts[i - 1].second, acts[i].second});
    }
  }
  task::Registers registers(program);
  llvm::DenseMap<Value, size_t> writer;
  for (size_t a = 0; a < actors_.size(); ++a) {
    for (Value buffer : registers.writesOf(a)) {
      writer[buffer] = a;
    }
  }
  for (size_t reader = 0; reader < actors_.size(); ++reader) {
    for (Value buffer : registers.readsOf(reader)) {
      size_t from = writer.lookup(buffer);
      if (computes(from) && computes(reader)) {
        continue;
      }
      bool micro = actors_[from].micro && actors_[reader].micro;
      int64_t slots = int64_t(task::rootOf(buffer).getDefiningOp<task::BufferOp>().getSlots());
      for (int64_t i = 0; i < actsOf(reader); ++i) {
        pairs.push_back({{from, micro ? i : actsOf(from) - 1}, {reader, i}});
        if (micro && i + slots < microBatches_) {
          pairs.push_back({{reader, i}, {from, i + slots}});
        }
      }
    }
  }
  return pairs;
}

// Longest and shortest paths over a graph of few acts.
void Timeline::bound(llvm::ArrayRef<std::pair<Act, Act>> pairs) {
  auto reach = [&](const Act &act) -> std::pair<Moment, Moment> {
    const Actor &it = actors_[act.actor];
    return it.computes ? std::pair(momentOf(act, it.span.last + 1), momentOf(act, it.span.first - 1))
                       : reach_[it.firstAct + act.microBatch];
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[early, late] : pairs) {
      if (!computes(late.actor)) {
        Moment &from = reach_[actors_[late.actor].firstAct + late.microBatch].first;
        Moment least = reach(early).first;
        changed |= from < least;
        from = std::max(from, least);
      }
      if (!computes(early.actor)) {
        Moment &to = reach_[actors_[early.actor].firstAct + early.microBatch].second;
        Moment most = reach(late).second;
        changed |= most < to;
        to = std::min(to, most);
      }
    }
  }
}

std::pair<Moment, Moment> Timeline::reachOf(size_t actor, int64_t microBatch) const {
  return reach_[actors_[actor].firstAct + (actors_[actor].micro ? microBatch : 0)];
}

void Timeline::cover(Moment from, Moment to, llvm::BitVector &whole, llvm::SmallVectorImpl<Span> &spans) const {
  for (int64_t instance = from.instance; instance <= to.instance; ++instance) {
    int64_t section = sectionAt_[instance];
    Span all = sections_[section].span;
    Span span = {instance == from.instance ? std::max(from.position, all.first) : all.first,
                 instance == to.instance ? std::min(to.position, all.last) : all.last};
    if (span.first == all.first && span.last == all.last) {
      whole.set(section);
    } else if (span.first <= span.last && !whole.test(section)) {
      spans.push_back(span);
    }
  }
}

llvm::SmallVector<Span, 2> Timeline::unite(const llvm::BitVector &whole, llvm::SmallVector<Span> spans) const {
  for (unsigned s : whole.set_bits()) {
    if (sections_[s].span.first <= sections_[s].span.last) {
      spans.push_back(sections_[s].span);
    }
  }
  llvm::sort(spans, [](Span a, Span b) { return a.first < b.first; });
  llvm::SmallVector<Span, 2> united;
  for (Span span : spans) {
    if (!united.empty() && span.first <= united.back().last + 1) {
      united.back().last = std::max(united.back().last, span.last);
    } else {
      united.push_back(span);
    }
  }
  return united;
}

} // namespace weft::compiler
