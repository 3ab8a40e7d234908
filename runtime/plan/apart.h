// Why a generated kernel and the one that reads its result are two: one table, which the pass that joins kernels
// (compiler/passes/fuse) and those who tell of it share.
#ifndef WEFT_RUNTIME_PLAN_APART_H_
#define WEFT_RUNTIME_PLAN_APART_H_

#include <cstddef>

namespace weft {

// Row: the name here, the name in the plan, what it says to people. In the order in which the pass asks.
#define WEFT_REASONS_APART(ROW)                                                                            \
  ROW(Limit, "limit", "graph.fusion or graph.fusion_limit of the job lets no more kernels join")           \
  ROW(Unit, "unit", "they run in different parts of a step: its section, the phase or the chunk differ")   \
  ROW(Layer, "layer", "the first reads what is gathered for its layer, which would be held for the other") \
  ROW(Loss, "loss", "they are of different parts of a loss's rows")                                        \
  ROW(Domain, "domain", "no shape is that of both, as on the two sides of a sum or a broadcast")           \
  ROW(Row, "row", "one sums along its rows, and those of the other are longer")                            \
  ROW(Sum, "sum", "it is a sum over rows, which is there when all rows are done")                          \
  ROW(Walk, "walk", "it is not read at the place at which it is written")                                  \
  ROW(Update, "update", "a tensor would be written over while other places of it are still to be read")    \
  ROW(Rows, "rows", "both together would go along shorter rows, or along none")                            \
  ROW(Operands, "operands", "both together would read and write more tensors than one kernel may")         \
  ROW(Order, "order", "what runs between them writes what they read, or needs what they write")

enum class Apart {
#define WEFT_ROW(name, ...) k##name,
  WEFT_REASONS_APART(WEFT_ROW)
#undef WEFT_ROW
};

struct ApartFacts {
  const char* name;
  const char* text;
};

inline constexpr ApartFacts kApartFacts[] = {
#define WEFT_ROW(name, ...) {__VA_ARGS__},
    WEFT_REASONS_APART(WEFT_ROW)
#undef WEFT_ROW
};

constexpr const ApartFacts& FactsOf(Apart reason) { return kApartFacts[static_cast<size_t>(reason)]; }

}  // namespace weft

#endif  // WEFT_RUNTIME_PLAN_APART_H_
