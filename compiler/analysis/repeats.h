// A model with fewer layers than it has, to see at little cost what a layer takes.
#ifndef WEFT_COMPILER_ANALYSIS_REPEATS_H_
#define WEFT_COMPILER_ANALYSIS_REPEATS_H_

#include "llvm/ADT/StringRef.h"

namespace weft::compiler {

/// The module's attribute that says how often `elaborate` places a layer of a `model.repeat` at most, an integer;
/// absent: as often as the model says. A repeat within a layer that repeats is placed whole.
inline constexpr llvm::StringLiteral kMostRepeatsName("weft.most_repeats");

/// What `elaborate` then leaves at the module, by the scope of each repeat of which it left layers out: how many there
/// are. `weft.repeats = {h = 48}`, of which h.0, h.1 and h.2 were placed.
inline constexpr llvm::StringLiteral kRepeatsName("weft.repeats");

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_REPEATS_H_
