// Which of several sets a sample comes from.
#ifndef WEFT_RUNTIME_DATA_BLEND_H_
#define WEFT_RUNTIME_DATA_BLEND_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::data {

// Of every kPeriod samples in a row that begin at a multiple of it, each set gives its share, spread evenly: after any
// number of samples each has given its weight's part of them to within the number of sets. A pure function of the
// sample. Immutable: any thread may call.
class Blend {
 public:
  static constexpr int64_t kPeriod = 10'000;  // so finely weights count

  // Weights of a sum of 1, but for rounding. kInvalidArgument: of another sum, or one that is less than one in kPeriod.
  static absl::StatusOr<Blend> Create(const std::vector<double>& weights);

  struct Sample {
    int64_t set = 0;
    int64_t index = 0;  // how many samples of the set came before
  };
  Sample At(int64_t sample) const {
    const Slot& slot = slots_[sample % kPeriod];
    return {slot.set, sample / kPeriod * shares_[slot.set] + slot.index};
  }

  // Of kPeriod samples, those of each set.
  const std::vector<int64_t>& shares() const { return shares_; }

 private:
  struct Slot {
    int32_t set, index;
  };
  explicit Blend(std::vector<int64_t> shares);

  std::vector<int64_t> shares_;
  std::vector<Slot> slots_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_BLEND_H_
