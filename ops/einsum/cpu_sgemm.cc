#include "ops/einsum/cpu_sgemm.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace weft::einsum {
namespace {

// Fortran's interface: matrices by columns, everything by pointer. C's would choose kernels of its own for some shapes.
using FortranSgemm = void (*)(const char* left_transposed, const char* right_transposed, const int* rows,
                              const int* columns, const int* inner, const float* alpha, const float* left,
                              const int* left_stride, const float* right, const int* right_stride, const float* beta,
                              float* result, const int* result_stride);

using FortranSgemv = void (*)(const char* transposed, const int* rows, const int* columns, const float* alpha,
                              const float* matrix, const int* matrix_stride, const float* vector, const int* step,
                              const float* beta, float* result, const int* result_step);

struct OpenBlas {
  FortranSgemm sgemm = nullptr;
  FortranSgemv sgemv = nullptr;
  std::string version;  // or why there is no sgemm
};

// The processor of OpenBLAS's list that has the instructions of this one, or fewer; nullptr for one without AVX2.
const char* ListedProcessor() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return "SKYLAKEX";
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "HASWELL" : nullptr;
}

// OpenBLAS chooses kernels by the processor's model number, and by those of 2004 for a model that it does not know:
// products then take four times as long. Its one other ear is an environment variable that it reads when it is opened.
// Whoever starts the program may set it; where nobody did, it is set before main, when there are no other threads yet.
const bool kernels_by_instructions = [] {
  const char* const listed = ListedProcessor();
  return listed != nullptr && setenv("OPENBLAS_CORETYPE", listed, /*overwrite=*/0) == 0;
}();

OpenBlas Open() {
  void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, nullptr, dlerror()};
  const auto parallel = reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_parallel"));
  const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  const auto config = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_config"));
  const auto core = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"));
  const auto sgemm = reinterpret_cast<FortranSgemm>(dlsym(library, "sgemm_"));
  const auto sgemv = reinterpret_cast<FortranSgemv>(dlsym(library, "sgemv_"));
  if (!parallel || !set_threads || !config || !core || !sgemm || !sgemv) {
    return {nullptr, nullptr, "libopenblas.so.0: expected OpenBLAS's functions, got a library that lacks some"};
  }
  // A build for one thread is not safe for several: small products of two came out wrong.
  if (parallel() == 0) return {nullptr, nullptr, "libopenblas.so.0: expected a build with threads, got a serial one"};
  set_threads(1);  // kernels have threads of their own (ops/abi/parallel.h)
  const std::vector<std::string> words = absl::StrSplit(config(), absl::MaxSplits(' ', 2));
  return {sgemm, sgemv, absl::StrCat(words[0], " ", words.size() > 1 ? words[1] : "", " for ", core())};
}

const OpenBlas& Library() {
  static const OpenBlas library = Open();
  return library;
}

// Of a single row of left. sgemm packs the matrix first: that takes some six times as long as reading it once.
void RowByOpenBlas(int columns, int inner, const FloatMatrix& left, const FloatMatrix& right, float* result) {
  const float one = 1;
  const int step = left.transposed ? left.stride : 1, next = 1;
  std::fill(result, result + columns, 0.0f);  // it is added to: what was there may be no number
  Library().sgemv(right.transposed ? "T" : "N", right.transposed ? &inner : &columns,
                  right.transposed ? &columns : &inner, &one, right.data, &right.stride, left.data, &step, &one, result,
                  &next);
}

// By columns the operands are their transposes: the product's is right's transpose times left's.
void ByOpenBlas(int rows, int columns, int inner, const FloatMatrix& left, const FloatMatrix& right, float* result,
                int stride) {
  if (rows == 1) return RowByOpenBlas(columns, inner, left, right, result);
  const float one = 1, zero = 0;
  Library().sgemm(right.transposed ? "T" : "N", left.transposed ? "T" : "N", &columns, &rows, &inner, &one, right.data,
                  &right.stride, left.data, &left.stride, &zero, result, &stride);
}

constexpr int kLanes = 16;
constexpr int kStrip = 512;  // columns whose sums stay in the first-level cache

float LaneDot(const float* a, int64_t step, const float* b, int n) {
  float lanes[kLanes] = {};
  int p = 0;
  for (; p + kLanes <= n; p += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += a[(p + lane) * step] * b[p + lane];
  }
  float sum = 0;
  for (; p < n; ++p) sum += a[p * step] * b[p];
  for (float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

Sgemm OpenBlasSgemm() { return Library().sgemm == nullptr ? nullptr : &ByOpenBlas; }

absl::StatusOr<std::string> OpenBlasVersion() {
  if (Library().sgemm == nullptr) return absl::NotFoundError(Library().version);
  return Library().version;
}

void PlainSgemm(int rows, int columns, int inner, const FloatMatrix& left, const FloatMatrix& right, float* result,
                int stride) {
  const int64_t row_step = left.transposed ? 1 : left.stride, inner_step = left.transposed ? left.stride : 1;
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = left.data + row * row_step;
    float* to = result + row * stride;
    if (right.transposed) {
      for (int64_t j = 0; j < columns; ++j) to[j] = LaneDot(from, inner_step, right.data + j * right.stride, inner);
      continue;
    }
    for (int begin = 0; begin < columns; begin += kStrip) {
      float sums[kStrip] = {};
      const int count = std::min(kStrip, columns - begin);
      for (int64_t p = 0; p < inner; ++p) {
        const float factor = from[p * inner_step];
        const float* terms = right.data + p * right.stride + begin;
        for (int j = 0; j < count; ++j) sums[j] += factor * terms[j];
      }
      std::copy(sums, sums + count, to + begin);
    }
  }
}

}  // namespace weft::einsum
