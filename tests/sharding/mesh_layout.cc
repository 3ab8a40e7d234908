#include "tests/sharding/mesh_layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"

namespace weft::tests {
namespace {

using ir::SbpState;

// The coordinates on the axes for which `counts` holds, as one number.
template <typename Predicate>
int64_t IndexOver(const States& states, const Mesh& mesh, const std::vector<int64_t>& coordinates, Predicate counts) {
  int64_t index = 0;
  for (size_t axis = 0; axis < states.size(); ++axis) {
    if (counts(states[axis])) index = index * mesh.sizes[axis] + coordinates[axis];
  }
  return index;
}

bool IsPending(const SbpState& state) { return state.isPartial(); }
bool IsCopy(const SbpState& state) { return state.kind == SbpState::Broadcast; }

// `count` tensors whose sum is `value`.
std::vector<Values> Addends(const Values& value, int64_t count, double quantum, uint64_t seed) {
  std::vector<Values> addends;
  Values rest = value;
  for (int64_t k = 0; k + 1 < count; ++k) {
    Values one = testing::RandomValues(static_cast<int64_t>(value.size()), MixSeed(seed, k), -1, 1, DType::kF64);
    for (size_t i = 0; i < one.size(); ++i) {
      one[i] = std::floor(one[i] / quantum) * quantum;
      rest[i] -= one[i];
    }
    addends.push_back(std::move(one));
  }
  addends.push_back(std::move(rest));
  return addends;
}

// What the ranks that hold copies of one value contributed to it.
struct Copy {
  Values value;
  std::vector<int64_t> contributions;  // an element
};

// Index into the whole tensor of element `i` of a tile.
int64_t GlobalIndex(const TensorSpec& tile, int64_t i) {
  int64_t index = 0, stride = 1;
  for (int64_t d = tile.rank() - 1; d >= 0; --d) {
    index += (tile.origin[d] + i % tile.dims[d]) * stride;
    i /= tile.dims[d];
    stride *= tile.global_dims[d];
  }
  return index;
}

bool SameBits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

int64_t Mesh::Ranks() const {
  int64_t ranks = 1;
  for (int64_t size : sizes) ranks *= size;
  return ranks;
}

std::vector<int64_t> Mesh::CoordinatesOf(int64_t rank) const {
  std::vector<int64_t> coordinates(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    coordinates[axis] = rank % sizes[axis];
    rank /= sizes[axis];
  }
  return coordinates;
}

std::string Mesh::ToString() const {
  std::string text;
  for (int64_t size : sizes) absl::StrAppend(&text, text.empty() ? "[" : ",", size);
  return text + "]";
}

std::optional<TensorSpec> TileOf(const TensorSpec& whole, const States& states, const Mesh& mesh,
                                 const std::vector<int64_t>& coordinates) {
  TensorSpec tile = whole;
  for (size_t axis = 0; axis < states.size(); ++axis) {
    if (!states[axis].isSplit()) continue;
    const auto d = static_cast<size_t>(states[axis].dim);
    if (tile.dims[d] % mesh.sizes[axis] != 0) return std::nullopt;
    tile.dims[d] /= mesh.sizes[axis];
    tile.origin[d] += coordinates[axis] * tile.dims[d];
  }
  return tile;
}

absl::StatusOr<std::vector<Values>> Scatter(const Values& value, const TensorSpec& whole, const States& states,
                                            const Mesh& mesh, double quantum, uint64_t seed) {
  int64_t pending = 1;
  for (size_t axis = 0; axis < states.size(); ++axis) {
    if (states[axis].kind == SbpState::PartialMax) return absl::InternalError("an operand is a pending maximum");
    if (states[axis].isPartial()) pending *= mesh.sizes[axis];
  }
  const std::vector<Values> addends = Addends(value, pending, quantum, seed);
  std::vector<Values> parts;
  for (int64_t rank = 0; rank < mesh.Ranks(); ++rank) {
    const std::vector<int64_t> coordinates = mesh.CoordinatesOf(rank);
    const auto index = static_cast<size_t>(IndexOver(states, mesh, coordinates, IsPending));
    parts.push_back(testing::SliceOf(addends[index], *TileOf(whole, states, mesh, coordinates)));
  }
  return parts;
}

absl::StatusOr<Values> Gather(const std::vector<Values>& parts, const TensorSpec& whole, const States& states,
                              const Mesh& mesh) {
  int64_t pending = 1;
  bool sum = false, maximum = false;
  for (size_t axis = 0; axis < states.size(); ++axis) {
    if (states[axis].isPartial()) pending *= mesh.sizes[axis];
    sum |= states[axis].kind == SbpState::PartialSum;
    maximum |= states[axis].kind == SbpState::PartialMax;
  }
  if (sum && maximum) return absl::InternalError("a result is a pending sum and a pending maximum");
  std::map<int64_t, Copy> copies;
  for (int64_t rank = 0; rank < mesh.Ranks(); ++rank) {
    const std::vector<int64_t> coordinates = mesh.CoordinatesOf(rank);
    const TensorSpec tile = *TileOf(whole, states, mesh, coordinates);
    Copy& copy = copies[IndexOver(states, mesh, coordinates, IsCopy)];
    copy.value.resize(static_cast<size_t>(whole.elements()));
    copy.contributions.resize(static_cast<size_t>(whole.elements()));
    for (int64_t i = 0; i < tile.elements(); ++i) {
      const auto at = static_cast<size_t>(GlobalIndex(tile, i));
      const double x = parts[static_cast<size_t>(rank)][static_cast<size_t>(i)];
      double& value = copy.value[at];
      const bool first = copy.contributions[at]++ == 0;  // adding to 0 would turn -0 to 0
      value = first ? x : maximum ? std::max(value, x) : value + x;
    }
  }
  for (const auto& [index, copy] : copies) {
    if (copy.contributions != std::vector<int64_t>(copy.contributions.size(), pending)) {
      return absl::InternalError("the tiles do not cover the tensor once");
    }
    if (!SameBits(copy.value, copies.begin()->second.value)) {
      return absl::InternalError(absl::StrCat("copy ", index, " differs from copy ", copies.begin()->first));
    }
  }
  return std::move(copies.begin()->second.value);
}

}  // namespace weft::tests
