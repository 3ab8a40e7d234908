// What an op costs whose keys go round the ranks of a mesh axis.
#ifndef WEFT_COMPILER_ANALYSIS_RING_H_
#define WEFT_COMPILER_ANALYSIS_RING_H_

#include <optional>

#include "compiler/analysis/machine.h"
#include "ops/dialect/weft.h"

namespace weft::compiler {

/// Seconds of one rank, the one that takes longest: with the rows as they lie, and with halves from both ends of the
/// sequence, where that can be.
struct RingCost {
  double flat = 0;
  std::optional<double> zigzag;

  bool zigzags() const { return zigzag && *zigzag < flat; }
  double seconds() const { return zigzags() ? *zigzag : flat; }
};

/// The cost of `op` in a ring of `parts` ranks that lie as `group` says. `rule` is the op's and has a ring; the types
/// are those of a rank's tiles.
///
/// Block after block is computed, the next one's keys under way meanwhile; a result of the rows is read and written
/// once more for each block behind the first one, in float32. All blocks together are what the op would do with whole
/// keys. Under a causal mask alone these are the last rank's, of whose c blocks one is half hidden, so c - 1/2; with
/// halves from both ends each rank has half of every block, so c/2, and exchanges the halves in front of the op and
/// behind it.
RingCost ringCost(ir::WeftOpInterface op, const ir::ShardingRule &rule, llvm::ArrayRef<mlir::RankedTensorType> operands,
                  llvm::ArrayRef<mlir::RankedTensorType> results, int64_t parts, const plan::Spread &group,
                  const CostModel &machine);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_RING_H_
