// The descriptions of all families.
#ifndef WEFT_OPS_DESCRIPTIONS_H_
#define WEFT_OPS_DESCRIPTIONS_H_

#include "ops/cell/cells.h"

namespace weft::cell {

/// Made once; any thread may read it.
const Descriptions &allDescriptions();

} // namespace weft::cell

#endif // WEFT_OPS_DESCRIPTIONS_H_
