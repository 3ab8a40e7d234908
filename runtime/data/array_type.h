// What the elements of an array may be, and what inputs of a plan they may feed.
#ifndef WEFT_RUNTIME_DATA_ARRAY_TYPE_H_
#define WEFT_RUNTIME_DATA_ARRAY_TYPE_H_

#include <cstdint>
#include <string>

#include "ops/abi/dtype.h"

namespace weft::data {

struct ArrayType {
  const char* name;         // for people
  const char* numpy;        // "<u2"; "" if NumPy has none
  const char* safetensors;  // "U16"
  int64_t bytes;
  bool integer;
};

// By the word of a format; nullptr for a type that feeds no input.
const ArrayType* TypeOfNumpy(const std::string& word);
const ArrayType* TypeOfSafetensors(const std::string& word);

// Writes `count` elements to `out` as the input's type; false if one of them has no such value, as an i64 above 2^31
// for an i32.
using Conversion = bool (*)(const uint8_t* from, int64_t count, void* out);

// From an array's type to an input's, if every value is kept: the same type, unsigned ids and i32 into i32 and i64, i64
// into i32 as far as its values fit, u8, f16 and bf16 into f32. nullptr for any other pair.
Conversion ConversionOf(const ArrayType& from, DType to);

// The smallest and largest of integers, and where they are met first.
struct Extremes {
  int64_t least = 0, least_at = 0;
  int64_t largest = 0, largest_at = 0;
};

// Of the `count` >= 1 elements from `begin` on; positions count from the array's first. Elements equal to `skip` do not
// count, unless all are.
Extremes ExtremesOf(const ArrayType& type, const uint8_t* data, int64_t begin, int64_t count, int64_t skip);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_ARRAY_TYPE_H_
