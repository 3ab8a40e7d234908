// What a search compiles as a whole.
#ifndef WEFT_COMPILER_AUTO_WHOLE_H_
#define WEFT_COMPILER_AUTO_WHOLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "compiler/auto/choice.h"
#include "compiler/auto/estimate.h"
#include "compiler/pipeline/candidates.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

/// A choice and what it is estimated to come to; recompute included.
struct Point {
  Choice choice;
  Estimate estimate;
  bool fits = false;
  std::optional<Recompute::Policy> policy = {}; // where it is not what the memory makes of AUTO
  bool below = false; // what layers keep is below the device, all or some, where the job leaves that open

  // What fits comes first, the fastest of it; then the smallest.
  auto rank() const {
    return std::tuple(!fits, fits ? estimate.step_s : estimate.bytes, fits ? estimate.bytes : 0.0, choice);
  }
  bool operator<(const Point &other) const { return rank() < other.rank(); }
};

struct Whole {
  Point point;
  Unplaced bare;
  plan::Plan plan;
  plan::Alternative alternative;
  bool isDense = false; // its memory is as small as compile() makes it; else it lies where it fits

  bool fits(double memory) const { return tiersFit() && double(alternative.bytes()) <= memory; }
  bool tiersFit() const { return alternative.full_tier().empty(); }
  bool isSmallerThan(const Whole &other) const {
    return std::tuple(!tiersFit(), alternative.bytes()) < std::tuple(!other.tiersFit(), other.alternative.bytes());
  }
};

/// The least memory of a rank that holds something, and with which keys.
struct Needed {
  int64_t bytes = 0;
  std::string keys;
  std::string tier = {}; // that has too little, if one has
  int64_t tierLacks = 0; // bytes

  bool isLessThan(const Needed &other) const {
    return std::tuple(tierLacks, bytes) < std::tuple(other.tierLacks, other.bytes);
  }
};

/// The keys of what a point recomputes, and of what lies below the device; nothing where AUTO says it.
std::string policyOf(const Point &point);

/// What was estimated of a point with such keys.
plan::Alternative estimatedOf(const Point &point, const std::string &keys);

/// Lays out the memory of a plan, and simulates it, for a cluster whose devices have so much memory or say nothing of
/// it.
absl::Status place(const Cluster &cluster, bool dense, Whole &whole);

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_WHOLE_H_
