#include "ops/einsum/cpu_permute.h"

#include <algorithm>
#include <utility>

#include "ops/abi/parallel.h"

namespace weft::einsum {
namespace {

constexpr int64_t kTile = 16;          // of the two fast axes: a cache line each way
constexpr int64_t kGrain = 16 * 1024;  // elements that are worth a thread

void Convert(float from, float& to) { to = from; }
void Convert(BFloat16 from, float& to) { to = ToFloat(from); }
void Convert(float from, BFloat16& to) { to = ToBFloat16(from); }
void Convert(Float16 from, float& to) { to = ToFloat(from); }
void Convert(float from, Float16& to) { to = ToFloat16(from); }
void Convert(uint16_t from, uint16_t& to) { to = from; }  // both bf16 or both f16

template <typename From, typename To>
void CopyPlane(const From* from, To* to, const PermuteAxis& across, const PermuteAxis& inner) {
  if (inner.from == 1 && inner.to == 1) {
    for (int64_t i = 0; i < across.extent; ++i) {
      const From* source = from + i * across.from;
      To* target = to + i * across.to;
      for (int64_t j = 0; j < inner.extent; ++j) Convert(source[j], target[j]);
    }
    return;
  }
  for (int64_t i0 = 0; i0 < across.extent; i0 += kTile) {
    const int64_t i1 = std::min(across.extent, i0 + kTile);
    for (int64_t j0 = 0; j0 < inner.extent; j0 += kTile) {
      const int64_t j1 = std::min(inner.extent, j0 + kTile);
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) {
          Convert(from[i * across.from + j * inner.from], to[i * across.to + j * inner.to]);
        }
      }
    }
  }
}

std::vector<PermuteAxis> MergedAxes(std::vector<PermuteAxis> axes) {
  std::sort(axes.begin(), axes.end(), [](const PermuteAxis& a, const PermuteAxis& b) { return a.to > b.to; });
  std::vector<PermuteAxis> merged;
  for (const PermuteAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!merged.empty() && merged.back().from == axis.from * axis.extent && merged.back().to == axis.to * axis.extent) {
      merged.back() = {merged.back().extent * axis.extent, axis.from, axis.to};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

}  // namespace

Permute::Permute(std::vector<PermuteAxis> axes, DType from, DType to, int threads)
    : outer_(MergedAxes(std::move(axes))), across_{1, 0, 0}, inner_{1, 1, 1}, from_(from), to_(to), threads_(threads) {
  if (!outer_.empty()) {
    inner_ = outer_.back();
    outer_.pop_back();
  }
  auto fastest = std::min_element(outer_.begin(), outer_.end(),
                                  [](const PermuteAxis& a, const PermuteAxis& b) { return a.from < b.from; });
  if (fastest != outer_.end()) {
    across_ = *fastest;
    outer_.erase(fastest);
  }
  // Few planes: cut the plane's slow axis, so that there is a piece for every thread.
  tiles_ = 1;
  for (const PermuteAxis& axis : outer_) tiles_ *= axis.extent;
  if (tiles_ < threads_ && across_.extent > kTile) {
    const int64_t pieces = std::min<int64_t>(threads_, across_.extent / kTile);
    int64_t piece = across_.extent / pieces;
    while (across_.extent % piece != 0) --piece;
    outer_.push_back({across_.extent / piece, across_.from * piece, across_.to * piece});
    across_.extent = piece;
    tiles_ *= outer_.back().extent;
  }
}

template <typename From, typename To>
void Permute::RunTyped(const From* from, To* to) const {
  const int64_t plane = std::max<int64_t>(1, across_.extent * inner_.extent);
  ParallelFor(threads_, tiles_, (kGrain + plane - 1) / plane, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      int64_t rest = tile, at_from = 0, at_to = 0;
      for (auto axis = outer_.rbegin(); axis != outer_.rend(); ++axis) {
        at_from += rest % axis->extent * axis->from;
        at_to += rest % axis->extent * axis->to;
        rest /= axis->extent;
      }
      CopyPlane(from + at_from, to + at_to, across_, inner_);
    }
  });
}

template <typename Narrow>
void Permute::RunConverting(const void* from, void* to) const {
  if (from_ == DType::kF32) {
    RunTyped(static_cast<const float*>(from), static_cast<Narrow*>(to));
  } else {
    RunTyped(static_cast<const Narrow*>(from), static_cast<float*>(to));
  }
}

void Permute::Run(const void* from, void* to) const {
  if (from_ == to_) {
    if (from_ == DType::kF32) return RunTyped(static_cast<const float*>(from), static_cast<float*>(to));
    return RunTyped(static_cast<const uint16_t*>(from), static_cast<uint16_t*>(to));
  }
  if (from_ == DType::kF16 || to_ == DType::kF16) return RunConverting<Float16>(from, to);
  RunConverting<BFloat16>(from, to);
}

}  // namespace weft::einsum
