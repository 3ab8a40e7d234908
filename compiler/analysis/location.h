// What the location of an op says: its line in the model file, and what `fuse` has noted of a kernel.
#ifndef WEFT_COMPILER_ANALYSIS_LOCATION_H_
#define WEFT_COMPILER_ANALYSIS_LOCATION_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// "gpt2.mlir:31:8 in h.3.mlp": the innermost line of a location, and the scope. Empty if neither is known.
std::string describeLocation(mlir::Operation *op);

/// An operator that is part of a generated kernel: "gelu", and what describeLocation() said of it.
struct JoinedOp {
  std::string name, location;
};

/// What became one generated kernel, and what did not.
struct JoinNotes {
  llvm::SmallVector<JoinedOp> joined;                       // in the kernel's order; empty if it is one
  llvm::SmallVector<std::pair<int64_t, std::string>> apart; // inputs, and why the kernel that makes each did not join
};

/// `location` with these notes in place of those that it has; without any if there are none.
mlir::Location withJoinNotes(mlir::Location location, const JoinNotes &notes);

/// What withJoinNotes() has put there.
JoinNotes joinNotesOf(mlir::Location location);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_LOCATION_H_
