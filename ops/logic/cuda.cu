// Comparisons, truth values and choices. A thread does one element after another; neighbouring threads have
// neighbours of the result. The output may be any input of its shape.
#include <type_traits>

#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/logic/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::logic;

// Where element `index` of the result comes from in operand `o`.
WEFT_DEVICE int64_t OffsetOf(const LogicArguments& args, int64_t index, int o) {
  if (args.dims == 1) return index * args.stride[0][o];
  int64_t offset = 0;
  for (int d = 0; d < args.dims; ++d) {
    offset += index % args.extent[d] * args.stride[d][o];
    index /= args.extent[d];
  }
  return offset;
}

template <typename T>
WEFT_DEVICE auto Wide(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return Widen(x);
  }
}
template <typename To>
WEFT_DEVICE To Number(bool truth) {
  if constexpr (std::is_integral_v<To>) {
    return truth ? To{1} : To{0};
  } else {
    return Narrow<To>(truth ? 1.0f : 0.0f);
  }
}

template <typename T>
WEFT_DEVICE bool Holds(Test test, T a, T b) {
  switch (test) {
    case Test::kGreater:
      return a > b;
    case Test::kGreaterEqual:
      return a >= b;
    case Test::kLess:
      return a < b;
    case Test::kLessEqual:
      return a <= b;
    case Test::kEqual:
      return a == b;
    case Test::kNotEqual:
      return a != b;
    case Test::kAnd:
      return a != 0 && b != 0;
    case Test::kOr:
      return a != 0 || b != 0;
    case Test::kNeither:
      return a == 0 && b == 0;
  }
  return false;
}

template <typename From, typename To>
WEFT_DEVICE void Compare(const LogicArguments& args) {
  const From* a = static_cast<const From*>(args.operand[0]);
  const From* b = static_cast<const From*>(args.operand[1]);
  for (int64_t i : EachOf(args.n)) {
    const bool truth = Holds(args.test, Wide(a[OffsetOf(args, i, 0)]), Wide(b[OffsetOf(args, i, 1)]));
    static_cast<To*>(args.y)[i] = Number<To>(truth);
  }
}

// Moves elements as words of their size.
template <typename Word>
WEFT_DEVICE void Select(const LogicArguments& args) {
  const uint8_t* condition = static_cast<const uint8_t*>(args.operand[0]);
  for (int64_t i : EachOf(args.n)) {
    const int from = condition[OffsetOf(args, i, 0)] != 0 ? 1 : 2;
    static_cast<Word*>(args.y)[i] = static_cast<const Word*>(args.operand[from])[OffsetOf(args, i, from)];
  }
}

}  // namespace

#define WEFT_COMPARE(name, T)                                                             \
  WEFT_KERNEL(compare_##name##_##name, LogicArguments, kThreads) { Compare<T, T>(args); } \
  WEFT_KERNEL(compare_##name##_u8, LogicArguments, kThreads) { Compare<T, uint8_t>(args); }

WEFT_COMPARE(f32, float)
WEFT_COMPARE(bf16, BF16)
WEFT_COMPARE(f16, F16)
WEFT_COMPARE(i32, int32_t)
WEFT_COMPARE(i64, int64_t)
WEFT_KERNEL(compare_u8_u8, LogicArguments, kThreads) { Compare<uint8_t, uint8_t>(args); }

WEFT_KERNEL(select_1, LogicArguments, kThreads) { Select<uint8_t>(args); }
WEFT_KERNEL(select_2, LogicArguments, kThreads) { Select<uint16_t>(args); }
WEFT_KERNEL(select_4, LogicArguments, kThreads) { Select<uint32_t>(args); }
WEFT_KERNEL(select_8, LogicArguments, kThreads) { Select<uint64_t>(args); }
