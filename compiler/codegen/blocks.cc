#include "compiler/codegen/blocks.h"

#include <algorithm>

#include "llvm/Support/MathExtras.h"
#include "runtime/code/levels.h"

namespace weft::compiler {
namespace {

constexpr int64_t kPackBytes = 16, kMostPack = 8;
// Neighbours of a thread in sums: 16 bytes of float32.
constexpr int64_t kSummedPack = 4;
// Numbers of a row that a thread keeps in registers, of all tensors and sums together, beside as many that it computes
// with: a norm's gradient in bfloat16 spilled with 64, of 255 registers.
constexpr int64_t kKeptNumbers = 48;
// Turns that have code of their own, and sums over rows of them all: 4096 places and one sum are 4 turns and 16
// numbers.
constexpr int64_t kUnrolledTurns = 8, kUnrolledSums = 32;
// Where rows are summed: rows that are worth a block, and blocks that fill a GPU: four on each of an H100's 132
// multiprocessors. With two, a norm's gradient of 8192 rows of 768 moved 1.3 TB/s on an H200.
constexpr int64_t kSummedRows = 8, kSumBlocks = 512;

// Packs of a thread of a kernel for several tensors: a block of 4096 numbers of float32 finds its tensor once.
constexpr int64_t kBatchTurns = 4;

// Eight numbers of bfloat16, four of float32; eight of bytes, whose kernels have wider ones too.
int64_t packOf(cell::KernelOp kernel) {
  unsigned narrowest = 32;
  for (mlir::Value argument : kernel.getBody().getArguments()) {
    narrowest = std::min(narrowest, argument.getType().getIntOrFloatBitWidth());
  }
  for (mlir::Value value : kernel.getYielded()) {
    narrowest = std::min(narrowest, value.getType().getIntOrFloatBitWidth());
  }
  return std::min<int64_t>(kPackBytes * 8 / narrowest, kMostPack);
}

} // namespace

Blocks blocksOf(cell::KernelOp kernel, const Loops &loops) {
  const int64_t threads = code::kGpuThreads;
  const bool byRows = loops.reduces || loops.sums > 0;
  Blocks blocks{byRows ? kSummedPack : packOf(kernel), 0, 0, 1, 1, false, false, 1, 1};
  if (kernel.getBatch()) {
    blocks.turns = kBatchTurns;
    return blocks;
  }
  // A row that does not fill a warp is cut more finely.
  while (loops.row.extent % blocks.pack != 0 || (byRows && blocks.pack > 1 && loops.row.extent / blocks.pack < 32)) {
    blocks.pack /= 2;
  }
  blocks.packs = loops.row.extent / blocks.pack;
  if (!byRows) {
    return blocks;
  }
  blocks.threads = std::min<int64_t>(int64_t(llvm::PowerOf2Ceil(uint64_t(blocks.packs))), threads);
  const int64_t turns = llvm::divideCeil(uint64_t(blocks.packs), uint64_t(blocks.threads));
  (loops.reduces ? blocks.turns : blocks.tiles) = turns;
  int64_t walked = int64_t(loops.sums); // tensors of which a thread has numbers
  for (unsigned input = 0; input < kernel.getNumInputs(); ++input) {
    walked += loops.row.strides[input] != 0;
  }
  const int64_t places = blocks.turns * blocks.pack;
  blocks.keeps = places * walked <= kKeptNumbers;
  blocks.unrolls = blocks.keeps || (blocks.turns <= kUnrolledTurns && places * int64_t(loops.sums) <= kUnrolledSums);
  blocks.rowsAtOnce = threads / blocks.threads;
  const int64_t rows = loops.rows();
  blocks.rowBlocks = loops.sums == 0 ? int64_t(llvm::divideCeil(uint64_t(rows), uint64_t(blocks.rowsAtOnce)))
                                     : std::clamp<int64_t>(rows / (kSummedRows * blocks.rowsAtOnce), 1, kSumBlocks);
  return blocks;
}

int64_t Blocks::batchPlaces() const { return code::kGpuThreads * pack * turns; }

int64_t Blocks::blocks(const Loops &loops) const {
  const uint64_t each = uint64_t(loops.rows() * packs);
  return threads == 0 ? int64_t(llvm::divideCeil(each, uint64_t(code::kGpuThreads))) : rowBlocks * tiles;
}

int64_t Blocks::partials(const Loops &loops) const {
  if (loops.sums == 0) {
    return 0;
  }
  const uint64_t all = uint64_t(partialRows() * int64_t(loops.sums) * loops.row.extent);
  return int64_t(llvm::divideCeil(all, uint64_t(blocks(loops))));
}

int64_t Blocks::alignedOf(unsigned operand, cell::KernelOp kernel, const Loops &loops) const {
  int64_t aligned = pack;
  while (kernel.getOffsetOf(operand) % aligned != 0) {
    aligned /= 2;
  }
  for (const Loops::Dim &dim : loops.outer) {
    while (dim.strides[operand] % aligned != 0) {
      aligned /= 2;
    }
  }
  return aligned;
}

int64_t Blocks::sumBlocks(const Loops &loops) const {
  return loops.sums == 0 ? 0 : int64_t(llvm::divideCeil(uint64_t(loops.row.extent), uint64_t(kSumPlaces)));
}

} // namespace weft::compiler
