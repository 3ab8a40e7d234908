// Units of what has several readers.
#ifndef WEFT_COMPILER_PASSES_SHARD_FIRST_READERS_H_
#define WEFT_COMPILER_PASSES_SHARD_FIRST_READERS_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// Moves what an earlier unit reads into that unit, behind its operands. A pass makes a box, a cast or a padded version
/// for the reader that comes first in the program, and others share it. The program has the units in order but for sums
/// of the forward over the micro-batches, such as that of what a loss counts, which stand behind the backward: without
/// this such a sum would wait in its forward for the backward that its operand was made for.
void moveToFirstReaders(ir::GraphOp graph);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_FIRST_READERS_H_
