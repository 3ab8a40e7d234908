// What an op is tested on: its text, its inputs and how exactly results must agree.
#ifndef WEFT_TESTS_SHARDING_OP_CASE_H_
#define WEFT_TESTS_SHARDING_OP_CASE_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "ops/abi/dtype.h"
#include "tests/support/kernel_testing.h"

namespace weft::tests {

using testing::Values;

// How the elements of an input are drawn. Every number is a multiple of a power of two, so that addends of a pending
// sum can be drawn whose sum is the number itself, without rounding.
struct Fill {
  enum Kind {
    kUniform,   // low to high, multiples of 2^-10 (bfloat16: 2^-3)
    kEighths,   // -1 to 1, multiples of 1/8: sums of products of them are exact in float32
    kIntegers,  // low to high - 1; every third is `ignore` if that is not 0
    kAway,      // low to high, either sign
    kDistinct,  // all different, 1/2 apart, in a mixed order, around low
  };
  Kind kind = kUniform;
  double low = -1, high = 1;
  double ignore = 0;
};

inline Fill Uniform(double low, double high) { return {Fill::kUniform, low, high}; }
inline Fill Eighths() { return {Fill::kEighths}; }
inline Fill Positive() { return Uniform(0.5, 2); }
inline Fill Integers(double end) { return {Fill::kIntegers, 0, end}; }
inline Fill Labels(double end, double ignore) { return {Fill::kIntegers, 0, end, ignore}; }
inline Fill Away() { return {Fill::kAway, 0.25, 1.25}; }
inline Fill Distinct(double around) { return {Fill::kDistinct, around, around + 1}; }

// The step between neighbouring numbers of `fill` in this element type.
double QuantumOf(const Fill& fill, DType dtype);

// `n` numbers, a function of the arguments.
Values Draw(const Fill& fill, DType dtype, int64_t n, uint64_t seed);

struct Input {
  std::string type;  // as in tensor<...>: "4x8xf32"
  Fill fill = {};
};

// How results on a mesh must agree with those on one rank.
enum class Agreement {
  kDefault,  // bit for bit where no sum is cut and no operand is pending; else within a rounding bound
  kExact,    // equal always: the inputs are such that no sum rounds
  kRounded,  // within a rounding bound always: a library sums in an order that depends on where a tile ends
};

// One op. Operands are %a, %b, ... in the order of `inputs`, each used once.
struct OpCase {
  std::string name;  // a test's name: letters, digits, _
  std::string op;    // without types: "weft.scale %a by(3)"
  std::vector<Input> inputs;
  std::vector<std::string> results;  // their types, where the op has optional results; else inferred
  Agreement agreement = Agreement::kDefault;
  bool uneven = false;  // some layout must be refused, because an extent is not divisible

  OpCase(std::string case_name, std::string text, std::vector<Input> operands)
      : name(std::move(case_name)), op(std::move(text)), inputs(std::move(operands)) {}
  OpCase Exact() && { return agreement = Agreement::kExact, std::move(*this); }
  OpCase Rounded() && { return agreement = Agreement::kRounded, std::move(*this); }
  OpCase Uneven() && { return uneven = true, std::move(*this); }
  OpCase Results(std::vector<std::string> types) && { return results = std::move(types), std::move(*this); }

  // "scale" of "weft.scale %a by(3)".
  std::string Mnemonic() const;

  friend void PrintTo(const OpCase& one, std::ostream* os) { *os << one.op; }
};

// Every op that has a kernel, on several shapes and attributes.
std::vector<OpCase> ShardingCases();

// A case of f32, and the same in bf16 or f16 but for operands that are always f32.
struct NarrowPair {
  OpCase wide, narrow;
  friend void PrintTo(const NarrowPair& pair, std::ostream* os) { *os << pair.narrow.name; }
};

// Every op that narrow activations meet. ShardingCases() has the narrow ones too.
std::vector<NarrowPair> NarrowPairs();

}  // namespace weft::tests

#endif  // WEFT_TESTS_SHARDING_OP_CASE_H_
