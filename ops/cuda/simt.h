// The CUDA C++ that kernels use, on the host: threads of a block are fibers of
// one thread, so that barriers and shuffles mean what they mean on a GPU.
// Included by kernel.h alone.
//
// What is seen that a GPU lets pass: barriers that not all threads of a block,
// or not all lanes of a mask, reach at one place; shared memory read before it
// is written (it starts as NaN); what depends on the order of threads (tests
// run each kernel in several, and asynchronous copies arrive early or late).
#ifndef WEFT_OPS_CUDA_SIMT_H_
#define WEFT_OPS_CUDA_SIMT_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ops/abi/emulated_kernel.h"

namespace weft::simt {

struct Index {
  uint32_t x = 0, y = 0, z = 0;
};

// Of the thread that runs now.
struct Thread {
  Index thread, block, block_size, grid_size;
};
extern thread_local const Thread* now;

absl::Status RunGrid(const EmulatedKernel& kernel, const GpuGrid& grid, const void* arguments, uint64_t order);

void* DynamicShared();
void BlockBarrier(int line);
// How lanes of a warp exchange words.
enum class Exchange { kBarrier, kIndex, kXor, kUp, kDown, kBallot, kTogether };
uint64_t WarpExchange(Exchange kind, uint32_t mask, uint64_t word, int operand, int line);
// When all 32 lanes have come, calls together(lanes) once, with what each brought.
void WarpTogether(void (*together)(void* const* lanes), void* mine, int line);

// An error unless `bytes` at `at` are shared memory and aligned to `alignment`.
void CheckShared(const void* at, size_t bytes, size_t alignment, int line);

// Copies to shared memory that are done some time between here and their wait: at once in the first
// order of threads, at the wait in the others. Zeros if not `inside`.
void CopyAsync(void* to, const void* from, size_t bytes, bool inside, int line = __builtin_LINE());
void CommitCopies();
void WaitCopies(int groups);

template <typename T>
T Shuffle(Exchange kind, uint32_t mask, T value, int operand, int line) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  word = WarpExchange(kind, mask, word, operand, line);
  std::memcpy(&value, &word, sizeof(T));
  return value;
}

}  // namespace weft::simt

#define WEFT_DEVICE inline
#define __device__
#define __forceinline__ inline
#define __restrict__ __restrict
// One kernel runs at a time in a process, so that what a block shares is global.
#define __shared__ static __attribute__((section("weft_shared")))

#define threadIdx (::weft::simt::now->thread)
#define blockIdx (::weft::simt::now->block)
#define blockDim (::weft::simt::now->block_size)
#define gridDim (::weft::simt::now->grid_size)

#define WEFT_KERNEL(name, Arguments, threads)                                                                       \
  static void name(const Arguments& args);                                                                          \
  static void name##_body(const void* args) { name(*static_cast<const Arguments*>(args)); }                         \
  static const ::weft::EmulatedKernel name##_kernel = {WEFT_MODULE, #name,        sizeof(Arguments),                \
                                                       threads,     &name##_body, &::weft::simt::RunGrid};          \
  __attribute__((section("weft_emulated"), used, retain)) static const ::weft::EmulatedKernel* const name##_entry = \
      &name##_kernel;                                                                                               \
  static void name(const Arguments& args)

// Synchronisation. The line tells one barrier from another.
inline void __syncthreads(int line = __builtin_LINE()) { ::weft::simt::BlockBarrier(line); }
inline void __syncwarp(uint32_t mask = 0xffffffffu, int line = __builtin_LINE()) {
  ::weft::simt::WarpExchange(::weft::simt::Exchange::kBarrier, mask, 0, 0, line);
}
template <typename T>
T __shfl_sync(uint32_t mask, T value, int lane, int line = __builtin_LINE()) {
  return ::weft::simt::Shuffle(::weft::simt::Exchange::kIndex, mask, value, lane, line);
}
template <typename T>
T __shfl_xor_sync(uint32_t mask, T value, int lanes, int line = __builtin_LINE()) {
  return ::weft::simt::Shuffle(::weft::simt::Exchange::kXor, mask, value, lanes, line);
}
template <typename T>
T __shfl_up_sync(uint32_t mask, T value, uint32_t by, int line = __builtin_LINE()) {
  return ::weft::simt::Shuffle(::weft::simt::Exchange::kUp, mask, value, static_cast<int>(by), line);
}
template <typename T>
T __shfl_down_sync(uint32_t mask, T value, uint32_t by, int line = __builtin_LINE()) {
  return ::weft::simt::Shuffle(::weft::simt::Exchange::kDown, mask, value, static_cast<int>(by), line);
}
inline uint32_t __ballot_sync(uint32_t mask, int predicate, int line = __builtin_LINE()) {
  return static_cast<uint32_t>(
      ::weft::simt::WarpExchange(::weft::simt::Exchange::kBallot, mask, predicate != 0, 0, line));
}
inline int __any_sync(uint32_t mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0;
}
inline int __all_sync(uint32_t mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) == mask;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// Fibers are not interrupted, so that plain arithmetic is atomic.
template <typename T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  const T old = *at;
  *at = old + value;
  return old;
}
template <typename T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  const T old = *at;
  if (value > old) *at = value;
  return old;
}
template <typename T>
T atomicExch(T* at, std::type_identity_t<T> value) {
  const T old = *at;
  *at = value;
  return old;
}
template <typename T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}

// Mathematics beyond <cmath>.
inline float __fadd_rn(float a, float b) { return a + b; }  // never made one with a product
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
// Of pi x: exact at whole and half numbers.
inline float sinpif(float x) { return static_cast<float>(std::sin(M_PI * static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(std::cos(M_PI * static_cast<double>(x))); }
template <typename T>
T __ldg(const T* at) {
  return *at;
}
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }
template <typename A, typename B>
  requires std::is_integral_v<A> && std::is_integral_v<B>
std::common_type_t<A, B> min(A a, B b) {
  return a < b ? std::common_type_t<A, B>(a) : std::common_type_t<A, B>(b);
}
template <typename A, typename B>
  requires std::is_integral_v<A> && std::is_integral_v<B>
std::common_type_t<A, B> max(A a, B b) {
  return a > b ? std::common_type_t<A, B>(a) : std::common_type_t<A, B>(b);
}

#endif  // WEFT_OPS_CUDA_SIMT_H_
