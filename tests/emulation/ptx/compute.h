// What instructions compute that touch registers alone.
#ifndef WEFT_TESTS_EMULATION_PTX_COMPUTE_H_
#define WEFT_TESTS_EMULATION_PTX_COMPUTE_H_

#include <string>

#include "tests/emulation/ptx/program.h"

namespace weft::ptx {

// Of an instruction by its whole name, "add.rn.f32"; null for one that is not known.
Compute ComputeOf(const std::string& name);

}  // namespace weft::ptx

#endif  // WEFT_TESTS_EMULATION_PTX_COMPUTE_H_
