#include "compiler/job/axes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft {
namespace {

// Ranks of an axis of `size` that are neighbours and share among themselves, if these are some of them; else 1.
int64_t InnerPart(int64_t size, const Zero& zero) {
  const int64_t group = zero.stage() > 0 ? zero.group() : 0;
  return group > 1 && group < size ? group : 1;
}

bool HasPart(const MeshAxis& whole) {
  return std::any_of(std::begin(kMeshAxes), std::end(kMeshAxes),
                     [&](const MeshAxis& axis) { return axis.part_of == whole.name; });
}

}  // namespace

const MeshAxis* FindMeshAxis(std::string_view name) {
  const MeshAxis* found =
      std::find_if(std::begin(kMeshAxes), std::end(kMeshAxes), [&](const MeshAxis& axis) { return axis.name == name; });
  return found == std::end(kMeshAxes) ? nullptr : found;
}

std::vector<std::string_view> MeshKeys() {
  std::vector<std::string_view> keys;
  for (const MeshAxis& axis : kMeshAxes) {
    if (axis.size != nullptr) keys.push_back(axis.name);
  }
  return keys;
}

const MeshAxis& SharedKey() {
  return *std::find_if(std::begin(kMeshAxes), std::end(kMeshAxes),
                       [](const MeshAxis& axis) { return axis.shares && axis.size != nullptr; });
}

int SharedAxis(const std::vector<std::string_view>& axes) {
  for (int i = static_cast<int>(axes.size()) - 1; i >= 0; --i) {
    if (const MeshAxis* axis = FindMeshAxis(axes[i]); axis != nullptr && axis->shares) return i;
  }
  return -1;
}

std::vector<SizedAxis> MeshOf(const Dist& dist, const Zero& zero) {
  std::vector<SizedAxis> mesh;
  for (const MeshAxis& axis : kMeshAxes) {
    const MeshAxis& key = axis.size != nullptr ? axis : *FindMeshAxis(axis.part_of);
    const int64_t whole = (dist.*key.size)();
    const int64_t part = key.shares && HasPart(key) ? InnerPart(whole, zero) : 1;
    const int64_t size = axis.size != nullptr ? whole / part : part;
    if (size > 1) mesh.push_back({axis.name, size});
  }
  return mesh;
}

int64_t StageRanks(const Dist& dist) {
  int64_t ranks = 1;
  for (const SizedAxis& axis : MeshOf(dist, Zero())) ranks *= axis.size;
  return ranks;
}

std::string SizesText(const Dist& dist) {
  std::string text;
  for (const SizedAxis& axis : MeshOf(dist, Zero())) {
    absl::StrAppend(&text, text.empty() ? "" : " x ", std::string(axis.name), " ", axis.size);
  }
  return text;
}

int64_t AllRanks(const Dist& dist) { return StageRanks(dist) * std::max<int64_t>(dist.pipeline(), 1); }

std::string RanksText(const Dist& dist) {
  const std::string sizes = SizesText(dist);
  if (dist.pipeline() <= 1 && MeshOf(dist, Zero()).size() < 2) return sizes;
  const std::string stages = dist.pipeline() > 1 ? absl::StrCat("pipeline ", dist.pipeline()) : "";
  if (sizes.empty()) return stages;
  return absl::StrCat(stages, stages.empty() ? "" : " x ", sizes, " = ", AllRanks(dist));
}

int64_t BatchParts(const Dist& dist) {
  int64_t parts = 1;
  for (const MeshAxis& axis : kMeshAxes) {
    if (axis.splits_batch() && axis.size != nullptr) parts *= (dist.*axis.size)();
  }
  return parts;
}

std::string BatchKeys(const std::string& prefix) {
  std::string keys;
  for (const MeshAxis& axis : kMeshAxes) {
    if (!axis.splits_batch() || axis.size == nullptr) continue;
    absl::StrAppend(&keys, keys.empty() ? "" : " x ", prefix, ".", std::string(axis.name));
  }
  return keys;
}

}  // namespace weft
