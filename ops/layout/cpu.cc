// CPU kernels that move elements without looking at them: reshape, transpose,
// slice, pad, concat, copy, copy_tile, mask_rank. Elements of any type.
// reshape, copy and mask_rank may have their input's address as their output's.
#include <algorithm>
#include <cstring>

#include "ops/abi/parallel.h"
#include "ops/families.h"
#include "ops/layout/cpu_internal.h"

namespace weft {
namespace layout {
namespace {

// Calls body(row, offset, bytes) for the pieces of rows, shared out by bytes:
// one long row is work for every thread.
template <typename Body>
void ForPieces(int threads, Rows rows, const Body& body) {
  ParallelFor(threads, rows.count * rows.bytes, kGrainBytes, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = begin / rows.bytes, offset = begin % rows.bytes;
      const int64_t bytes = std::min(rows.bytes - offset, end - begin);
      body(row, offset, bytes);
      begin += bytes;
    }
  });
}

}  // namespace

void CopyRows(int threads, Rows rows, const void* from, int64_t from_stride, void* to, int64_t to_stride) {
  if (from == to) return;
  const auto* source = static_cast<const char*>(from);
  auto* target = static_cast<char*>(to);
  if (from_stride == rows.bytes && to_stride == rows.bytes) rows = {1, rows.count * rows.bytes};
  ForPieces(threads, rows, [&](int64_t row, int64_t offset, int64_t bytes) {
    std::memcpy(target + row * to_stride + offset, source + row * from_stride + offset, static_cast<size_t>(bytes));
  });
}

void ZeroRows(int threads, Rows rows, void* to, int64_t to_stride) {
  auto* target = static_cast<char*>(to);
  ForPieces(threads, rows, [&](int64_t row, int64_t offset, int64_t bytes) {
    std::memset(target + row * to_stride + offset, 0, static_cast<size_t>(bytes));
  });
}

}  // namespace layout

void RegisterLayoutKernels(KernelRegistry& registry) {
  layout::RegisterCopies(registry);
  layout::RegisterRows(registry);
  layout::RegisterTranspose(registry);
  layout::RegisterTiles(registry);
}

}  // namespace weft
