#include "tests/sharding/op_case.h"

#include <cmath>

namespace weft::tests {

double QuantumOf(const Fill& fill, DType dtype) {
  if (dtype == DType::kI32 || dtype == DType::kI64 || dtype == DType::kU8) return 1;
  return fill.kind == Fill::kEighths || dtype == DType::kBF16 || dtype == DType::kF16 ? 0x1p-3 : 0x1p-10;
}

Values Draw(const Fill& fill, DType dtype, int64_t n, uint64_t seed) {
  const double quantum = QuantumOf(fill, dtype);
  Values values = testing::RandomValues(n, seed, fill.low, fill.high, DType::kF64);
  for (int64_t i = 0; i < n; ++i) {
    double& x = values[static_cast<size_t>(i)];
    x = std::floor(x / quantum) * quantum;
    if (fill.kind == Fill::kIntegers && fill.ignore != 0 && i % 3 == 1) x = fill.ignore;
    if (fill.kind == Fill::kAway && i % 2 == 1) x = -x;
    // 7 has no factor in common with the numbers of elements used.
    if (fill.kind == Fill::kDistinct) x = fill.low + 0.5 * static_cast<double>((i * 7 + 3) % n - n / 2);
  }
  return values;
}

std::string OpCase::Mnemonic() const {
  const size_t begin = op.find('.') + 1;
  return op.substr(begin, op.find(' ', begin) - begin);
}

}  // namespace weft::tests
