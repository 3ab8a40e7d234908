// Dropout of a pack. Where a pack begins with a Philox block, as in all whole
// tensors and in tiles of a multiple of four, a block's four words are computed
// once.
#ifndef WEFT_OPS_CUDA_DROPOUT_H_
#define WEFT_OPS_CUDA_DROPOUT_H_

#include "ops/abi/gpu_dropout.h"
#include "ops/abi/philox.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"

namespace weft::gpu {

template <typename T>
WEFT_DEVICE T Selected(const DropoutMask& mask, uint32_t word, T x) {
  return static_cast<int32_t>(word >> 8) >= mask.threshold ? Narrow<T>(Widen(x) * mask.scale) : Narrow<T>(0.0f);
}

// The pack of the elements from `at`, of which `count` are there.
template <typename T, int N>
WEFT_DEVICE Pack<T, N> Dropped(const DropoutMask& mask, int64_t at, int64_t count, Pack<T, N> pack) {
  const auto event = static_cast<uint64_t>(*mask.step);
  const uint64_t global = mask.first + static_cast<uint64_t>(mask.tile.GlobalOf(at));
  const bool neighbours = at % mask.tile.run + N <= mask.tile.run;
  if (neighbours && global % 4 == 0) {
    for (int block = 0; block < N / 4; ++block) {
      const PhiloxBlock words = Philox(mask.key, global / 4 + block, event);
      for (int i = 0; i < 4; ++i) pack[4 * block + i] = Selected(mask, words[i], pack[4 * block + i]);
    }
  } else {
    for (int i = 0; i < N && i < count; ++i) {
      const uint64_t element = mask.first + static_cast<uint64_t>(mask.tile.GlobalOf(at + i));
      pack[i] = Selected(mask, PhiloxElement(mask.key, event, element), pack[i]);
    }
  }
  return pack;
}

}  // namespace weft::gpu

#endif  // WEFT_OPS_CUDA_DROPOUT_H_
