// What adds the descriptions of each family that has some, in its cells.cc: describeSoftmax, and so on.
#ifndef WEFT_OPS_CELL_FAMILIES_H_
#define WEFT_OPS_CELL_FAMILIES_H_

#include "ops/cell/cells.h"

namespace weft::cell {

#define WEFT_FAMILY(Name) void describe##Name(Descriptions &descriptions);
#include "ops/cell_families.inc"
#undef WEFT_FAMILY

} // namespace weft::cell

#endif // WEFT_OPS_CELL_FAMILIES_H_
