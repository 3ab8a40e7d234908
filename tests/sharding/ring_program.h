// An attention whose keys go round, as the compiler makes blocks, shifts and merges of it, run on the ranks of a mesh.
#ifndef WEFT_TESTS_SHARDING_RING_PROGRAM_H_
#define WEFT_TESTS_SHARDING_RING_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/registry.h"
#include "ops/dialect/weft.h"
#include "tests/sharding/mesh_layout.h"
#include "tests/support/kernel_testing.h"

namespace weft::tests {

struct RingResults {
  std::vector<std::vector<Values>> values;  // a result, a rank
  bool zigzag = false;                      // whether ranks had halves from both ends of the sequence
};

// What the results of `op` are on every rank: `inputs` are the operands' parts, a list an operand, which lie as
// `operands` say; the results will lie as `results` say. `zigzag`: of weft-box-ring. Fails where that leaves no ring,
// or a kernel fails.
absl::StatusOr<RingResults> RunRing(const KernelRegistry& registry, mlir::Operation* op, const std::string& zigzag,
                                    const std::vector<States>& operands, const std::vector<States>& results,
                                    const Mesh& mesh, const std::vector<std::vector<Values>>& inputs);

}  // namespace weft::tests

#endif  // WEFT_TESTS_SHARDING_RING_PROGRAM_H_
