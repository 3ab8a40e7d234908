// The computation of dropout.
#include "ops/cell_families.h"

namespace weft::cell {
namespace {

// y = x / (1 - rate) where the element is kept, else 0. Whether it is kept depends on the run's seed, the op's, the
// step and the element's place in the whole batch (docs/design/05-dropout.md).
void dropout(Cells &c) {
  const double rate = c.constant("rate");
  Cell scaled = c.in(0) * (1 / (1 - rate));
  c.out(0, select(c.hasLuck(rate, 0, "seed"), scaled, c.number(0)));
}

} // namespace

void describeDropout(Descriptions &descriptions) { descriptions.add("dropout", dropout); }

} // namespace weft::cell
