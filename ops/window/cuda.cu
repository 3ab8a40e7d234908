// Windows of tensors. A thread has a pack of neighbouring elements that windows do not take apart, such as channels:
// what a warp reads and writes lies together. Where several windows have an element, the thread of the element looks
// for them, so that sums have one order.
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/window/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::window;

// Where an element of a window lies in the image, below 0 outside.
WEFT_DEVICE int64_t PositionOf(const WindowDim& dim, int64_t place, int64_t tap) {
  const int64_t at = place * dim.stride - dim.padding + tap * dim.dilation;
  return at < dim.extent ? at : -1;
}

// The window that has `position` of the image as its element `tap`, -1 if none has.
WEFT_DEVICE int64_t PlaceOf(const WindowDim& dim, int64_t position, int64_t tap) {
  const int64_t at = position + dim.padding - tap * dim.dilation;
  if (at < 0 || at % dim.stride != 0) return -1;
  const int64_t place = at / dim.stride;
  return place < dim.places ? place : -1;
}

// A thread's pack: where it is, and of which of `outer`.
struct Place {
  int64_t outer, at[kMaxDims], c;
};

// The index-th pack of [outer, n0, n1, n2, packs of N].
template <int N>
WEFT_DEVICE Place PlaceAt(int64_t index, int64_t n0, int64_t n1, int64_t n2, int64_t inner) {
  Place place;
  const int64_t packs = inner / N;
  place.c = index % packs * N;
  index /= packs;
  place.at[2] = index % n2;
  index /= n2;
  place.at[1] = index % n1;
  index /= n1;
  place.at[0] = index % n0;
  place.outer = index / n0;
  return place;
}
template <int N>
WEFT_DEVICE Place InImage(const Windows& w, int64_t index) {
  return PlaceAt<N>(index, w.dims[0].extent, w.dims[1].extent, w.dims[2].extent, w.inner);
}
template <int N>
WEFT_DEVICE Place OfWindows(const Windows& w, int64_t index) {
  return PlaceAt<N>(index, w.dims[0].places, w.dims[1].places, w.dims[2].places, w.inner);
}
WEFT_DEVICE int64_t PlacesOf(const Windows& w) { return w.dims[0].places * w.dims[1].places * w.dims[2].places; }
WEFT_DEVICE int64_t ExtentsOf(const Windows& w) { return w.dims[0].extent * w.dims[1].extent * w.dims[2].extent; }
WEFT_DEVICE int64_t TapsOf(const Windows& w) { return w.dims[0].size * w.dims[1].size * w.dims[2].size; }

// Calls body(position within the image, tap) for the elements of the window at `place` that are in the image.
template <typename Body>
WEFT_DEVICE void ForEachElement(const Windows& w, const int64_t (&place)[kMaxDims], const Body& body) {
  int64_t tap = 0;
  for (int64_t k0 = 0; k0 < w.dims[0].size; ++k0) {
    const int64_t d0 = PositionOf(w.dims[0], place[0], k0);
    for (int64_t k1 = 0; k1 < w.dims[1].size; ++k1) {
      const int64_t d1 = PositionOf(w.dims[1], place[1], k1);
      for (int64_t k2 = 0; k2 < w.dims[2].size; ++k2, ++tap) {
        const int64_t d2 = PositionOf(w.dims[2], place[2], k2);
        if (d0 >= 0 && d1 >= 0 && d2 >= 0) body((d0 * w.dims[1].extent + d1) * w.dims[2].extent + d2, tap);
      }
    }
  }
}

// Calls body(places of the window, tap) for the windows that have the element of the image.
template <typename Body>
WEFT_DEVICE void ForEachWindow(const Windows& w, const int64_t (&at)[kMaxDims], const Body& body) {
  int64_t tap = 0;
  for (int64_t k0 = 0; k0 < w.dims[0].size; ++k0) {
    const int64_t p0 = PlaceOf(w.dims[0], at[0], k0);
    for (int64_t k1 = 0; k1 < w.dims[1].size; ++k1) {
      const int64_t p1 = PlaceOf(w.dims[1], at[1], k1);
      for (int64_t k2 = 0; k2 < w.dims[2].size; ++k2, ++tap) {
        const int64_t p2 = PlaceOf(w.dims[2], at[2], k2);
        if (p0 < 0 || p1 < 0 || p2 < 0) continue;
        const int64_t place[kMaxDims] = {p0, p1, p2};
        body(place, tap);
      }
    }
  }
}
WEFT_DEVICE int64_t IndexOf(const Windows& w, const int64_t (&place)[kMaxDims]) {
  return (place[0] * w.dims[1].places + place[1]) * w.dims[2].places + place[2];
}

template <int N, typename T>
WEFT_DEVICE void Add(const T* at, float (&sums)[N]) {
  const Pack<T, N> pack = LoadPack<N>(at, N);
#pragma unroll
  for (int i = 0; i < N; ++i) sums[i] += Widen(pack[i]);
}
template <int N, typename T>
WEFT_DEVICE void AddProducts(const T* a, const T* b, float (&sums)[N]) {
  const Pack<T, N> left = LoadPack<N>(a, N), right = LoadPack<N>(b, N);
#pragma unroll
  for (int i = 0; i < N; ++i) sums[i] += Widen(left[i]) * Widen(right[i]);
}
template <int N, typename T>
WEFT_DEVICE void Store(const float (&values)[N], void* out, int64_t pack_index) {
  Pack<T, N> pack;
#pragma unroll
  for (int i = 0; i < N; ++i) pack[i] = Narrow<T>(values[i]);
  StorePack<N>(static_cast<T*>(out) + pack_index * N, pack, N);
}

// Elements are words; `inner` counts them.
template <typename Word>
WEFT_DEVICE void Unfold(const WindowArguments& args) {
  const Windows& w = args.windows;
  const Word* x = static_cast<const Word*>(args.x);
  for (int64_t i : EachOf(args.n)) {
    int64_t rest = i / w.inner, position[kMaxDims], tap[kMaxDims];
    for (int d = kMaxDims - 1; d >= 0; --d) {
      tap[d] = rest % w.dims[d].size;
      rest /= w.dims[d].size;
    }
    for (int d = kMaxDims - 1; d >= 0; --d) {
      position[d] = PositionOf(w.dims[d], rest % w.dims[d].places, tap[d]);
      rest /= w.dims[d].places;
    }
    Word value = {};
    if (position[0] >= 0 && position[1] >= 0 && position[2] >= 0) {
      const int64_t line = (rest * w.dims[0].extent + position[0]) * w.dims[1].extent + position[1];
      value = x[(line * w.dims[2].extent + position[2]) * w.inner + i % w.inner];
    }
    static_cast<Word*>(args.out)[i] = value;
  }
}

template <typename T, int N>
WEFT_DEVICE void Fold(const WindowArguments& args) {
  const Windows& w = args.windows;
  const int64_t taps = TapsOf(w), places = PlacesOf(w);
  for (int64_t i : EachOf(args.n)) {
    const Place own = InImage<N>(w, i);
    const T* y = static_cast<const T*>(args.y) + own.outer * places * taps * w.inner + own.c;
    float sums[N] = {};
    ForEachWindow(w, own.at, [&](const int64_t(&place)[kMaxDims], int64_t tap) {
      Add<N>(y + (IndexOf(w, place) * taps + tap) * w.inner, sums);
    });
    Store<N, T>(sums, args.out, i);
  }
}

template <typename T, int N>
WEFT_DEVICE void MaxPool(const WindowArguments& args) {
  const Windows& w = args.windows;
  const int64_t extents = ExtentsOf(w);
  for (int64_t i : EachOf(args.n)) {
    const Place own = OfWindows<N>(w, i);
    const T* x = static_cast<const T*>(args.x) + own.outer * extents * w.inner + own.c;
    float largest[N];
#pragma unroll
    for (int c = 0; c < N; ++c) largest[c] = -INFINITY;
    ForEachElement(w, own.at, [&](int64_t position, int64_t) {
      const Pack<T, N> pack = LoadPack<N>(x + position * w.inner, N);
#pragma unroll
      for (int c = 0; c < N; ++c) {
        const float value = Widen(pack[c]);
        largest[c] = value > largest[c] || value != value ? value : largest[c];
      }
    });
    Store<N, T>(largest, args.out, i);
  }
}

// An element is the first largest of a window if it is the result and none before it is.
template <typename T, int N>
WEFT_DEVICE void MaxPoolGrad(const WindowArguments& args) {
  const Windows& w = args.windows;
  const int64_t extents = ExtentsOf(w), places = PlacesOf(w);
  for (int64_t i : EachOf(args.n)) {
    const Place own = InImage<N>(w, i);
    const T* x = static_cast<const T*>(args.x) + own.outer * extents * w.inner + own.c;
    const T* y = static_cast<const T*>(args.y) + own.outer * places * w.inner + own.c;
    const T* dy = static_cast<const T*>(args.dy) + own.outer * places * w.inner + own.c;
    const Pack<T, N> value = LoadPack<N>(static_cast<const T*>(args.x) + i * N, N);
    float sums[N] = {};
    ForEachWindow(w, own.at, [&](const int64_t(&place)[kMaxDims], int64_t tap) {
      const int64_t at = IndexOf(w, place) * w.inner;
      const Pack<T, N> largest = LoadPack<N>(y + at, N), gradient = LoadPack<N>(dy + at, N);
      bool first[N];
#pragma unroll
      for (int c = 0; c < N; ++c) first[c] = Widen(value[c]) == Widen(largest[c]);
      ForEachElement(w, place, [&](int64_t position, int64_t other) {
        if (other >= tap) return;
        const Pack<T, N> earlier = LoadPack<N>(x + position * w.inner, N);
#pragma unroll
        for (int c = 0; c < N; ++c) first[c] = first[c] && Widen(earlier[c]) != Widen(largest[c]);
      });
#pragma unroll
      for (int c = 0; c < N; ++c) sums[c] += first[c] ? Widen(gradient[c]) : 0.0f;
    });
    Store<N, T>(sums, args.out, i);
  }
}

template <typename T, int N>
WEFT_DEVICE void Depthwise(const WindowArguments& args) {
  const Windows& w = args.windows;
  const int64_t extents = ExtentsOf(w);
  for (int64_t i : EachOf(args.n)) {
    const Place own = OfWindows<N>(w, i);
    const T* x = static_cast<const T*>(args.x) + own.outer * extents * w.inner + own.c;
    const T* weights = static_cast<const T*>(args.w) + own.c;
    float sums[N] = {};
    ForEachElement(w, own.at, [&](int64_t position, int64_t tap) {
      AddProducts<N>(x + position * w.inner, weights + tap * w.inner, sums);
    });
    Store<N, T>(sums, args.out, i);
  }
}

template <typename T, int N>
WEFT_DEVICE void DepthwiseGradInput(const WindowArguments& args) {
  const Windows& w = args.windows;
  const int64_t places = PlacesOf(w);
  for (int64_t i : EachOf(args.n)) {
    const Place own = InImage<N>(w, i);
    const T* dy = static_cast<const T*>(args.dy) + own.outer * places * w.inner + own.c;
    const T* weights = static_cast<const T*>(args.w) + own.c;
    float sums[N] = {};
    ForEachWindow(w, own.at, [&](const int64_t(&place)[kMaxDims], int64_t tap) {
      AddProducts<N>(dy + IndexOf(w, place) * w.inner, weights + tap * w.inner, sums);
    });
    Store<N, T>(sums, args.out, i);
  }
}

// threadIdx.x is a channel; the threads of a channel, threadIdx.y, have every kGroups-th place of the block's part, and
// their sums are added up in order.
template <typename T>
WEFT_DEVICE void DepthwiseGradWeight(const WeightGradArguments& args) {
  constexpr int kGroups = kThreads / kLanes;
  __shared__ float sums[kGroups][kTaps][kLanes];
  const Windows& w = args.windows;
  const WindowDim &rows = w.dims[0], &lines = w.dims[1], &columns = w.dims[2];
  const int64_t tiles = (w.inner + kLanes - 1) / kLanes;
  int64_t block = blockIdx.x;
  const int64_t c = block % tiles * kLanes + threadIdx.x;
  block /= tiles;
  const int64_t first_tap = block % args.tap_groups * kTaps;
  block /= args.tap_groups;
  const int64_t k1 = block % lines.size, k0 = block / lines.size % rows.size, part = block / lines.size / rows.size;
  const int64_t places = w.outer * PlacesOf(w), end = places * (part + 1) / args.parts;

  float own[kTaps] = {};
  for (int64_t i = places * part / args.parts + threadIdx.y; i < end; i += kGroups) {
    const int64_t p2 = i % columns.places, p1 = i / columns.places % lines.places;
    const int64_t p0 = i / columns.places / lines.places % rows.places;
    const int64_t outer = i / columns.places / lines.places / rows.places;
    const int64_t d0 = PositionOf(rows, p0, k0), d1 = PositionOf(lines, p1, k1);
    if (d0 < 0 || d1 < 0 || c >= w.inner) continue;
    const float gradient = Widen(static_cast<const T*>(args.dy)[i * w.inner + c]);
    const T* line =
        static_cast<const T*>(args.x) + ((outer * rows.extent + d0) * lines.extent + d1) * columns.extent * w.inner + c;
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
      const int64_t d2 = PositionOf(columns, p2, first_tap + t);
      if (first_tap + t < columns.size && d2 >= 0) own[t] += gradient * Widen(line[d2 * w.inner]);
    }
  }
#pragma unroll
  for (int t = 0; t < kTaps; ++t) sums[threadIdx.y][t][threadIdx.x] = own[t];
  __syncthreads();

  // A warp has a tap.
  const int64_t tap = first_tap + threadIdx.y;
  if (tap >= columns.size || c >= w.inner) return;
  float sum = 0;
  for (int group = 0; group < kGroups; ++group) sum += sums[group][threadIdx.y][threadIdx.x];
  const int64_t all_taps = TapsOf(w), index = (k0 * lines.size + k1) * columns.size + tap;
  args.partial[(part * all_taps + index) * w.inner + c] = sum;
}
static_assert(kThreads / kLanes == kTaps, "a warp writes a tap");

}  // namespace

WEFT_KERNEL(unfold_1, WindowArguments, kThreads) { Unfold<uint8_t>(args); }
WEFT_KERNEL(unfold_2, WindowArguments, kThreads) { Unfold<uint16_t>(args); }
WEFT_KERNEL(unfold_4, WindowArguments, kThreads) { Unfold<uint32_t>(args); }
WEFT_KERNEL(unfold_8, WindowArguments, kThreads) { Unfold<uint64_t>(args); }
WEFT_KERNEL(unfold_16, WindowArguments, kThreads) { Unfold<Pack<uint32_t>>(args); }

// Elements one by one, and in packs of 16 bytes.
#define WEFT_WINDOW_KERNELS(name, Function)                                          \
  WEFT_KERNEL(name##_f32_1, WindowArguments, kThreads) { Function<float, 1>(args); } \
  WEFT_KERNEL(name##_f32_4, WindowArguments, kThreads) { Function<float, 4>(args); } \
  WEFT_KERNEL(name##_bf16_1, WindowArguments, kThreads) { Function<BF16, 1>(args); } \
  WEFT_KERNEL(name##_bf16_8, WindowArguments, kThreads) { Function<BF16, 8>(args); } \
  WEFT_KERNEL(name##_f16_1, WindowArguments, kThreads) { Function<F16, 1>(args); }   \
  WEFT_KERNEL(name##_f16_8, WindowArguments, kThreads) { Function<F16, 8>(args); }

WEFT_WINDOW_KERNELS(fold, Fold)
WEFT_WINDOW_KERNELS(max_pool, MaxPool)
WEFT_WINDOW_KERNELS(max_pool_grad, MaxPoolGrad)
WEFT_WINDOW_KERNELS(depthwise, Depthwise)
WEFT_WINDOW_KERNELS(depthwise_grad_input, DepthwiseGradInput)

WEFT_KERNEL(depthwise_grad_weight_f32, WeightGradArguments, kThreads) { DepthwiseGradWeight<float>(args); }
WEFT_KERNEL(depthwise_grad_weight_bf16, WeightGradArguments, kThreads) { DepthwiseGradWeight<BF16>(args); }
WEFT_KERNEL(depthwise_grad_weight_f16, WeightGradArguments, kThreads) { DepthwiseGradWeight<F16>(args); }

WEFT_KERNEL(sum_parts, SumPartsArguments, kThreads) {
  for (int64_t i : EachOf(args.n)) {
    double sum = 0;
    for (int64_t part = 0; part < args.parts; ++part) sum += static_cast<double>(args.partial[part * args.n + i]);
    args.out[i] = static_cast<float>(sum);
  }
}
