#include "compiler/passes/memory/liveness.h"

namespace weft::compiler {

using mlir::Operation;
using mlir::Value;
using task::BufferKind;

Liveness::Liveness(task::ProgramOp program, const Timeline &timeline)
    : timeline_(timeline), microBatches_(int64_t(program.getMicroBatches())) {
  addUses(program);
  for (auto &[root, use] : uses_) {
    BufferKind kind = root.getDefiningOp<task::BufferOp>().getKind();
    bool state = kind == BufferKind::Parameter || kind == BufferKind::Optimizer;
    if (state) {
      lives_[root] = {{0, timeline_.positions() - 1}};
    } else {
      lives_[root] = use.once || use.carried || !use.others.empty() ? ofMoments(use) : ofUnits(use);
    }
  }
}

Life Liveness::of(Value root) const {
  auto it = lives_.find(root);
  return it != lives_.end() ? it->second : Life{{0, timeline_.positions() - 1}};
}

void Liveness::addUses(task::ProgramOp program) {
  for (auto [a, actor] : llvm::enumerate(program.getBody().getOps<task::ActorOp>())) {
    int64_t section = timeline_.sectionOf(a);
    for (Operation &op : actor.getBody().front()) {
      for (Value operand : op.getOperands()) {
        Use &use = uses_[task::rootOf(operand)];
        use.once |= actor.getSection() != task::Section::Micro;
        if (!timeline_.computes(a)) {
          if (use.others.empty() || use.others.back() != a) {
            use.others.push_back(a);
          }
          continue;
        }
        int64_t at = timeline_.positionOf(&op);
        auto *known = llvm::find_if(use.sections, [&](const auto &it) { return it.first == section; });
        if (known == use.sections.end()) {
          use.sections.push_back({section, {at, at}});
        } else {
          known->second = {std::min(known->second.first, at), std::max(known->second.last, at)};
        }
      }
      auto kernel = llvm::dyn_cast<task::KernelOp>(op);
      if (kernel && kernel.getName() == "accumulate") {
        uses_[task::rootOf(kernel.getOutputs()[0])].carried = true;
      }
    }
  }
  for (auto metric : program.getBody().getOps<task::MetricOp>()) {
    Use &use = uses_[task::rootOf(metric.getBuffer())];
    use.metric = use.once = true;
  }
}

const Liveness::Between &Liveness::between(const Use &use) {
  std::vector<int64_t> key;
  for (auto &[section, span] : use.sections) {
    key.push_back(section);
  }
  llvm::sort(key);
  auto [it, added] = between_.try_emplace(key);
  Between &found = it->second;
  if (!added) {
    return found;
  }
  llvm::ArrayRef<Timeline::Section> sections = timeline_.sections();
  found.begins.resize(sections.size());
  found.ends = found.whole = found.begins;
  for (int64_t i = 0; i < microBatches_; ++i) {
    auto instanceOf = [&](int64_t section) { return sections[section].instances[i]; };
    auto [first, last] = std::minmax_element(key.begin(), key.end(), [&](int64_t a, int64_t b) {
      return instanceOf(a) < instanceOf(b);
    });
    found.begins.set(*first);
    found.ends.set(*last);
    for (size_t s = 0; s < sections.size(); ++s) {
      if (llvm::any_of(sections[s].instances, [&](int64_t instance) {
            return instance > instanceOf(*first) && instance < instanceOf(*last);
          })) {
        found.whole.set(s);
      }
    }
  }
  return found;
}

Life Liveness::ofUnits(const Use &use) {
  const Between &units = between(use);
  llvm::SmallVector<Span> spans;
  for (auto [section, span] : use.sections) {
    Span all = timeline_.sections()[section].span;
    bool alone = use.sections.size() == 1;
    if (units.begins.test(section)) {
      spans.push_back({span.first, alone ? span.last : all.last});
    }
    if (units.ends.test(section)) {
      spans.push_back({alone ? span.first : all.first, span.last});
    }
  }
  return timeline_.unite(units.whole, std::move(spans));
}

std::pair<Moment, Moment> Liveness::hull(const Use &use, int64_t firstMicroBatch, int64_t lastMicroBatch) const {
  std::pair<Moment, Moment> all = {timeline_.end(), timeline_.beginning()};
  auto add = [&](Moment from, Moment to) { all = {std::min(all.first, from), std::max(all.second, to)}; };
  for (auto [s, span] : use.sections) {
    const Timeline::Section &section = timeline_.sections()[s];
    bool once = section.instances.size() == 1;
    add({section.instances[once ? 0 : firstMicroBatch], span.first},
        {section.instances[once ? 0 : lastMicroBatch], span.last});
  }
  for (size_t actor : use.others) {
    add(timeline_.reachOf(actor, firstMicroBatch).first, timeline_.reachOf(actor, lastMicroBatch).second);
  }
  if (use.metric) {
    all.second = timeline_.end();
  }
  return all;
}

Life Liveness::ofMoments(const Use &use) const {
  llvm::BitVector whole(timeline_.sections().size());
  llvm::SmallVector<Span> spans;
  auto add = [&](int64_t first, int64_t last) {
    auto [from, to] = hull(use, first, last);
    timeline_.cover(from, to, whole, spans);
  };
  if (use.once || use.carried) {
    add(0, microBatches_ - 1);
  } else {
    for (int64_t i = 0; i < microBatches_; ++i) {
      add(i, i);
    }
  }
  return timeline_.unite(whole, std::move(spans));
}

} // namespace weft::compiler
