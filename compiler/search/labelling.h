// A labelling problem: every variable gets one of its labels, and pairs of variables cost something together. What is
// paid is seconds and bytes.
//
//   op a ──┐ link: what it costs to turn a's result            labels of an op: its SBP signatures
//   op b ──┴─ op c   into what c wants, by the states alone    own price: its kernel, and what its tiles hold
//
// A weighted constraint problem with two costs. Plain values.
#ifndef WEFT_COMPILER_SEARCH_LABELLING_H_
#define WEFT_COMPILER_SEARCH_LABELLING_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::search {

/// The seconds of what may not be. All seconds of a problem that may be add up to less than a quarter of it, and so do
/// all its bytes.
inline constexpr int64_t kNever = int64_t(1) << 60;

/// What a choice takes: whole numbers, so that sums do not depend on their order. Neither is below 0.
struct Price {
  int64_t seconds = 0; // in picoseconds, for example; kNever: this may not be
  int64_t bytes = 0;

  bool may() const { return seconds < kNever; }
  bool operator==(const Price &) const = default;
};

inline constexpr Price kImpossible = {kNever, 0};

inline Price operator+(Price a, Price b) {
  return a.may() && b.may() ? Price{a.seconds + b.seconds, a.bytes + b.bytes} : kImpossible;
}

/// What two variables cost together. It depends on a class of each one's labels only, so that tables stay small: of an
/// op with 49 signatures the result has perhaps 9 states.
struct Link {
  int first = 0, second = 0;    // variables, not the same
  std::vector<int> firstClass;  // of each label, from 0
  std::vector<int> secondClass; // likewise
  int secondClasses = 0;        // how many
  std::vector<Price> price;     // of class i and class j at i * secondClasses + j
};

struct Labelling {
  std::vector<std::vector<Price>> own; // a variable, a label; every variable has a label
  std::vector<Link> links;
};

/// What `labels`, one a variable, take.
Price priceOf(const Labelling &problem, const std::vector<int> &labels);

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_LABELLING_H_
