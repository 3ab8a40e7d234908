// What a value that is boxed could have lain as instead: written by `shard`, read by `emit`. In between it is part of
// the location of the box, which the passes hand on with the line of the model file; so it tells no two ops apart.
#ifndef WEFT_COMPILER_ANALYSIS_NEXT_BEST_H_
#define WEFT_COMPILER_ANALYSIS_NEXT_BEST_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// The cheapest layout of a value over one mesh axis, other than the one that it has.
struct NextBest {
  bool exists = false;    // false: no signature makes or reads it otherwise
  ir::SbpState made;      // as its producer would make it
  ir::SbpState read;      // as its readers would want it: `made`, if no box would be left
  double moreSeconds = 0; // a step would take, for this one value; may be below 0 if it is `avoided`
  // It would box what inference lets lie, whatever the seconds (SolverValue::keepSplit and keepState).
  bool avoided = false;
};

/// By mesh axis.
using NextBests = llvm::SmallVector<std::pair<int64_t, NextBest>, 2>;

/// `location` with what it says of the axes; as it is if that is nothing.
mlir::Location withNextBests(mlir::Location location, const NextBests &all);

/// What withNextBests() has put there; empty if it has not.
NextBests nextBestsOf(mlir::Location location);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_NEXT_BEST_H_
