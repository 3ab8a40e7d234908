// How wide the numbers are that an op reads and writes where a job computes in a narrow type.
#ifndef WEFT_OPS_DIALECT_PRECISION_H_
#define WEFT_OPS_DIALECT_PRECISION_H_

#include <algorithm>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace weft::ir {

/// What an op wants of one floating-point operand or result. The compute type is bfloat16 or float16.
enum class Width {
  Wide,   ///< Float32: small differences of large numbers, sums over a whole step, state.
  Narrow, ///< The compute type: the op is made for it, and sums in float32.
  Same,   ///< Any type that is that of all operands and results which say so.
  Any,    ///< Operand: whatever it is. Result: float32, or the operands' type; the attribute `result_type` says which.
};

/// One Width an operand and one a result; those of integers say nothing.
struct Precision {
  llvm::SmallVector<Width> operands, results;
  /// Whether the result is the sum of the operands: of activations, a residual connection.
  bool sum = false;

  /// From the names above, in lower case: "same,wide->same". The last word before and behind the arrow stands for all
  /// further operands and results.
  static Precision parse(llvm::StringRef text);
  Precision asSum() const {
    Precision copy = *this;
    copy.sum = true;
    return copy;
  }

  Width ofOperand(unsigned index) const { return at(operands, index); }
  Width ofResult(unsigned index) const { return at(results, index); }

private:
  static Width at(llvm::ArrayRef<Width> list, unsigned index) {
    return list.empty() ? Width::Wide : list[std::min<size_t>(index, list.size() - 1)];
  }
};

} // namespace weft::ir

#endif // WEFT_OPS_DIALECT_PRECISION_H_
