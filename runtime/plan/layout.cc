#include "runtime/plan/layout.h"

#include <algorithm>

#include "runtime/plan/enums.h"

namespace weft::plan {

int64_t ElementBytes(DType dtype) { return static_cast<int64_t>(SizeOf(TypeOf(dtype))); }

int64_t ArenaBytesOf(const Plan& plan, int stage) {
  const int64_t bytes = plan.stages(stage).arena_bytes();
  return plan.has_evaluation() ? std::max<int64_t>(bytes, plan.evaluation().stages(stage).arena_bytes()) : bytes;
}

int64_t RankCount(const Placement& placement) {
  int64_t count = 1;
  for (const Axis& axis : placement.axes()) count *= axis.size();
  return count;
}

std::vector<int64_t> Coordinates(const Placement& placement, int64_t index) {
  std::vector<int64_t> coordinates(placement.axes_size());
  for (int a = placement.axes_size() - 1; a >= 0; --a) {
    coordinates[a] = index % placement.axes(a).size();
    index /= placement.axes(a).size();
  }
  return coordinates;
}

int64_t IndexOf(const Placement& placement, const std::vector<int64_t>& coordinates) {
  int64_t index = 0;
  for (int a = 0; a < placement.axes_size(); ++a) index = index * placement.axes(a).size() + coordinates[a];
  return index;
}

int64_t Tile::elements() const {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

const google::protobuf::RepeatedField<int64_t>& UnpaddedShape(const Buffer& buffer) {
  return buffer.unpadded_shape_size() > 0 ? buffer.unpadded_shape() : buffer.shape();
}

Tile TileOf(const Placement& placement, const Buffer& buffer, const std::vector<int64_t>& coordinates) {
  Tile tile;
  tile.dims.assign(buffer.shape().begin(), buffer.shape().end());
  tile.origin.assign(tile.dims.size(), 0);
  for (int a = 0; a < buffer.sbp_size(); ++a) {
    if (buffer.sbp(a).kind() != Sbp::SPLIT) continue;
    const int dim = buffer.sbp(a).dim();
    tile.dims[dim] /= placement.axes(a).size();
    tile.origin[dim] += coordinates[a] * tile.dims[dim];
  }
  return tile;
}

std::vector<int64_t> LocalDims(const Placement& placement, const Buffer& buffer) {
  return TileOf(placement, buffer, std::vector<int64_t>(placement.axes_size(), 0)).dims;
}

int64_t LocalElements(const Placement& placement, const Buffer& buffer) {
  return TileOf(placement, buffer, std::vector<int64_t>(placement.axes_size(), 0)).elements();
}

int64_t LocalBytes(const Placement& placement, const Buffer& buffer) {
  return LocalElements(placement, buffer) * ElementBytes(buffer.dtype());
}

std::vector<int64_t> GroupOf(const Placement& placement, const std::vector<int32_t>& axes, int64_t index) {
  std::vector<int64_t> coordinates = Coordinates(placement, index);
  for (int32_t a : axes) coordinates[a] = 0;
  std::vector<int64_t> members;
  while (true) {
    members.push_back(IndexOf(placement, coordinates));
    int i = static_cast<int>(axes.size()) - 1;
    for (; i >= 0; --i) {
      if (++coordinates[axes[i]] < placement.axes(axes[i]).size()) break;
      coordinates[axes[i]] = 0;
    }
    if (i < 0) return members;
  }
}

bool IsPrimary(const Buffer& buffer, const std::vector<int64_t>& coordinates) {
  for (int a = 0; a < buffer.sbp_size(); ++a) {
    if (buffer.sbp(a).kind() != Sbp::SPLIT && coordinates[a] != 0) return false;
  }
  return true;
}

}  // namespace weft::plan
