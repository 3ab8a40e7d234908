#include "compiler/passes/memory/timeline.h"

#include "llvm/ADT/StringMap.h"

namespace weft::compiler {

using mlir::Operation;

Timeline::Timeline(task::ProgramOp program, const Order &order, size_t index, int64_t phases)
    : instances_(order.instances(index)), order_(order), index_(index),
      microBatches_(int64_t(program.getMicroBatches())), phases_(phases) {
  addSections(program);
  addActors(program);
}

void Timeline::addSections(task::ProgramOp program) {
  std::vector<schedule::Unit> order = task::unitsOf(program);
  sectionAt_.assign(instances_.count(), 0);
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
  sections_.push_back({"step", {}, {instances_.count() - 1}});
  for (auto actor : program.getBody().getOps<task::ActorOp>()) {
    Actor &it = actors_.emplace_back();
    it.section = actor.getSection() == task::Section::Micro   ? sectionOf.lookup(actor.getUnit().value_or("F"))
                 : actor.getSection() == task::Section::Begin ? 0
                                                              : int64_t(sections_.size()) - 1;
  }
}

void Timeline::addActors(task::ProgramOp program) {
  std::vector<std::vector<size_t>> members(sections_.size());
  auto actors = llvm::to_vector(program.getBody().getOps<task::ActorOp>());
  for (size_t a = 0; a < actors.size(); ++a) {
    if (computes(a)) {
      members[actors_[a].section].push_back(a);
    }
  }
  std::vector<int64_t> lengths;
  for (size_t s = 0; s < sections_.size();) {
    int64_t length = 1;
    for (size_t a : members[s]) {
      actors_[a].span.first = length;
      for (Operation &op : actors[a].getBody().front()) {
        // The collectives of an actor run at once.
        Operation *before = op.getPrevNode();
        bool joins = before && llvm::isa<task::CollectiveOp>(op) && llvm::isa<task::CollectiveOp>(before);
        positionOf_[&op] = joins ? length - 2 : length;
        length += joins ? 0 : 2;
      }
      actors_[a].span.last = length - 2;
    }
    int64_t phases = isOnce(int64_t(s)) ? 1 : phases_;
    lengths.insert(lengths.end(), phases, length);
    s += phases;
  }
  // In the order in which they come first.
  auto order = llvm::to_vector(llvm::seq<size_t>(0, sections_.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(sections_[a].instances[0], a) < std::pair(sections_[b].instances[0], b);
  });
  for (size_t s : order) {
    sections_[s].span = {positions_, positions_ + lengths[s] - 1};
    positions_ += lengths[s];
  }
}

Moment Timeline::momentOf(int64_t section, int64_t microBatch, int64_t position) const {
  if (isOnce(section)) {
    return {sections_[section].instances[0], position + sections_[section].span.first};
  }
  const Section &phase = sections_[section + microBatch % phases_];
  return {phase.instances[microBatch / phases_], position + phase.span.first};
}

Moment Timeline::momentOf(Tick tick, int64_t position) const {
  return {tick.instance, position + sections_[sectionAt_[tick.instance]].span.first};
}

std::pair<Moment, Moment> Timeline::reachOf(Act act) const {
  const Order::Reach &reach = order_.reachOf(index_, act);
  return {reach.after ? momentOf(*reach.after, actors_[reach.after->actor].span.last + 1) : beginning(),
          reach.before ? momentOf(*reach.before, actors_[reach.before->actor].span.first - 1) : end()};
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
