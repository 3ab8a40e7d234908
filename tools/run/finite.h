// Whether numbers are numbers.
#ifndef WEFT_TOOLS_RUN_FINITE_H_
#define WEFT_TOOLS_RUN_FINITE_H_

#include <cstdint>

#include "ops/abi/dtype.h"

namespace weft::run {

// The index of the first of `count` elements that is infinite or not a number;
// -1 if there is none. Integers have none. `elements` is aligned to its type.
int64_t FindNonFinite(DType dtype, const void* elements, int64_t count);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_FINITE_H_
