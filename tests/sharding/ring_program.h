// An attention whose keys go round, as the compiler makes blocks, shifts and merges of it, run on the ranks of a mesh.
#ifndef WEFT_TESTS_SHARDING_RING_PROGRAM_H_
#define WEFT_TESTS_SHARDING_RING_PROGRAM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/registry.h"
#include "ops/dialect/weft.h"
#include "tests/sharding/mesh_layout.h"
#include "tests/support/kernel_testing.h"

namespace weft::tests {

// What the results of `op` are on every rank, a list a result: `inputs` are the operands' parts, a list an operand,
// which lie as `operands` say; the results will lie as `results` say. Fails where weft-box-ring leaves no ring, or a
// kernel fails.
absl::StatusOr<std::vector<std::vector<Values>>> RunRing(const KernelRegistry& registry, mlir::Operation* op,
                                                         const std::vector<States>& operands,
                                                         const std::vector<States>& results, const Mesh& mesh,
                                                         const std::vector<std::vector<Values>>& inputs);

}  // namespace weft::tests

#endif  // WEFT_TESTS_SHARDING_RING_PROGRAM_H_
