// Norms of rows and their gradients: the formulas are those of cpu_layer_norm.cc and
// cpu_rms_norm.cc. A block is blockDim.y rows of blockDim.x threads, whole warps. A
// row is read once, into registers: each thread holds kSlots packs of it. Rows too
// long for that, or not of whole packs, are read again in each pass (kSlots = 0).
//
// A gradient's sums over rows are made in two stages: each block adds up its rows,
// in registers, and norm_sum_* the blocks. Shapes alone decide the order.
#include "ops/cuda/kernel.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/types.h"
#include "ops/norm/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::norm;

// This thread's packs of the rows of a block.
template <typename T, int kSlots>
struct Lanes {
  static constexpr int kPack = Pack<T>::kSize;
  static constexpr int kHeld = kSlots > 0 ? kSlots : 1;

  // Calls body(slot, column) for packs that begin before `width`.
  template <typename Body>
  WEFT_DEVICE static void ForEach(int64_t width, const Body& body) {
    if constexpr (kSlots > 0) {
#pragma unroll
      for (int s = 0; s < kSlots; ++s) {
        const int64_t at = (int64_t{s} * blockDim.x + threadIdx.x) * kPack;
        if (at < width) body(s, at);
      }
    } else {
      for (int64_t at = int64_t{threadIdx.x} * kPack; at < width; at += int64_t{blockDim.x} * kPack) body(0, at);
    }
  }
};

// Packs of rows: held ones are whole and aligned.
template <int kSlots, int N, typename T>
WEFT_DEVICE Pack<T, N> Load(const T* at, int64_t count) {
  if constexpr (kSlots > 0) return *reinterpret_cast<const Pack<T, N>*>(at);
  return LoadPack<N>(at, count);
}
template <int kSlots, int N, typename T>
WEFT_DEVICE void Store(T* at, const Pack<T, N>& pack, int64_t count) {
  if constexpr (kSlots > 0) {
    *reinterpret_cast<Pack<T, N>*>(at) = pack;
  } else {
    StorePack<N>(at, pack, count);
  }
}

// A row of `width` elements; what lies behind them reads as 0.
template <typename T, int kSlots>
class Row {
 public:
  using L = Lanes<T, kSlots>;
  WEFT_DEVICE Row(const T* from, int64_t width) : from_(from), width_(width) {
    if constexpr (kSlots > 0) {
      L::ForEach(width, [&](int s, int64_t at) { packs_[s] = Load<kSlots, L::kPack>(from + at, width - at); });
    }
  }
  WEFT_DEVICE Pack<T> Get(int s, int64_t at) const {
    return kSlots > 0 ? packs_[s] : LoadPack<L::kPack>(from_ + at, width_ - at);
  }
  // Calls body(slot, column, pack).
  template <typename Body>
  WEFT_DEVICE void ForEach(const Body& body) const {
    L::ForEach(width_, [&](int s, int64_t at) { body(s, at, Get(s, at)); });
  }

 private:
  const T* from_;
  int64_t width_;
  Pack<T> packs_[L::kHeld];
};

// Two sums over the threads of a row; every one of them gets both. Called by the whole block.
struct Sums {
  float a = 0, b = 0;
};
WEFT_DEVICE Sums RowSums(Sums sums) {
  __shared__ Sums warps[kThreads / 32];
  sums.a = WarpReduce<Sum>(sums.a);
  sums.b = WarpReduce<Sum>(sums.b);
  const uint32_t count = blockDim.x / 32;
  if (count == 1) return sums;
  const uint32_t first = threadIdx.y * count;
  if (threadIdx.x % 32 == 0) warps[first + threadIdx.x / 32] = sums;
  __syncthreads();
  sums = warps[first];
  for (uint32_t w = 1; w < count; ++w) {
    sums.a += warps[first + w].a;
    sums.b += warps[first + w].b;
  }
  __syncthreads();
  return sums;
}
WEFT_DEVICE float RowSum(float sum) { return RowSums({sum, 0}).a; }

// A pack of weights.
template <typename T, int kSlots>
WEFT_DEVICE Pack<float, Pack<T>::kSize> LoadWeights(const void* w, bool wide, int64_t at, int64_t count) {
  constexpr int kPack = Pack<T>::kSize;
  if (wide) return Load<kSlots, kPack>(static_cast<const float*>(w) + at, count);
  const Pack<T> narrow = Load<kSlots, kPack>(static_cast<const T*>(w) + at, count);
  Pack<float, kPack> pack;
  for (int i = 0; i < kPack; ++i) pack[i] = Widen(narrow[i]);
  return pack;
}

template <typename T, int kSlots, bool kCenter>
WEFT_DEVICE void Norm(const NormArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  const float share = 1.0f / static_cast<float>(args.width);
  for (int64_t first = int64_t{blockIdx.x} * blockDim.y; first < args.rows; first += int64_t{gridDim.x} * blockDim.y) {
    const int64_t row = first + threadIdx.y, width = row < args.rows ? args.width : 0;  // 0: no row, but barriers
    Row<T, kSlots> x(static_cast<const T*>(args.x) + row * args.width, width);
    float mean = 0;
    if constexpr (kCenter) {
      float sum = 0;
      x.ForEach([&](int, int64_t, const Pack<T>& pack) {
        for (int i = 0; i < kPack; ++i) sum += Widen(pack[i]);
      });
      mean = RowSum(sum) * share;
    }
    float squares = 0;
    x.ForEach([&](int, int64_t at, const Pack<T>& pack) {
      for (int i = 0; i < kPack; ++i) {
        const float distance = Widen(pack[i]) - mean;
        if (kSlots > 0 || at + i < width) squares += distance * distance;
      }
    });
    const float rstd = 1.0f / sqrtf(RowSum(squares) * share + args.eps);
    T* y = static_cast<T*>(args.y) + row * args.width;
    x.ForEach([&](int, int64_t at, Pack<T> pack) {
      const auto w = LoadWeights<T, kSlots>(args.w, args.wide_weights, at, width - at);
      Pack<float, kPack> b = {};
      if constexpr (kCenter) b = LoadWeights<T, kSlots>(args.b, args.wide_weights, at, width - at);
      for (int i = 0; i < kPack; ++i) pack[i] = Narrow<T>((Widen(pack[i]) - mean) * rstd * w[i] + b[i]);
      Store<kSlots, kPack>(y + at, pack, width - at);
    });
    if (threadIdx.x == 0 && width > 0) {
      if (args.mean) args.mean[row] = mean;
      if (args.rstd) args.rstd[row] = rstd;
    }
  }
}

// The sums of a thread's columns over its rows: in registers, or where rows are not held in
// `partial`, which is the thread's then.
template <typename T, int kSlots>
class ColumnSums {
 public:
  using L = Lanes<T, kSlots>;
  static constexpr int kPack = L::kPack;

  WEFT_DEVICE ColumnSums(float* partial, int64_t width) : partial_(partial), width_(width) {
    if constexpr (kSlots == 0) {
      L::ForEach(width, [&](int, int64_t at) { StorePack<kPack>(partial + at, Pack<float, kPack>{}, width - at); });
    }
  }
  WEFT_DEVICE void Add(int s, int64_t at, const Pack<float, kPack>& terms) {
    Pack<float, kPack> sums = kSlots > 0 ? sums_[s] : LoadPack<kPack>(partial_ + at, width_ - at);
    for (int i = 0; i < kPack; ++i) sums[i] += terms[i];
    if constexpr (kSlots > 0) {
      sums_[s] = sums;
    } else {
      StorePack<kPack>(partial_ + at, sums, width_ - at);
    }
  }
  // Adds up the block's rows into `partial`. Called by the whole block.
  WEFT_DEVICE void Finish() const {
    if constexpr (kSlots > 0) {
      __shared__ float rows[kPack][kThreads];
      const uint32_t thread = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
      for (int s = 0; s < kSlots; ++s) {
        for (int i = 0; i < kPack; ++i) rows[i][thread] = sums_[s][i];
        __syncthreads();
        const int64_t at = (int64_t{s} * blockDim.x + threadIdx.x) * kPack;
        if (threadIdx.y == 0 && at < width_) {
          Pack<float, kPack> sums = sums_[s];
          for (uint32_t r = 1; r < blockDim.y; ++r) {
            for (int i = 0; i < kPack; ++i) sums[i] += rows[i][r * blockDim.x + threadIdx.x];
          }
          Store<kSlots, kPack>(partial_ + at, sums, width_ - at);
        }
        __syncthreads();
      }
    }
  }

 private:
  float* partial_;
  int64_t width_;
  Pack<float, kPack> sums_[L::kHeld] = {};
};

template <typename T, int kSlots, bool kCenter>
WEFT_DEVICE void NormGrad(const NormGradArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  const float share = 1.0f / static_cast<float>(args.width);
  float* partial = args.partial + int64_t{blockIdx.x} * (kCenter ? 2 : 1) * args.width;
  ColumnSums<T, kSlots> dw(partial, args.width), db(partial + args.width, kCenter ? args.width : 0);
  for (int64_t first = int64_t{blockIdx.x} * blockDim.y; first < args.rows; first += int64_t{gridDim.x} * blockDim.y) {
    const int64_t row = first + threadIdx.y, width = row < args.rows ? args.width : 0;
    const Row<T, kSlots> dy(static_cast<const T*>(args.dy) + row * args.width, width);
    const Row<T, kSlots> x(static_cast<const T*>(args.x) + row * args.width, width);
    const float mean = kCenter && width > 0 ? args.mean[row] : 0, rstd = width > 0 ? args.rstd[row] : 0;
    Sums sums;  // of g and g n
    dy.ForEach([&](int s, int64_t at, const Pack<T>& gradient) {
      const auto w = LoadWeights<T, kSlots>(args.w, args.wide_weights, at, width - at);
      const Pack<T> in = x.Get(s, at);
      for (int i = 0; i < kPack; ++i) {
        const float g = Widen(gradient[i]) * w[i];
        sums.a += g;
        sums.b += g * ((Widen(in[i]) - mean) * rstd);
      }
    });
    sums = RowSums(sums);
    const float g_mean = kCenter ? sums.a * share : 0, gn_mean = sums.b * share;
    T* dx = static_cast<T*>(args.dx) + row * args.width;
    dy.ForEach([&](int s, int64_t at, const Pack<T>& gradient) {
      const auto w = LoadWeights<T, kSlots>(args.w, args.wide_weights, at, width - at);
      const Pack<T> in = x.Get(s, at);
      Pack<float, kPack> dw_terms, db_terms;
      Pack<T> out;
      for (int i = 0; i < kPack; ++i) {
        const float g = Widen(gradient[i]), n = (Widen(in[i]) - mean) * rstd;
        dw_terms[i] = g * n;
        db_terms[i] = g;
        out[i] = Narrow<T>(rstd * (g * w[i] - g_mean - n * gn_mean));
      }
      dw.Add(s, at, dw_terms);
      if constexpr (kCenter) db.Add(s, at, db_terms);
      Store<kSlots, kPack>(dx + at, out, width - at);
    });
  }
  dw.Finish();
  if constexpr (kCenter) db.Finish();
}

// 32 columns a block, of 32 x 8 threads: eight threads share a column's blocks.
template <typename T>
WEFT_DEVICE void SumBlocks(const NormSumArguments& args) {
  __shared__ float parts[8][32];
  for (int64_t first = int64_t{blockIdx.x} * 32; first < args.columns; first += int64_t{gridDim.x} * 32) {
    const int64_t column = first + threadIdx.x;
    float sum = 0;
    if (column < args.columns) {
      for (int64_t b = threadIdx.y; b < args.blocks; b += 8) sum += args.partial[b * args.columns + column];
    }
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < args.columns) {
      for (int r = 1; r < 8; ++r) sum += parts[r][threadIdx.x];
      T* to = column < args.width ? static_cast<T*>(args.dw) + column : static_cast<T*>(args.db) + column - args.width;
      *to = Narrow<T>(sum);
    }
    __syncthreads();
  }
}

}  // namespace

// Slots for the elements that a thread holds; 0: rows are not held.
#define WEFT_NORMS(T, type, elements)                                             \
  WEFT_KERNEL(layer_norm_##type##_##elements, NormArguments, kThreads) {          \
    Norm<T, elements / Pack<T>::kSize, true>(args);                               \
  }                                                                               \
  WEFT_KERNEL(rms_norm_##type##_##elements, NormArguments, kThreads) {            \
    Norm<T, elements / Pack<T>::kSize, false>(args);                              \
  }                                                                               \
  WEFT_KERNEL(layer_norm_grad_##type##_##elements, NormGradArguments, kThreads) { \
    NormGrad<T, elements / Pack<T>::kSize, true>(args);                           \
  }                                                                               \
  WEFT_KERNEL(rms_norm_grad_##type##_##elements, NormGradArguments, kThreads) {   \
    NormGrad<T, elements / Pack<T>::kSize, false>(args);                          \
  }
#define WEFT_NORMS_OF(T, type) \
  WEFT_NORMS(T, type, 0)       \
  WEFT_NORMS(T, type, 16)      \
  WEFT_NORMS(T, type, 32)      \
  WEFT_KERNEL(norm_sum_##type, NormSumArguments, kThreads) { SumBlocks<T>(args); }

WEFT_NORMS_OF(float, f32)
WEFT_NORMS_OF(BF16, bf16)
WEFT_NORMS_OF(F16, f16)
