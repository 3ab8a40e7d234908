#include "compiler/passes/memory/order.h"

#include "llvm/ADT/MapVector.h"

namespace weft::compiler {

Instances::Instances(task::ProgramOp program) : microBatches_(int64_t(program.getMicroBatches())) {
  llvm::StringMap<size_t> units;
  auto unitOf = [&](llvm::StringRef name) {
    auto [it, added] = units.try_emplace(name, units_.size());
    if (added) {
      units_.emplace_back(microBatches_, 0);
    }
    return it->second;
  };
  for (const schedule::Unit &unit : task::unitsOf(program)) {
    units_[unitOf(schedule::nameOf(unit))][unit.microBatch] = ++count_;
  }
  count_ += 2;
  for (auto actor : program.getBody().getOps<task::ActorOp>()) {
    actors_.push_back({actor.getStream() == task::StreamKind::Compute, actor.getSection() == task::Section::Micro,
                       actor.getSection() == task::Section::Begin, unitOf(actor.getUnit().value_or("F"))});
  }
}

Tick Instances::tickOf(Act act) const {
  const Actor &actor = actors_[act.actor];
  return {actor.micro ? units_[actor.unit][act.microBatch] : actor.begins ? 0 : count_ - 1, act.actor};
}

// A register that passes from or to a stream that does not compute.
struct Passing {
  mlir::Value root;
  size_t writer = 0, reader = 0;
  int64_t slots = 1;
  int64_t bytes = 0;

  bool isMicro(const Instances &instances) const { return instances.isMicro(writer) && instances.isMicro(reader); }
  // What fills the slot that the reader's act finds full.
  Act writes(const Instances &instances, int64_t microBatch) const {
    return {writer, isMicro(instances) ? microBatch : instances.actsOf(writer) - 1};
  }
  // Whether another act fills the slot when the reader has emptied it.
  bool isReused(const Instances &instances, int64_t microBatch) const {
    return isMicro(instances) && microBatch + slots < instances.actsOf(writer);
  }
};

namespace {

std::vector<Passing> passingsOf(task::ProgramOp program) {
  Instances instances(program);
  task::Registers registers(program);
  llvm::DenseMap<mlir::Value, size_t> writer;
  for (size_t a = 0; a < instances.actors(); ++a) {
    for (mlir::Value buffer : registers.writesOf(a)) {
      writer[buffer] = a;
    }
  }
  std::vector<Passing> passings;
  for (size_t reader = 0; reader < instances.actors(); ++reader) {
    for (mlir::Value buffer : registers.readsOf(reader)) {
      size_t from = writer.lookup(buffer);
      mlir::Value root = task::rootOf(buffer);
      if (!instances.computes(from) || !instances.computes(reader)) {
        passings.push_back({root, from, reader, int64_t(root.getDefiningOp<task::BufferOp>().getSlots()),
                            task::localBytesOf(task::tensorOf(root), program.getPlacement())});
      }
    }
  }
  return passings;
}

} // namespace

/// Each act carries a clock: of every stream of every program how many acts come before it in every execution (Mattern,
/// "Virtual time and global states of distributed systems", 1989). Of what computes, only acts that others wait for or
/// that wait for others have one.
class Clocks {
public:
  /// With slots reused of the roots that are `scarce` alone.
  Clocks(llvm::ArrayRef<task::ProgramOp> programs, llvm::ArrayRef<std::vector<Passing>> registers,
         const llvm::DenseSet<mlir::Value> &scarce) {
    for (auto [program, its] : llvm::zip(programs, registers)) {
      programs_.emplace_back(program);
      addPairs(programs_.back(), its, scarce);
      addStreams(programs_.back(), program);
    }
    addNodes();
    addTransfers(programs);
    run();
  }

  Order::Program actsOf(size_t program) const;

private:
  using Pair = std::pair<Act, Act>;
  struct Program {
    explicit Program(task::ProgramOp program) : instances(program) {}
    Instances instances;
    std::vector<Pair> pairs;
    std::vector<size_t> streamOf; // an actor each; the first one computes
    size_t streams = 1;
    size_t firstStream = 0;        // among all
    std::vector<size_t> firstNode; // of the acts of an actor that does not compute
    std::vector<Tick> ticks;       // of acts that compute, a node each
  };
  struct Node {
    size_t stream = 0;
    int32_t position = 0;
    int32_t waits = 0; // for so many
    std::vector<size_t> next;
  };

  static void addPairs(Program &it, llvm::ArrayRef<Passing> registers, const llvm::DenseSet<mlir::Value> &scarce);
  static void addStreams(Program &it, task::ProgramOp program);
  void addNodes();
  void addTransfers(llvm::ArrayRef<task::ProgramOp> programs);
  void addEdge(size_t early, size_t late) {
    nodes_[early].next.push_back(late);
    ++nodes_[late].waits;
  }
  size_t nodeOf(const Program &it, Act act) const;
  void run();
  llvm::MutableArrayRef<int32_t> clock(size_t node) {
    return llvm::MutableArrayRef(clocks_).slice(node * streams_.size(), streams_.size());
  }
  int32_t clock(size_t node, size_t stream) const { return clocks_[node * streams_.size() + stream]; }

  std::vector<Program> programs_;
  std::vector<std::vector<size_t>> streams_; // nodes in order
  std::vector<Node> nodes_;
  std::vector<int32_t> clocks_; // node after node
};

void Clocks::addPairs(Program &it, llvm::ArrayRef<Passing> registers, const llvm::DenseSet<mlir::Value> &scarce) {
  for (const Passing &passing : registers) {
    for (int64_t i = 0; i < it.instances.actsOf(passing.reader); ++i) {
      it.pairs.push_back({passing.writes(it.instances, i), {passing.reader, i}});
      if (passing.isReused(it.instances, i) && scarce.contains(passing.root)) {
        it.pairs.push_back({{passing.reader, i}, {passing.writer, i + passing.slots}});
      }
    }
  }
}

void Clocks::addStreams(Program &it, task::ProgramOp program) {
  llvm::MapVector<llvm::StringRef, size_t> lanes;
  for (auto actor : program.getBody().getOps<task::ActorOp>()) {
    bool computes = actor.getStream() == task::StreamKind::Compute;
    llvm::StringRef lane = actor.getLane().value_or(task::stringifyStreamKind(actor.getStream()));
    it.streamOf.push_back(computes ? 0 : lanes.try_emplace(lane, lanes.size() + 1).first->second);
  }
  it.streams = lanes.size() + 1;
}

// The acts of each stream in turn.
void Clocks::addNodes() {
  for (Program &it : programs_) {
    const Instances &instances = it.instances;
    it.firstStream = streams_.size();
    streams_.resize(streams_.size() + it.streams);
    for (auto &[early, late] : it.pairs) {
      for (Act act : {early, late}) {
        if (instances.computes(act.actor)) {
          it.ticks.push_back(instances.tickOf(act));
        }
      }
    }
    llvm::sort(it.ticks);
    it.ticks.erase(std::unique(it.ticks.begin(), it.ticks.end()), it.ticks.end());
    std::vector<std::vector<std::pair<Tick, size_t>>> acts(it.streams);
    size_t node = nodes_.size();
    for (Tick tick : it.ticks) {
      acts[0].push_back({tick, node++});
    }
    for (size_t a = 0; a < instances.actors(); ++a) {
      it.firstNode.push_back(node);
      for (int64_t i = 0; i < instances.actsOf(a) && !instances.computes(a); ++i) {
        acts[it.streamOf[a]].push_back({instances.tickOf({a, i}), node++});
      }
    }
    nodes_.resize(node);
    for (size_t s = 0; s < it.streams; ++s) {
      llvm::sort(acts[s]);
      for (auto [position, act] : llvm::enumerate(acts[s])) {
        nodes_[act.second].stream = it.firstStream + s;
        nodes_[act.second].position = int32_t(position);
        streams_[it.firstStream + s].push_back(act.second);
        if (position > 0) {
          addEdge(acts[s][position - 1].second, act.second);
        }
      }
    }
    for (auto &[early, late] : it.pairs) {
      addEdge(nodeOf(it, early), nodeOf(it, late));
    }
  }
}

size_t Clocks::nodeOf(const Program &it, Act act) const {
  if (!it.instances.computes(act.actor)) {
    return it.firstNode[act.actor] + act.microBatch;
  }
  size_t position = llvm::lower_bound(it.ticks, it.instances.tickOf(act)) - it.ticks.begin();
  return streams_[it.firstStream][position];
}

// Whether each rank certainly receives from the one of its own index alone (runtime/plan/tiles.h).
bool isStraight(task::ProgramOp from, task::SendOp send, task::ProgramOp to, task::ReceiveOp receive) {
  auto sbpOf = [](mlir::Value buffer) { return ir::sbpOf(task::tensorOf(buffer)); };
  return from.getPlacement().getSizes() == to.getPlacement().getSizes() &&
         sbpOf(send.getBuffer()) == sbpOf(receive.getBuffer());
}

// A send before its receive, if the transfer is straight.
void Clocks::addTransfers(llvm::ArrayRef<task::ProgramOp> programs) {
  struct End {
    size_t program = 0, actor = 0;
    mlir::Operation *op = nullptr;
  };
  llvm::DenseMap<int64_t, End> sends;
  auto forEach = [&](auto kind, auto act) {
    for (auto [p, program] : llvm::enumerate(programs)) {
      task::ProgramOp op = program;
      for (auto [a, actor] : llvm::enumerate(op.getBody().getOps<task::ActorOp>())) {
        for (auto end : actor.getBody().getOps<decltype(kind)>()) {
          act(int64_t(end.getTransfer()), End{p, a, end});
        }
      }
    }
  };
  forEach(task::SendOp(), [&](int64_t transfer, End end) { sends[transfer] = end; });
  forEach(task::ReceiveOp(), [&](int64_t transfer, End end) {
    auto it = sends.find(transfer);
    if (it == sends.end() || !isStraight(programs[it->second.program], llvm::cast<task::SendOp>(it->second.op),
                                         programs[end.program], llvm::cast<task::ReceiveOp>(end.op))) {
      return;
    }
    const Program &from = programs_[it->second.program], &to = programs_[end.program];
    int64_t acts = std::min(from.instances.actsOf(it->second.actor), to.instances.actsOf(end.actor));
    for (int64_t i = 0; i < acts; ++i) {
      addEdge(nodeOf(from, {it->second.actor, i}), nodeOf(to, {end.actor, i}));
    }
  });
}

void Clocks::run() {
  clocks_.assign(nodes_.size() * streams_.size(), 0);
  std::vector<size_t> ready;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].waits == 0) {
      ready.push_back(n);
    }
  }
  while (!ready.empty()) {
    size_t n = ready.back();
    ready.pop_back();
    for (size_t next : nodes_[n].next) {
      llvm::MutableArrayRef<int32_t> late = clock(next);
      for (auto [a, b] : llvm::zip(late, clock(n))) {
        a = std::max(a, b);
      }
      late[nodes_[n].stream] = std::max(late[nodes_[n].stream], nodes_[n].position + 1);
      if (--nodes_[next].waits == 0) {
        ready.push_back(next);
      }
    }
  }
}

Order::Program Clocks::actsOf(size_t program) const {
  const Program &it = programs_[program];
  Order::Program order{it.instances, {}, {}};
  size_t base = it.firstNode.empty() ? 0 : it.firstNode.front();
  for (size_t node : it.firstNode) {
    order.first.push_back(node - base);
  }
  // Of an act that waits for itself nothing is known.
  auto ended = [&](size_t node, size_t stream) {
    return nodes_[node].waits > 0 ? 0 : clock(node, it.firstStream + stream);
  };
  for (size_t s = 1; s < it.streams; ++s) {
    const std::vector<size_t> &nodes = streams_[it.firstStream + s];
    order.others.resize(order.others.size() + nodes.size());
  }
  for (size_t s = 1; s < it.streams; ++s) {
    const std::vector<size_t> &nodes = streams_[it.firstStream + s];
    for (size_t node : nodes) {
      Order::Other &act = order.others[node - base];
      act.stream = s;
      act.position = nodes_[node].position;
      for (size_t other = 0; other < it.streams; ++other) {
        act.ended.push_back(ended(node, other));
      }
      if (act.ended[0] > 0) {
        act.reach.after = it.ticks[act.ended[0] - 1];
      }
    }
    int32_t behind = 0;
    for (auto [tick, node] : llvm::zip(it.ticks, streams_[it.firstStream])) {
      for (; behind < ended(node, s); ++behind) {
        order.others[nodes[behind] - base].reach.before = tick;
      }
    }
  }
  return order;
}

Order::Order(llvm::ArrayRef<task::ProgramOp> programs, Slots slots) {
  std::vector<std::vector<Passing>> passings;
  llvm::transform(programs, std::back_inserter(passings), passingsOf);
  auto build = [&] {
    Clocks clocks(programs, passings, scarce_);
    programs_.clear();
    for (size_t p = 0; p < programs.size(); ++p) {
      programs_.push_back(clocks.actsOf(p));
    }
  };
  // Without the reuse of slots first: what is in order then is so with it.
  build();
  if (slots == Slots::kAmple) {
    return;
  }
  std::vector<std::vector<Passing>> waits;
  for (size_t p = 0; p < programs.size(); ++p) {
    waits.push_back(waitsOf(p, passings[p]));
    insertFew(instances(p), waits.back());
  }
  if (scarce_.empty()) {
    return;
  }
  build();
  // What still may be filled too early.
  size_t few = scarce_.size();
  for (size_t p = 0; p < programs.size(); ++p) {
    for (const Passing &it : waitsOf(p, waits[p])) {
      scarce_.insert(it.root);
    }
  }
  if (scarce_.size() > few) {
    build();
  }
}

std::vector<Passing> Order::waitsOf(size_t program, llvm::ArrayRef<Passing> passings) const {
  const Instances &its = instances(program);
  std::vector<Passing> waits;
  llvm::copy_if(passings, std::back_inserter(waits), [&](const Passing &it) {
    return llvm::any_of(llvm::seq<int64_t>(0, its.actsOf(it.reader)), [&](int64_t i) {
      return it.isReused(its, i) && !isBefore(program, {it.reader, i}, {it.writer, i + it.slots});
    });
  });
  return waits;
}

// What an actor writes it writes at once: it is enough if it waits for one of what has as many slots, that which is
// read last. Of several, the smallest.
void Order::insertFew(const Instances &its, llvm::ArrayRef<Passing> waits) {
  auto rank = [&](const Passing &it) { return std::pair(its.tickOf({it.reader, 0}), -it.bytes); };
  std::map<std::pair<size_t, int64_t>, const Passing *> chosen;
  for (const Passing &it : waits) {
    const Passing *&best = chosen[{it.writer, it.slots}];
    best = best == nullptr || rank(*best) < rank(it) ? &it : best;
  }
  for (const auto &[key, it] : chosen) {
    scarce_.insert(it->root);
  }
}

bool Order::isBefore(size_t program, Act early, Act late) const {
  const Instances &its = instances(program);
  if (its.computes(early.actor) && its.computes(late.actor)) {
    return its.tickOf(early) < its.tickOf(late);
  }
  if (its.computes(early.actor)) {
    const std::optional<Tick> &after = reachOf(program, late).after;
    return after && its.tickOf(early) <= *after;
  }
  if (its.computes(late.actor)) {
    const std::optional<Tick> &before = reachOf(program, early).before;
    return before && *before <= its.tickOf(late);
  }
  const Other &other = otherOf(program, early);
  return otherOf(program, late).ended[other.stream] > other.position;
}

} // namespace weft::compiler
