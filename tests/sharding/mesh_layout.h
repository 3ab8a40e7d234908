// How a tensor lies over a mesh, written down once more for the tests: which part a rank holds, and what the parts
// make together.
#ifndef WEFT_TESTS_SHARDING_MESH_LAYOUT_H_
#define WEFT_TESTS_SHARDING_MESH_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/dialect/sharding_rule.h"
#include "tests/support/kernel_testing.h"

namespace weft::tests {

using testing::Values;

// Axis sizes, outermost first; ranks are numbered row-major.
struct Mesh {
  std::vector<int64_t> sizes;

  int64_t Ranks() const;
  std::vector<int64_t> CoordinatesOf(int64_t rank) const;
  std::string ToString() const;  // "[2,2]"
};

// The state of one tensor over each axis.
using States = std::vector<ir::SbpState>;

// The tile of `whole` at these coordinates: an outer axis cuts first. Nothing if a cut is uneven.
std::optional<TensorSpec> TileOf(const TensorSpec& whole, const States& states, const Mesh& mesh,
                                 const std::vector<int64_t>& coordinates);

// What every rank holds of `value`: copies, slices, or random addends (multiples of `quantum`) that sum to it. Every
// tile must be even; a pending maximum is not an operand of any rule, and an error.
absl::StatusOr<std::vector<Values>> Scatter(const Values& value, const TensorSpec& whole, const States& states,
                                            const Mesh& mesh, double quantum, uint64_t seed);

// The tensor whose parts the ranks hold. Fails if copies differ in a bit, or an element is missing.
absl::StatusOr<Values> Gather(const std::vector<Values>& parts, const TensorSpec& whole, const States& states,
                              const Mesh& mesh);

}  // namespace weft::tests

#endif  // WEFT_TESTS_SHARDING_MESH_LAYOUT_H_
