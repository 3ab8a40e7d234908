// Where the pieces of a buffer lie: the arithmetic between a global shape, an
// SBP and a rank's place in the mesh.
#ifndef WEFT_RUNTIME_PLAN_LAYOUT_H_
#define WEFT_RUNTIME_PLAN_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// Buffers start at multiples of this, and slots of a buffer are padded to it.
inline constexpr int64_t kAlignment = 64;

inline int64_t AlignUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Bytes of an element; 0 for an invalid type.
int64_t ElementBytes(DType dtype);

// Bytes of the arena of a rank of a stage: for its training, and for its evaluation, which runs in the same one.
int64_t ArenaBytesOf(const Plan& plan, int stage);

// The product of the axis sizes.
int64_t RankCount(const Placement& placement);

// The coordinates, one an axis, of the index-th rank of a placement.
std::vector<int64_t> Coordinates(const Placement& placement, int64_t index);

// The index of the rank at these coordinates.
int64_t IndexOf(const Placement& placement, const std::vector<int64_t>& coordinates);

// A rectangular part of a global tensor.
struct Tile {
  std::vector<int64_t> origin;
  std::vector<int64_t> dims;
  int64_t elements() const;
  bool operator==(const Tile& other) const { return origin == other.origin && dims == other.dims; }
};

// The shape of the tensor that a buffer is, without padding.
const google::protobuf::RepeatedField<int64_t>& UnpaddedShape(const Buffer& buffer);

// The tile that the rank at `coordinates` holds. Outer axes cut first. A
// validated plan cuts evenly.
Tile TileOf(const Placement& placement, const Buffer& buffer, const std::vector<int64_t>& coordinates);

// The extents of that tile: the same on every rank.
std::vector<int64_t> LocalDims(const Placement& placement, const Buffer& buffer);

// Local elements, and bytes of one slot (not padded).
int64_t LocalElements(const Placement& placement, const Buffer& buffer);
int64_t LocalBytes(const Placement& placement, const Buffer& buffer);

// The indices (within the placement) of the ranks that share all coordinates
// with `index` but those of `axes`, in row-major order of the axes: the group
// of a collective.
std::vector<int64_t> GroupOf(const Placement& placement, const std::vector<int32_t>& axes, int64_t index);

// True if this rank is the one of its replicas that speaks for its tile: its
// coordinate is 0 on every axis over which the buffer is not split.
bool IsPrimary(const Buffer& buffer, const std::vector<int64_t>& coordinates);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_LAYOUT_H_
