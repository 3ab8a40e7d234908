// The kinds of collective: one table, which the compiler, the plan, the cost model and the communicators share.
//
// A kind is what it does to a tensor on the ranks of its group:
//
//   reduces  each member brings a term (P); the members' terms are summed, or their maximum is taken
//   gathers  each member brings a part along `dim` (S); the members' parts are joined
//   cuts     each member keeps a part (S): along `dim`, or along `split_dim` where it gathers along `dim` too
//   passes   each member gives its part along `dim` (S) to the member `by` places on, the last ones to the first
//   mirrors  each member exchanges a half of its part along `dim` (S) with the member that lies as far from the other
//   end,
//            so that of all halves it has two as far from either end (ZigzagMovesOf() in runtime/collective/share.h)
//
// What is not cut, passed or exchanged is the same on all members (B). So all_reduce is P -> B, reduce_scatter P ->
// S(dim), all_gather S(dim) -> B, all_to_all S(dim) -> S(split_dim), shift and zigzag S(dim) -> S(dim). Whoever can say
// what he does by these facts does so; a switch over kinds has no default, so that a new row does not compile until it
// is complete.
#ifndef WEFT_RUNTIME_PLAN_COLLECTIVE_KIND_H_
#define WEFT_RUNTIME_PLAN_COLLECTIVE_KIND_H_

#include <cstddef>

namespace weft {

// Row: the name here and of task::CollectiveKind, the name in plan.proto (of the same value), the name for people and
// in the assembly of the compiler, then whether it reduces, gathers, cuts, passes and mirrors.
#define WEFT_COLLECTIVE_KINDS(ROW)                                                      \
  ROW(AllReduce, ALL_REDUCE, "all_reduce", true, false, false, false, false)            \
  ROW(ReduceScatter, REDUCE_SCATTER, "reduce_scatter", true, false, true, false, false) \
  ROW(AllGather, ALL_GATHER, "all_gather", false, true, false, false, false)            \
  ROW(AllToAll, ALL_TO_ALL, "all_to_all", false, true, true, false, false)              \
  ROW(Shift, SHIFT, "shift", false, false, false, true, false)                          \
  ROW(Zigzag, ZIGZAG, "zigzag", false, false, false, false, true)

enum class CollectiveKind : int {
#define WEFT_ROW(name, ...) k##name,
  WEFT_COLLECTIVE_KINDS(WEFT_ROW)
#undef WEFT_ROW
};

struct CollectiveFacts {
  const char* name;
  bool reduces, gathers, cuts, passes, mirrors;

  // Whether there are parts, along `dim`; else input and output may be one tensor.
  constexpr bool has_parts() const { return gathers || cuts || moves(); }
  // Whether the ranks' parts change places, and stay parts along `dim`.
  constexpr bool moves() const { return passes || mirrors; }
  // Whether the parts that are kept lie along `split_dim`, since `dim` is that of those brought.
  constexpr bool has_split_dim() const { return gathers && cuts; }

  constexpr bool operator==(const CollectiveFacts& other) const {
    return reduces == other.reduces && gathers == other.gathers && cuts == other.cuts && passes == other.passes &&
           mirrors == other.mirrors;
  }
};

inline constexpr CollectiveFacts kCollectiveFacts[] = {
#define WEFT_ROW(name, proto, text, ...) {text, __VA_ARGS__},
    WEFT_COLLECTIVE_KINDS(WEFT_ROW)
#undef WEFT_ROW
};

inline constexpr size_t kCollectiveKinds = sizeof(kCollectiveFacts) / sizeof(kCollectiveFacts[0]);

// Two kinds that do the same, or one that moves nothing, would be taken for another by whoever asks for facts: such a
// kind needs a fact more.
constexpr bool AreCollectiveFactsComplete() {
  for (size_t a = 0; a < kCollectiveKinds; ++a) {
    const CollectiveFacts& facts = kCollectiveFacts[a];
    if (facts.reduces + facts.gathers + facts.passes + facts.mirrors != 1) return false;
    for (size_t b = 0; b < a; ++b) {
      if (facts == kCollectiveFacts[b]) return false;
    }
  }
  return true;
}
static_assert(AreCollectiveFactsComplete());

constexpr const CollectiveFacts& FactsOf(CollectiveKind kind) { return kCollectiveFacts[static_cast<size_t>(kind)]; }

// "all_reduce".
constexpr const char* NameOf(CollectiveKind kind) { return FactsOf(kind).name; }

// The kind that does this. There is one of each that either reduces or gathers.
constexpr CollectiveKind CollectiveThat(bool reduces, bool gathers, bool cuts) {
  size_t kind = 0;
  while (!(kCollectiveFacts[kind] == CollectiveFacts{nullptr, reduces, gathers, cuts, false, false})) ++kind;
  return static_cast<CollectiveKind>(kind);
}

}  // namespace weft

#endif  // WEFT_RUNTIME_PLAN_COLLECTIVE_KIND_H_
