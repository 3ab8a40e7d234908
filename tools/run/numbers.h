// What is known of a tile's numbers at a glance.
#ifndef WEFT_TOOLS_RUN_NUMBERS_H_
#define WEFT_TOOLS_RUN_NUMBERS_H_

#include <cstdint>
#include <limits>
#include <string>

#include "ops/abi/tensor_spec.h"

namespace weft::run {

struct Numbers {
  double least = std::numeric_limits<double>::infinity();  // of those that are finite
  double most = -std::numeric_limits<double>::infinity();
  int64_t non_finite = 0;
  int64_t first = -1;  // that is not finite: its index
  double value = 0;    // and what it is
};

// Of the elements inside the tensor and of its padding alike.
Numbers NumbersOf(DType dtype, const void* elements, int64_t count);

// Where an element of a tile is in its tensor: "[3,17]".
std::string PlaceText(const TensorSpec& tile, int64_t element);

// "f32[4,8] from -0.3 to 2.1", "f32[4,8] of [16,8], 3 of its 32 elements not finite, the first at [5,1]: inf".
std::string NumbersText(const TensorSpec& tile, const Numbers& numbers);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_NUMBERS_H_
