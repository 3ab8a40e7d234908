// The emulated modules of a program: those that it links as <family>:cuda_emulated.
#ifndef WEFT_TESTS_EMULATION_SIMT_EMULATED_H_
#define WEFT_TESTS_EMULATION_SIMT_EMULATED_H_

#include <memory>
#include <vector>

#include "ops/abi/emulated_kernel.h"

namespace weft {

std::vector<std::unique_ptr<EmulatedModule>> EmulatedModules();

}  // namespace weft

#endif  // WEFT_TESTS_EMULATION_SIMT_EMULATED_H_
