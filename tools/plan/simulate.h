// `weft-plan simulate` and `weft-plan timeline`.
#ifndef WEFT_TOOLS_PLAN_SIMULATE_H_
#define WEFT_TOOLS_PLAN_SIMULATE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/plan/plan.pb.h"
#include "runtime/sim/simulate.h"
#include "tools/plan/commands.h"

namespace weft::tools {

struct SimulateRequest {
  std::vector<std::string> cluster_keys;  // "cluster.node.count=64"
  bool unit_times = false;
  int columns = 0;     // of a timeline; 0: as many as fit the screen, or the plan
  int width = 0;       // of the screen; 0: there is none
  std::string output;  // a file for the timeline; empty: text
  std::string with;    // a measured trace to draw beside; empty: none
};

// What `simulate --json` says of each stage of a simulated step.
nlohmann::ordered_json StagesJson(const plan::Plan& plan, const sim::Report& report);

// Both take a validated plan; errors begin with `path`, where it came from, or
// with the key, or with the file, that is wrong.
Outcome RunSimulate(const std::string& path, const plan::Plan& plan, bool json, const SimulateRequest& request);
Outcome RunTimeline(const std::string& path, const plan::Plan& plan, const SimulateRequest& request);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_SIMULATE_H_
