// Better orders for first fit.
#ifndef WEFT_COMPILER_PASSES_MEMORY_SEARCH_H_
#define WEFT_COMPILER_PASSES_MEMORY_SEARCH_H_

#include "compiler/passes/memory/packing.h"

namespace weft::compiler {

struct SearchOptions {
  int64_t enough = 0; // bytes of an arena that need not be made smaller
  int64_t work = 0;   // as Packing counts it: stop behind it
  int64_t giant = 0;  // from so many bytes on a block is moved alone
  uint32_t seed = 0;
};

/// Changes an order step by step, starting with the best one and with others again and again: what ends too high goes
/// before something that is in its way; or all that one unit keeps for later ones goes before or behind what another
/// one keeps, since what a unit makes is released alike and so leaves a hole that a later unit fits into. A change
/// stays if the arena gets smaller, not larger, or larger by little, less and less (threshold accepting; Dueck and
/// Scheuer, 1990). Returns the best order. The same everywhere: chance comes from the seed, time is measured in work.
std::vector<int32_t> improveOrder(Packing &packing, std::vector<int32_t> order, const SearchOptions &options);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_MEMORY_SEARCH_H_
