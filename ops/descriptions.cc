#include "ops/descriptions.h"

#include "ops/cell_families.h"

namespace weft::cell {

const Descriptions &allDescriptions() {
  static const Descriptions all = [] {
    Descriptions descriptions;
#define WEFT_FAMILY(Name) describe##Name(descriptions);
#include "ops/cell_families.inc"
#undef WEFT_FAMILY
    return descriptions;
  }();
  return all;
}

} // namespace weft::cell
