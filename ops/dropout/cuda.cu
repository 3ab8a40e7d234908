// Each thread does packs of 16 bytes; ops/cuda/dropout.h says which elements are kept.
#include "ops/cuda/dropout.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/dropout/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using weft::dropout::DropoutArguments;
using weft::dropout::kThreads;

template <typename T>
WEFT_DEVICE void Dropout(const DropoutArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    const Pack<T> pack = LoadPack<kPack>(static_cast<const T*>(args.x) + at, count);
    StorePack<kPack>(static_cast<T*>(args.y) + at, Dropped(args.mask, at, count, pack), count);
  }
}

}  // namespace

WEFT_KERNEL(dropout_f32, DropoutArguments, kThreads) { Dropout<float>(args); }
WEFT_KERNEL(dropout_bf16, DropoutArguments, kThreads) { Dropout<BF16>(args); }
WEFT_KERNEL(dropout_f16, DropoutArguments, kThreads) { Dropout<F16>(args); }
