// Tensors of numbers that are known when a kernel is created.
#include "ops/constant/cuda_arguments.h"
#include "ops/cuda/kernel.h"

namespace {

using namespace weft::gpu;
using namespace weft::constant;

template <typename Word>
WEFT_DEVICE void Fill(const FillArguments& args) {
  for (int64_t i : EachOf(args.n)) static_cast<Word*>(args.y)[i] = static_cast<Word>(args.word);
}

template <typename T>
WEFT_DEVICE void Iota(const IotaArguments& args) {
  for (int64_t i : EachOf(args.n)) {
    static_cast<T*>(args.y)[i] = static_cast<T>(args.begin + i / args.inner % args.extent);
  }
}

}  // namespace

WEFT_KERNEL(fill_1, FillArguments, kThreads) { Fill<uint8_t>(args); }
WEFT_KERNEL(fill_2, FillArguments, kThreads) { Fill<uint16_t>(args); }
WEFT_KERNEL(fill_4, FillArguments, kThreads) { Fill<uint32_t>(args); }
WEFT_KERNEL(fill_8, FillArguments, kThreads) { Fill<uint64_t>(args); }

WEFT_KERNEL(iota_i32, IotaArguments, kThreads) { Iota<int32_t>(args); }
WEFT_KERNEL(iota_i64, IotaArguments, kThreads) { Iota<int64_t>(args); }
WEFT_KERNEL(iota_f32, IotaArguments, kThreads) { Iota<float>(args); }

WEFT_KERNEL(constant, ConstantArguments, kThreads) {
  for (int64_t i : EachOf(args.count)) args.y[args.offset + i] = args.bytes[i];
}
