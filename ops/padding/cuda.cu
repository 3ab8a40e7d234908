// Writes one number to rows.
#include "ops/cuda/kernel.h"
#include "ops/padding/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::padding;

template <typename Word>
WEFT_DEVICE void FillRows(const RowsArguments& args) {
  for (int64_t i : EachOf(args.n)) {
    static_cast<Word*>(args.y)[args.offset + i / args.elements * args.stride + i % args.elements] =
        static_cast<Word>(args.word);
  }
}

}  // namespace

WEFT_KERNEL(fill_rows_1, RowsArguments, kThreads) { FillRows<uint8_t>(args); }
WEFT_KERNEL(fill_rows_2, RowsArguments, kThreads) { FillRows<uint16_t>(args); }
WEFT_KERNEL(fill_rows_4, RowsArguments, kThreads) { FillRows<uint32_t>(args); }
WEFT_KERNEL(fill_rows_8, RowsArguments, kThreads) { FillRows<uint64_t>(args); }
