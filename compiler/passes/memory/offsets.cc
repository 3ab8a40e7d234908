// Static offsets for all buffers of a program.
#include "compiler/passes/memory/passes.h"
#include "compiler/passes/memory/placement.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Threading.h"

namespace weft::compiler {
#define GEN_PASS_DEF_MEMORYOFFSETS
#include "compiler/passes/memory/Passes.h.inc"
namespace {

constexpr int64_t kAlignment = 64;

// What one micro-batch after another has in turn: so many places at most, unless every micro-batch has its own. A slot
// has at least this share of the arena: more offsets make the plan longer than they make the arena smaller.
constexpr int64_t kMostInTurn = 48;
constexpr int64_t kMostOfOwn = 64;
constexpr int64_t kLeastShare = 10000;
// Two orders are alike if one keeps no more than this much more live on all stages together, and that much on each, in
// steps of so many micro-batches.
constexpr double kHardly = 1.005, kLittle = 1.02;
constexpr int64_t kMostCompared = 16;
// Slots lie side by side if that needs no more than this much more than what is live.
constexpr double kSimpler = 1.01;
// Of numbers of places that need about the same, in such parts of an arena, the smallest; so many are tried.
constexpr int64_t kAlike = 200;
constexpr size_t kTried = 4;

// How offsets are searched for: round after round with the best placements so far, until the best is so little above
// what is live.
struct Round {
  size_t placements = 1;
  int64_t work = 0; // for each
  double above = 1; // no round from here on if the arena is no more than this
};
constexpr Round kRounds[] = {{kTried + 2, 100'000'000, 1.01},
                             {3, 500'000'000, 1.015},
                             {3, 800'000'000, 1.02},
                             {2, 1'500'000'000, 1.025},
                             {2, 1'500'000'000, 1.03}};

// How many units of a stage are under way at once: begun by a forward, not ended by a backward.
int64_t underWay(task::ProgramOp program) {
  int64_t now = 0, most = 0;
  for (const schedule::Unit &unit : task::unitsOf(program)) {
    now += unit.kind == schedule::UnitKind::Forward ? 1 : unit.kind == schedule::UnitKind::Backward ? -1 : 0;
    most = std::max(most, now);
  }
  return most;
}

// Numbers of places that may suit a pipeline: up to as many as there are stages, since so many micro-batches are under
// way in a stage; and multiples of that, as interleaved chunks come in such groups.
llvm::SmallVector<int64_t> numbersFor(int64_t microBatches, int64_t stages) {
  llvm::SmallVector<int64_t> numbers;
  for (int64_t i = 2; i < microBatches && i <= kMostInTurn; ++i) {
    if (i <= stages || i % stages == 0) {
      numbers.push_back(i);
    }
  }
  return numbers;
}

// What is tried whatever it promises: in interleaved chunks, each unit takes over the place of one that has ended, and
// when each has been in each place once, all begins again. With a place of its own for each micro-batch, nothing is in
// the way.
llvm::SmallVector<int64_t> numbersAnyway(int64_t microBatches, int64_t stages, int64_t underWay) {
  llvm::SmallVector<int64_t> numbers;
  for (int64_t i : {std::min(stages * underWay, microBatches), microBatches}) {
    if (i <= kMostOfOwn && !llvm::is_contained(numbers, i)) {
      numbers.push_back(i);
    }
  }
  return numbers;
}

bool meet(const Life &a, const Life &b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size(); a[i].last < b[j].last ? ++i : ++j) {
    if (a[i].first <= b[j].last && b[j].first <= a[i].last) {
      return true;
    }
  }
  return false;
}

// What the slots of buffers need.
struct Slots {
  std::vector<Block> blocks;   // buffer after buffer
  std::vector<int64_t> counts; // blocks of each buffer: one, with all its slots, or one a phase
  int64_t positions = 0;
};

// Where they go.
struct Layout {
  explicit Layout(Slots slots) : counts(std::move(slots.counts)), placement(std::move(slots.blocks), slots.positions) {}
  int64_t arena() const { return placement.arena(); }

  std::vector<int64_t> counts;
  Placement placement;
};

// With several phases, what is of one micro-batch at a time and has at least `least` bytes has a block for each.
Slots slotsOf(task::ProgramOp program, const Order &order, size_t index, int64_t phases, int64_t least) {
  Timeline timeline(program, order, index, phases > 1 ? int64_t(program.getMicroBatches()) : 1);
  Liveness liveness(program, timeline);
  Slots made;
  std::vector<std::pair<int32_t, Liveness::Part>> passed;
  made.positions = timeline.positions();
  for (auto buffer : program.getBody().getOps<task::BufferOp>()) {
    int64_t bytes = task::localBytesOf(task::tensorOf(buffer), program.getPlacement());
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    // Slots that some act may wait for are a part of the order.
    int64_t slots = int64_t(buffer.getSlots()), count = order.isAmple(buffer) ? phases : slots;
    bool apart = phases > 1 && bytes >= least && slots <= phases && count > 1 && liveness.isOfMicroBatch(buffer);
    made.counts.push_back(apart ? count : 1);
    if (liveness.isPassed(buffer) && !task::isState(buffer) && (apart || slots == 1)) {
      for (int64_t slot = 0, all = apart ? count : 1; slot < all; ++slot) {
        passed.push_back({int32_t(made.blocks.size() + slot), {buffer, slot, all}});
      }
    }
    for (int64_t slot = 0; apart && slot < count; ++slot) {
      made.blocks.push_back({bytes,
                             liveness.ofMicroBatches(buffer, slot, count),
                             liveness.startOf(buffer, slot),
                             liveness.isKept(buffer),
                             {}});
    }
    if (!apart) {
      made.blocks.push_back(
          {bytes * slots, liveness.of(buffer), liveness.startOf(buffer, 0), liveness.isKept(buffer), {}});
    }
  }
  for (auto &[a, partOfA] : passed) {
    for (auto &[b, partOfB] : passed) {
      if (a < b && meet(made.blocks[a].life, made.blocks[b].life) && liveness.isApart(partOfA, partOfB)) {
        made.blocks[a].apart.push_back(b);
        made.blocks[b].apart.push_back(a);
      }
    }
  }
  for (Block &block : made.blocks) {
    llvm::sort(block.apart);
  }
  return made;
}

int64_t leastOf(llvm::ArrayRef<Layout> layouts) {
  auto least = std::numeric_limits<int64_t>::max();
  for (const Layout &layout : layouts) {
    least = std::min(least, layout.placement.least());
  }
  return least;
}

// Searches for offsets, and puts the best layout first.
void improve(llvm::MutableArrayRef<Layout> layouts) {
  int64_t least = leastOf(layouts);
  int64_t best = std::numeric_limits<int64_t>::max();
  for (const Round &round : kRounds) {
    auto isEnough = [&] { return double(best) <= round.above * double(least); };
    for (Layout &layout : layouts.take_front(std::min(layouts.size(), round.placements))) {
      if (!isEnough()) {
        layout.placement.start();
        best = std::min(best, layout.arena());
      }
      if (!isEnough()) {
        layout.placement.search(round.work);
        best = std::min(best, layout.arena());
      }
    }
    llvm::stable_sort(layouts, [](const Layout &a, const Layout &b) { return a.arena() < b.arena(); });
  }
}

struct MemoryOffsets : impl::MemoryOffsetsBase<MemoryOffsets> {
  void runOnOperation() override {
    auto programs = llvm::to_vector(getOperation().getOps<task::ProgramOp>());
    Order order = orderOf(programs);
    mlir::parallelFor(&getContext(), 0, programs.size(),
                      [&](size_t i) { setOffsets(programs[i], order, i, int64_t(programs.size())); });
  }

private:
  // Slots that make receives wait may keep less. If they hardly do, a place for each micro-batch leaves more orders.
  static Order orderOf(llvm::ArrayRef<task::ProgramOp> programs) {
    Order reused(programs, Order::Slots::kReused);
    if (reused.isAmple()) {
      return reused;
    }
    Order ample(programs, Order::Slots::kAmple);
    double liveReused = 0, liveAmple = 0;
    bool alike = true;
    for (auto [i, program] : llvm::enumerate(programs)) {
      auto live = [&, i = i, program = program](const Order &order) {
        int64_t microBatches = int64_t(task::ProgramOp(program).getMicroBatches());
        Slots slots = slotsOf(program, order, i, std::min(microBatches, kMostCompared), 0);
        return double(mostLive(slots.blocks, slots.positions));
      };
      double few = live(reused), many = live(ample);
      liveReused += few;
      liveAmple += many;
      alike &= many <= kLittle * few;
    }
    return liveAmple < liveReused || (alike && liveAmple <= kHardly * liveReused) ? ample : reused;
  }

  static void setOffsets(task::ProgramOp program, const Order &order, size_t index, int64_t stages) {
    Layout side(slotsOf(program, order, index, 1, 0));
    if (!program.getUnits() || program.getMicroBatches() == 1) {
      improve(side);
      set(program, side);
      return;
    }
    side.placement.start();
    llvm::SmallVector<Layout, 0> inTurn = layoutsInTurn(program, order, index, stages, side.arena());
    // Fewer offsets are simpler, if they cost little.
    if (double(side.arena()) > kSimpler * double(leastOf(inTurn))) {
      improve(inTurn);
    }
    set(program, inTurn.front().arena() < side.arena() ? inTurn.front() : side);
  }

  // With the slots of a buffer in places of their own: those that promise most, where side by side they need `arena`.
  static llvm::SmallVector<Layout, 0> layoutsInTurn(task::ProgramOp program, const Order &order, size_t index,
                                                    int64_t stages, int64_t arena) {
    auto layoutOf = [&](int64_t places) { return Layout(slotsOf(program, order, index, places, arena / kLeastShare)); };
    int64_t microBatches = int64_t(program.getMicroBatches());
    llvm::SmallVector<int64_t> anyway = numbersAnyway(microBatches, stages, underWay(program));
    std::vector<std::pair<int64_t, int64_t>> promising; // the parts that they need, and how many
    for (int64_t places : numbersFor(microBatches, stages)) {
      if (!llvm::is_contained(anyway, places)) {
        promising.push_back({layoutOf(places).placement.sketch() * kAlike / arena, places});
      }
    }
    llvm::sort(promising);
    llvm::SmallVector<Layout, 0> layouts;
    for (auto [parts, places] : llvm::ArrayRef(promising).take_front(std::min(promising.size(), kTried))) {
      layouts.push_back(layoutOf(places));
    }
    for (int64_t places : anyway) {
      layouts.push_back(layoutOf(places));
    }
    return layouts;
  }

  static void set(task::ProgramOp program, const Layout &layout) {
    program.setArenaBytes(layout.arena());
    program.setLowerBoundBytes(layout.placement.least());
    llvm::ArrayRef<int64_t> offsets = layout.placement.offsets();
    for (auto [buffer, count] : llvm::zip(program.getBody().getOps<task::BufferOp>(), layout.counts)) {
      buffer.setOffset(offsets.front());
      if (count > 1) {
        buffer.setSlots(count);
        buffer.setSlotOffsets(offsets.take_front(count));
      }
      offsets = offsets.drop_front(count);
    }
  }
};

} // namespace
} // namespace weft::compiler
