// Generated kernels of single operators, where there is no plan that has them.
#ifndef WEFT_TESTS_SUPPORT_GENERATED_H_
#define WEFT_TESTS_SUPPORT_GENERATED_H_

#include "ops/abi/registry.h"

namespace weft::testing {

// Adds a kernel for each operator that is described (ops/*/cells.cc) and of which `registry` has none: what the
// compiler generates of it alone, for the GPU of its spec, else for this host. Kernels that compute the same are
// compiled once. kInvalidArgument where the description does not fit the spec.
void RegisterGeneratedKernels(KernelRegistry& registry);

}  // namespace weft::testing

#endif  // WEFT_TESTS_SUPPORT_GENERATED_H_
