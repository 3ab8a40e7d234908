#include "compiler/codegen/launch.h"

#include "compiler/codegen/blocks.h"

namespace weft::compiler {

void setLaunch(cell::KernelOp kernel, bool onHost, plan::Kernel &to) {
  const Loops loops = *loopsOf(kernel);
  if (onHost) {
    to.set_units(loops.units());
    to.set_partials(loops.partials());
    to.set_groups(loops.sums > 0 ? loops.groups() : 0);
    return;
  }
  const Blocks blocks = blocksOf(kernel, loops);
  to.set_units(kernel.getBatch() ? blocks.batchPlaces() : blocks.blocks(loops));
  to.set_partials(blocks.partials(loops));
  to.set_groups(blocks.sumBlocks(loops));
}

} // namespace weft::compiler
