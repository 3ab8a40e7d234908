// Static offsets for all buffers of a program.
#include "compiler/passes/memory/passes.h"
#include "compiler/passes/memory/placement.h"

namespace weft::compiler {
#define GEN_PASS_DEF_MEMORYOFFSETS
#include "compiler/passes/memory/Passes.h.inc"
namespace {

constexpr int64_t kAlignment = 64;

struct MemoryOffsets : impl::MemoryOffsetsBase<MemoryOffsets> {
  void runOnOperation() override {
    task::ProgramOp program = getOperation();
    Timeline timeline(program);
    Liveness liveness(program, timeline);
    std::vector<task::BufferOp> buffers;
    std::vector<Block> blocks;
    for (auto buffer : program.getBody().getOps<task::BufferOp>()) {
      int64_t bytes = task::localBytesOf(task::tensorOf(buffer), program.getPlacement());
      bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment * int64_t(buffer.getSlots());
      buffers.push_back(buffer);
      blocks.push_back({bytes, liveness.of(buffer)});
    }
    program.setArenaBytes(place(blocks, timeline.positions()));
    program.setLowerBoundBytes(mostLive(blocks, timeline.positions()));
    for (auto [buffer, block] : llvm::zip(buffers, blocks)) {
      buffer.setOffset(block.offset);
    }
  }
};

} // namespace
} // namespace weft::compiler
