// What instructions compute that touch registers alone.
#ifndef WEFT_TESTS_EMULATION_PTX_COMPUTE_H_
#define WEFT_TESTS_EMULATION_PTX_COMPUTE_H_

#include <string>

#include "tests/emulation/ptx/program.h"

namespace weft::ptx {

// Of an instruction by its whole name, "add.rn.f32"; null for one that is not known. Of "setp.lt.f16x2", which makes
// two predicates, each by itself: "setp.lt.f16x2.low". "bfi.b32" takes its two numbers in one: see parse.cc.
Compute ComputeOf(const std::string& name);

}  // namespace weft::ptx

#endif  // WEFT_TESTS_EMULATION_PTX_COMPUTE_H_
