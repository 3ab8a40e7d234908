// The memory that generated kernels work on in tests.
#ifndef WEFT_TESTS_CODEGEN_MEMORY_H_
#define WEFT_TESTS_CODEGEN_MEMORY_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compiler/codegen/loops.h"
#include "gtest/gtest.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tests/codegen/reference.h"

namespace weft::compiler {

// A tensor in memory, of float32, of floating-point numbers of 16 bits, or of bytes without a sign, behind which
// nothing may be written.
class Memory {
 public:
  static constexpr unsigned char kGuard = 0xa5;
  static constexpr size_t kGuards = 64;

  Memory(mlir::Type type, size_t size) : type_(type), size_(size), bytes_(size * width() + kGuards, kGuard) {}

  size_t size() const { return size_; }
  size_t width() const { return type_.getIntOrFloatBitWidth() / 8; }
  void* data() { return bytes_.data(); }
  const std::vector<unsigned char>& bytes() const { return bytes_; }
  bool guarded() const {
    return std::all_of(bytes_.begin() + ptrdiff_t(size_ * width()), bytes_.end(),
                       [](unsigned char byte) { return byte == kGuard; });
  }

  // Rounds to the type, and says what became of the numbers.
  Numbers set(const Numbers& numbers) {
    Numbers stored;
    for (size_t i = 0; i < size_; ++i) {
      if (type_.isInteger(8)) {
        bytes_[i] = static_cast<unsigned char>(std::clamp(numbers[i], 0.0, 255.0));
        stored.push_back(bytes_[i]);
        continue;
      }
      llvm::APFloat number(numbers[i]);
      bool inexact;
      number.convert(llvm::cast<mlir::FloatType>(type_).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                     &inexact);
      const uint64_t bits = number.bitcastToAPInt().getZExtValue();
      std::memcpy(bytes_.data() + i * width(), &bits, width());
      stored.push_back(number.convertToDouble());
    }
    return stored;
  }
  Numbers numbers() const {
    Numbers numbers;
    for (size_t i = 0; i < size_; ++i) {
      numbers.push_back(at(i));
    }
    return numbers;
  }
  // No number anywhere.
  void poison() { std::fill_n(bytes_.begin(), size_ * width(), 0xff); }
  double at(size_t i) const {
    if (type_.isInteger(8)) return bytes_[i];
    uint64_t bits = 0;
    std::memcpy(&bits, bytes_.data() + i * width(), width());
    const auto& semantics = llvm::cast<mlir::FloatType>(type_).getFloatSemantics();
    return llvm::APFloat(semantics, llvm::APInt(unsigned(8 * width()), bits)).convertToDouble();
  }

 private:
  mlir::Type type_;
  size_t size_;
  std::vector<unsigned char> bytes_;
};

// Room for the sums of a kernel's units, at an address that a multiple of 64 is.
class Partials {
 public:
  explicit Partials(const Loops& loops) : numbers_(size_t(loops.units() * loops.partials()) + 16, NAN) {}
  void* data() { return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(numbers_.data()) + 63) / 64 * 64); }

 private:
  std::vector<float> numbers_;
};

inline void ExpectWithin(const Memory& got, const std::vector<Bounded>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto [want, error] = expected[i];
    const double is = got.at(i);
    if (std::isnan(want) || std::isinf(want)) {
      EXPECT_TRUE(std::isnan(want) ? std::isnan(is) : is == want) << "[" << i << "] is " << is << ", not " << want;
    } else {
      ASSERT_NEAR(is, want, error) << "[" << i << "]";
    }
  }
}

}  // namespace weft::compiler

#endif  // WEFT_TESTS_CODEGEN_MEMORY_H_
