// Chance that is the same for the same seed, on every machine.
#ifndef WEFT_TESTS_FUZZ_DICE_H_
#define WEFT_TESTS_FUZZ_DICE_H_

#include <cstdint>
#include <initializer_list>
#include <random>

namespace weft::fuzz {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  // From 0 to count - 1.
  int64_t Below(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }
  bool Percent(int64_t percent) { return Below(100) < percent; }
  // One of these; what stands twice comes twice as often.
  template <typename T>
  T Of(std::initializer_list<T> list) {
    return list.begin()[Below(static_cast<int64_t>(list.size()))];
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace weft::fuzz

#endif  // WEFT_TESTS_FUZZ_DICE_H_
