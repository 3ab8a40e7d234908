#include "tools/run/numbers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "runtime/plan/names.h"

namespace weft::run {
namespace {

template <typename T>
double Value(T element) {
  return static_cast<double>(element);
}
double Value(BFloat16 element) { return ToFloat(element); }
double Value(Float16 element) { return ToFloat(element); }

template <typename T>
Numbers Look(const void* elements, int64_t count) {
  Numbers numbers;
  const T* const all = static_cast<const T*>(elements);
  for (int64_t i = 0; i < count; ++i) {
    const double value = Value(all[i]);
    if (std::isfinite(value)) {
      numbers.least = std::min(numbers.least, value);
      numbers.most = std::max(numbers.most, value);
    } else if (numbers.non_finite++ == 0) {
      numbers.first = i;
      numbers.value = value;
    }
  }
  return numbers;
}

}  // namespace

Numbers NumbersOf(DType dtype, const void* elements, int64_t count) {
  switch (dtype) {
#define WEFT_ROW(name, cpp, ...) \
  case DType::k##name:           \
    return Look<cpp>(elements, count);
    WEFT_ELEMENT_TYPES(WEFT_ROW)
#undef WEFT_ROW
    case DType::kInvalid:
      break;
  }
  return {};
}

std::string PlaceText(const TensorSpec& tile, int64_t element) {
  std::vector<int64_t> place(tile.dims.size());
  for (int64_t d = tile.rank() - 1; d >= 0; --d) {
    place[d] = tile.origin[d] + element % tile.dims[d];
    element /= tile.dims[d];
  }
  return plan::ShapeText(place);
}

std::string NumbersText(const TensorSpec& tile, const Numbers& numbers) {
  std::string text = absl::StrCat(NameOf(tile.dtype), plan::ShapeText(tile.dims));
  if (!tile.whole()) absl::StrAppend(&text, " of ", plan::ShapeText(tile.global_dims));
  if (numbers.non_finite > 0) {
    absl::StrAppend(&text, ", ", numbers.non_finite, " of its ", tile.elements(), " elements not finite, the first at ",
                    PlaceText(tile, numbers.first), ": ", numbers.value);
  } else if (numbers.least <= numbers.most) {
    absl::StrAppend(&text, " from ", numbers.least, " to ", numbers.most);
  }
  return text;
}

}  // namespace weft::run
