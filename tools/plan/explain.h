// Why a plan's step takes as long as it does, from the plan alone: `weft-plan explain`.
#ifndef WEFT_TOOLS_PLAN_EXPLAIN_H_
#define WEFT_TOOLS_PLAN_EXPLAIN_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/measure/figures.h"
#include "runtime/measure/largest.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/plan.pb.h"
#include "tools/plan/commands.h"
#include "tools/plan/scope.h"
#include "tools/plan/traced.h"

namespace weft::tools {

// Where the seconds of a step go, or those of a part of the plan: means over the compute streams of all stages. Of the
// whole plan they add up to the step.
struct Division {
  double forward_s = 0;
  double backward_s = 0;  // its weight part, and what is computed again for it, included
  double update_s = 0;
  double other_s = 0;         // kernels of no phase
  double exposed_comm_s = 0;  // as the simulator has it (runtime/sim/simulate.h)
  double waiting_s = 0;       // likewise
};

// Collectives or transfers that layers have alike. Seconds and bytes are of a step, means over the stages as above, so
// that the exposed seconds of all add up to those of the step.
struct Communication {
  std::string name;  // of the actor that does it, or sends: "h.*.forward.all_gather"
  std::string what;  // "all_gather", "all_reduce of 13 tensors", "transfer"
  std::string over;  // "tensor", "stages"
  std::string location;
  // How else the tensors of collectives could have lain (NextBest in plan.proto): "S(1)", "P to S(1)", "none",
  // "several". Empty: the plan does not say.
  std::string next_best;
  double more_s = 0;     // of a step, if they lay so
  bool avoided = false;  // one of them
  int count = 0;         // actors
  int64_t acts = 0;      // of all of them
  double sent_bytes = 0;
  double seconds = 0;
  double exposed_s = 0;

  // A stream may wait for both ends of a transfer: rounding aside, never more than it takes.
  double hidden_s() const { return seconds > exposed_s ? seconds - exposed_s : 0; }
};

// What goes between the device and a tier, or is done there. Seconds and bytes likewise.
struct BelowDevice {
  std::string tier;  // "host"
  std::string what;  // "fetched", "stored", "updated by the host"
  double bytes = 0;  // moved, or read and written
  double seconds = 0;
  double exposed_s = 0;

  double hidden_s() const { return seconds > exposed_s ? seconds - exposed_s : 0; }
};

// The memory of a rank of the stage that needs most.
struct Memory {
  int stage = 0;
  int64_t arena_bytes = 0;
  int64_t lower_bound_bytes = 0;  // the parts of at_peak; the arena has the rest between them
  plan::BytesByCategory at_peak = {};
  std::vector<plan::AlikeTensors> largest;
};

// What a step would take if one rate of the cluster were twice what it is, in the same plan.
struct Price {
  std::string name;  // "network"
  std::string key;   // "cluster.network.link_bytes_s=2x": what simulate takes to say the same
  double step_s = 0;
  double saved_s = 0;  // of the step as it is
};

struct Explanation {
  plan::Figures figures;
  Division division;
  std::vector<Communication> communication;  // most exposed first, then what takes longest
  std::vector<BelowDevice> below;            // by tier
  Memory memory;
  std::vector<Price> prices;  // what saves most first
  std::optional<Traced> traced;
};

struct ExplainRequest {
  std::string name;                       // of an actor, a buffer or a layer; empty: the plan
  std::vector<std::string> cluster_keys;  // as of `simulate`
  std::string with;                       // a measured trace to compare with; empty: none
  bool json = false;
};

// What concerns `scope` of a validated plan for `cluster`; prices are of the whole plan alone, and so is what the trace
// of a file `with` says, unless that is empty. Errors begin with `path`, or with `with`.
absl::StatusOr<Explanation> Explain(const std::string& path, const plan::Plan& plan, const Cluster& cluster,
                                    const Scope& scope, const std::string& with = "");

// What `explain --json` prints.
nlohmann::ordered_json ExplanationJson(const plan::Plan& plan, const Explanation& explanation, const Scope& scope);

Outcome RunExplain(const std::string& path, const plan::Plan& plan, const ExplainRequest& request);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_EXPLAIN_H_
