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

// So many micro-batches of a buffer may lie in places of their own, and if a slot has at least this share of the arena:
// more make the plan longer than they make the arena smaller.
constexpr int64_t kMostPhases[] = {16, 12};
constexpr int64_t kLeastShare = 10000;
// An arena this much above what is live at once is small enough without.
constexpr double kEnough = 1.01;

// With fewer places than micro-batches, it matters whether what is under way divides their number.
llvm::SmallVector<int64_t, 2> phasesOf(int64_t microBatches) {
  return microBatches <= kMostPhases[0] ? llvm::SmallVector<int64_t, 2>{microBatches}
                                        : llvm::to_vector<2>(llvm::ArrayRef(kMostPhases));
}

bool meet(const Life &a, const Life &b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size(); a[i].last < b[j].last ? ++i : ++j) {
    if (a[i].first <= b[j].last && b[j].first <= a[i].last) {
      return true;
    }
  }
  return false;
}

// Where the slots of buffers go.
struct Layout {
  std::vector<Block> blocks;   // buffer after buffer
  std::vector<int64_t> counts; // blocks of each buffer: one, with all its slots, or one a phase
  int64_t positions = 0;
  int64_t arena = 0;
};

// With several phases, what is of one micro-batch at a time and has at least `least` bytes has a block for each.
Layout makeBlocks(task::ProgramOp program, const Order &order, size_t index, int64_t phases, int64_t least) {
  Timeline timeline(program, order, index, phases > 1 ? int64_t(program.getMicroBatches()) : 1);
  Liveness liveness(program, timeline);
  Layout layout;
  std::vector<std::pair<int32_t, Liveness::Part>> passed;
  layout.positions = timeline.positions();
  for (auto buffer : program.getBody().getOps<task::BufferOp>()) {
    int64_t bytes = task::localBytesOf(task::tensorOf(buffer), program.getPlacement());
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    // Slots that some act may wait for are a part of the order.
    int64_t slots = int64_t(buffer.getSlots()), count = order.isAmple(buffer) ? phases : slots;
    bool apart = phases > 1 && bytes >= least && slots <= phases && count > 1 && liveness.isOfMicroBatch(buffer);
    layout.counts.push_back(apart ? count : 1);
    if (liveness.isPassed(buffer) && !task::isState(buffer) && (apart || slots == 1)) {
      for (int64_t slot = 0, all = apart ? count : 1; slot < all; ++slot) {
        passed.push_back({int32_t(layout.blocks.size() + slot), {buffer, slot, all}});
      }
    }
    for (int64_t slot = 0; apart && slot < count; ++slot) {
      layout.blocks.push_back({bytes,
                               liveness.ofMicroBatches(buffer, slot, count),
                               liveness.startOf(buffer, slot),
                               liveness.isKept(buffer),
                               {}});
    }
    if (!apart) {
      layout.blocks.push_back(
          {bytes * slots, liveness.of(buffer), liveness.startOf(buffer, 0), liveness.isKept(buffer), {}});
    }
  }
  for (auto &[a, partOfA] : passed) {
    for (auto &[b, partOfB] : passed) {
      if (a < b && meet(layout.blocks[a].life, layout.blocks[b].life) && liveness.isApart(partOfA, partOfB)) {
        layout.blocks[a].apart.push_back(b);
        layout.blocks[b].apart.push_back(a);
      }
    }
  }
  for (Block &block : layout.blocks) {
    llvm::sort(block.apart);
  }
  return layout;
}

struct MemoryOffsets : impl::MemoryOffsetsBase<MemoryOffsets> {
  void runOnOperation() override {
    auto programs = llvm::to_vector(getOperation().getOps<task::ProgramOp>());
    Order order = orderOf(programs);
    mlir::parallelFor(&getContext(), 0, programs.size(), [&](size_t i) { setOffsets(programs[i], order, i); });
  }

private:
  // Slots that make receives wait keep less, but a place for each micro-batch can be where it fits.
  static Order orderOf(llvm::ArrayRef<task::ProgramOp> programs) {
    Order reused(programs, Order::Slots::kReused);
    if (reused.isAmple()) {
      return reused;
    }
    Order ample(programs, Order::Slots::kAmple);
    auto live = [&](const Order &order) {
      int64_t bytes = 0;
      for (auto [i, program] : llvm::enumerate(programs)) {
        Layout layout =
            makeBlocks(program, order, i, phasesOf(int64_t(task::ProgramOp(program).getMicroBatches()))[0], 0);
        bytes += mostLive(layout.blocks, layout.positions);
      }
      return bytes;
    };
    return live(ample) < live(reused) ? ample : reused;
  }

  static void setOffsets(task::ProgramOp program, const Order &order, size_t index) {
    Layout best = makeBlocks(program, order, index, 1, 0);
    int64_t microBatches = int64_t(program.getMicroBatches());
    bool apart = program.getUnits() && microBatches > 1;
    best.arena = place(best.blocks, best.positions, apart ? Effort::kNone : Effort::kMuch);
    for (int64_t phases : apart ? phasesOf(microBatches) : llvm::SmallVector<int64_t, 2>()) {
      Layout layout = makeBlocks(program, order, index, phases, best.arena / kLeastShare);
      // Fewer offsets are simpler, if they cost little.
      if (double(best.arena) > kEnough * double(mostLive(layout.blocks, layout.positions))) {
        layout.arena = place(layout.blocks, layout.positions, phases == microBatches ? Effort::kMuch : Effort::kSome);
        if (layout.arena < best.arena) {
          best = std::move(layout);
        }
      }
    }
    program.setArenaBytes(best.arena);
    program.setLowerBoundBytes(mostLive(best.blocks, best.positions));
    const Block *block = best.blocks.data();
    for (auto [buffer, count] : llvm::zip(program.getBody().getOps<task::BufferOp>(), best.counts)) {
      buffer.setOffset(block->offset);
      if (count > 1) {
        buffer.setSlots(count);
        buffer.setSlotOffsets(
            llvm::map_to_vector(llvm::ArrayRef(block, count), [](const Block &it) { return it.offset; }));
      }
      block += count;
    }
  }
};

} // namespace
} // namespace weft::compiler
