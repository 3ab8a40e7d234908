// The parts of the family's registration, and the copying that they share.
#ifndef WEFT_OPS_LAYOUT_CPU_INTERNAL_H_
#define WEFT_OPS_LAYOUT_CPU_INTERNAL_H_

#include <cstdint>

#include "ops/abi/registry.h"

namespace weft::layout {

// Bytes that are worth a thread of their own.
inline constexpr int64_t kGrainBytes = 65536;

// `count` rows of `bytes` bytes each; how far apart they begin is said elsewhere.
struct Rows {
  int64_t count;
  int64_t bytes;
};

// Copies rows; source and destination do not overlap, or are the same.
void CopyRows(int threads, Rows rows, const void* from, int64_t from_stride, void* to, int64_t to_stride);

// Sets rows to zero bytes, which is 0 in every element type.
void ZeroRows(int threads, Rows rows, void* to, int64_t to_stride);

void RegisterCopies(KernelRegistry& registry);
void RegisterRows(KernelRegistry& registry);
void RegisterTranspose(KernelRegistry& registry);
void RegisterTiles(KernelRegistry& registry);

}  // namespace weft::layout

#endif  // WEFT_OPS_LAYOUT_CPU_INTERNAL_H_
