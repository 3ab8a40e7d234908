// Each thread does packs of 16 bytes. Where a pack begins with a Philox block, as in
// all whole tensors and in tiles of a multiple of four, a block's four words are
// computed once.
#include "ops/abi/philox.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/dropout/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using weft::dropout::DropoutArguments;
using weft::dropout::kThreads;

template <typename T>
WEFT_DEVICE T Selected(const DropoutArguments& args, uint32_t word, T x) {
  return static_cast<int32_t>(word >> 8) >= args.threshold ? Narrow<T>(Widen(x) * args.scale) : Narrow<T>(0.0f);
}

template <typename T>
WEFT_DEVICE void Dropout(const DropoutArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  const auto event = static_cast<uint64_t>(*args.step);
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    Pack<T> pack = LoadPack<kPack>(static_cast<const T*>(args.x) + at, count);
    const uint64_t global = args.first + static_cast<uint64_t>(args.tile.GlobalOf(at));
    const bool neighbours = at % args.tile.run + kPack <= args.tile.run;
    if (neighbours && global % 4 == 0) {
      for (int block = 0; block < kPack / 4; ++block) {
        const weft::PhiloxBlock words = weft::Philox(args.key, global / 4 + block, event);
        for (int i = 0; i < 4; ++i) pack[4 * block + i] = Selected(args, words[i], pack[4 * block + i]);
      }
    } else {
      for (int i = 0; i < kPack && i < count; ++i) {
        const uint64_t element = args.first + static_cast<uint64_t>(args.tile.GlobalOf(at + i));
        pack[i] = Selected(args, weft::PhiloxElement(args.key, event, element), pack[i]);
      }
    }
    StorePack<kPack>(static_cast<T*>(args.y) + at, pack, count);
  }
}

}  // namespace

WEFT_KERNEL(dropout_f32, DropoutArguments, kThreads) { Dropout<float>(args); }
WEFT_KERNEL(dropout_bf16, DropoutArguments, kThreads) { Dropout<BF16>(args); }
WEFT_KERNEL(dropout_f16, DropoutArguments, kThreads) { Dropout<F16>(args); }
