// Static offsets for all buffers of a program.
#include "compiler/passes/memory/liveness.h"
#include "compiler/passes/memory/passes.h"

namespace weft::compiler {
#define GEN_PASS_DEF_MEMORYOFFSETS
#include "compiler/passes/memory/Passes.h.inc"
namespace {

constexpr int64_t kAlignment = 64;

struct Item {
  task::BufferOp buffer;
  int64_t bytes;
  int64_t first, last; // inclusive
  int64_t offset = 0;
};

// Places one item at the lowest offset of the tightest gap between those that
// live at the same time. `placed` is ordered by offset.
void place(Item &item, std::vector<const Item *> &placed) {
  int64_t best = -1, bestGap = 0, end = 0;
  for (const Item *other : placed) {
    if (other->last < item.first || item.last < other->first) {
      continue;
    }
    int64_t gap = other->offset - end;
    if (gap >= item.bytes && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, other->offset + other->bytes);
  }
  item.offset = best >= 0 ? best : end;
  auto at = std::upper_bound(placed.begin(), placed.end(), item.offset,
                             [](int64_t offset, const Item *other) { return offset < other->offset; });
  placed.insert(at, &item);
}

struct MemoryOffsets : impl::MemoryOffsetsBase<MemoryOffsets> {
  void runOnOperation() override {
    task::ProgramOp program = getOperation();
    Liveness liveness(program);
    std::vector<Item> items;
    for (auto buffer : program.getBody().getOps<task::BufferOp>()) {
      Life life = liveness.of(buffer);
      int64_t bytes = task::localBytesOf(task::tensorOf(buffer), program.getPlacement());
      bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment * int64_t(buffer.getSlots());
      bool always = life.always || life.first < 0;
      items.push_back({buffer, bytes, always ? 0 : life.first, always ? liveness.positions() : life.last});
    }
    std::vector<Item *> order;
    for (Item &item : items) {
      order.push_back(&item);
    }
    llvm::sort(order, [](const Item *a, const Item *b) { return a->bytes != b->bytes ? a->bytes > b->bytes : a < b; });
    std::vector<const Item *> placed;
    int64_t arena = 0;
    for (Item *item : order) {
      place(*item, placed);
      arena = std::max(arena, item->offset + item->bytes);
    }
    mlir::Builder builder(&getContext());
    std::vector<int64_t> change(liveness.positions() + 2, 0);
    for (Item &item : items) {
      item.buffer.setOffset(item.offset);
      change[item.first] += item.bytes;
      change[item.last + 1] -= item.bytes;
    }
    int64_t live = 0, most = 0;
    for (int64_t delta : change) {
      live += delta;
      most = std::max(most, live);
    }
    program.setArenaBytes(arena);
    program.setLowerBoundBytes(most);
  }
};

} // namespace
} // namespace weft::compiler
