// `weft-plan sharding`: which rank holds which part of a tensor.
#ifndef WEFT_TOOLS_PLAN_SHARDING_H_
#define WEFT_TOOLS_PLAN_SHARDING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/layout.h"
#include "runtime/plan/plan.pb.h"
#include "tools/plan/commands.h"

namespace weft::tools {

// A part of a tensor, and the ranks that hold it, in ascending order.
struct HeldTile {
  plan::Tile tile;
  plan::Placement ranks;  // nothing else of it is set
};

// The tiles of a buffer, in the order of their origins.
std::vector<HeldTile> HeldTiles(const plan::Placement& placement, const plan::Buffer& buffer);

// Draws the buffers called `name` of all stages, or says them as JSON. Takes a validated plan; errors begin with
// `path`.
Outcome RunSharding(const std::string& path, const plan::Plan& plan, const std::string& name, bool json);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_SHARDING_H_
