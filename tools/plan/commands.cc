#include "tools/plan/commands.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <cstdlib>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/job/job.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/load.h"
#include "runtime/plan/names.h"
#include "runtime/plan/validate.h"
#include "runtime/proof/verify.h"
#include "runtime/show/print.h"
#include "runtime/show/print_json.h"
#include "runtime/version/version.h"
#include "tools/plan/code.h"
#include "tools/plan/differences.h"
#include "tools/plan/explain.h"
#include "tools/plan/report/report.h"
#include "tools/plan/sharding.h"
#include "tools/plan/simulate.h"

namespace weft::tools {
namespace {

constexpr char kHelp[] = R"(weft-plan looks at plans: what runs where, in which order, in how much memory.

usage:
  weft-plan show PLAN [--kernels] [--json]        streams, actors and their order, collectives,
                                                  memory, parameters; --kernels: every kernel, what was
                                                  joined in it, and why it was not joined with others
  weft-plan verify PLAN [--device-memory=SIZE]    prove that the plan ends, that no act reads what is
            [--json]                              not there, and that it fits (SIZE as in 80GiB)
  weft-plan memory PLAN [--json]                  bytes by category, beside what no plan can go below
  weft-plan diff PLAN PLAN [--lines=N] [--json]   what differs between two plans: a summary, keys of the
                                                  jobs, parameters of kernels, then N lines (40; 0: all)
                                                  of what differs in the listings
  weft-plan job PLAN [--cluster]                  the resolved job as a job file: beside the file that was
                                                  compiled it compiles to the same plan; --cluster: the
                                                  cluster as a cluster file
  weft-plan code PLAN [NAME] [--object]           what generated kernels compute at one place, as text; --object:
            [-o FILE]                             what runs: PTX on a GPU, a shared object on a host, which needs
                                                  -o; NAME: of such a kernel (k0_add_gelu), or as of explain
  weft-plan simulate PLAN [CLUSTER-KEY...]        a step in virtual time, by the cost model: seconds,
            [--unit-times] [--json]               bubble, exposed communication (of a rank's own), waiting (for
                                                  other stages and for what comes first), each stage's share;
                                                  --unit-times: forward 1, backward 2 (1 + 1 if split),
                                                  all else 0
  weft-plan explain PLAN [NAME] [CLUSTER-KEY...]  how the layout was chosen, and what others lose by; where the
            [--json]                              seconds of that step go; of each collective and transfer, how
                                                  much is hidden, and its line of the model; what takes the
                                                  memory; what a cluster twice as fast in one thing would save;
                                                  NAME: of an actor, a kernel of it (h.3.forward/2), a buffer
                                                  or a layer (h.3) alone, what the next best layout of what
                                                  it sends costs, what its kernels join, and why not more;
            [--with=TRACE.json]                   --with: predicted and traced seconds by kernel, of a trace of
                                                  weft-run --trace --trace-kernels
  weft-plan sharding PLAN NAME [--json]           a tensor over the mesh: which rank holds which part of this
                                                  parameter, gradient or other buffer
  weft-plan timeline PLAN [CLUSTER-KEY...]        the step drawn as text, as wide as the terminal or in N columns;
            [--unit-times] [--columns=N]          -o: for ui.perfetto.dev, in the form of weft-run --trace;
            [-o FILE.json] [--with=TRACE.json]    --with: beside such a trace, at its last step
  weft-plan report PLAN [PLAN] [CLUSTER-KEY...]   a page to look at in a browser, one file without a network: figures,
            [-o FILE.html] [--trace=TRACE.json]   the step over time, memory, the model, communication, kernels, and
            [--json]                              what a search found; two plans: side by side; -o: PLAN with .html
                                                  unless it says else; --trace: beside a step of weft-run --trace;
                                                  --json: what the page shows, as data

A CLUSTER-KEY asks what if: cluster.network.link_bytes_s=5e10, cluster.node.ranks=4
(docs/reference/cluster.md); cluster.network.link_bytes_s=2x is twice what it is, with its tables; cluster=FILE is another
cluster of that device kind, as weft calibrate writes it.

weft plan compare puts plans, and variants of a job, side by side: weft plan compare --help.

A plan is made by weft-compile:
  weft-compile models/gpt2/tiny.job dist.data=2 -o gpt2.plan
  weft-plan show gpt2.plan

weft-plan --version says what this program was built from.

exit status: 0 done; 1 the plans of `diff` differ; 2 the request or the plan was wrong
)";

// The arguments of one command, taken apart.
struct Request {
  std::vector<std::string> plans;
  std::string name;  // of what is asked about
  bool json = false;
  bool kernels = false;
  std::string trace;  // of `report`
  bool cluster = false;
  bool object = false;  // of `code`
  int lines = 40;
  long long device_bytes = 0;
  SimulateRequest simulate;
};

struct Command {
  const char* name;
  int plans;
  std::vector<std::string> flags;
  bool cluster_keys;
  Outcome (*run)(const Request& request, const std::vector<const plan::Plan*>& plans);
  int most_plans = 0;  // 0: as many as `plans`
  enum class Name { kNone, kMay, kMust } takes_name = Name::kNone;
};

Outcome Wrong(const std::string& error) { return {"", error, 2}; }

Outcome Simulate(const Request& request, const std::vector<const plan::Plan*>& plans) {
  return RunSimulate(request.plans[0], *plans[0], request.json, request.simulate);
}

Outcome Explain(const Request& request, const std::vector<const plan::Plan*>& plans) {
  return RunExplain(request.plans[0], *plans[0],
                    {request.name, request.simulate.cluster_keys, request.simulate.with, request.json});
}

Outcome Timeline(const Request& request, const std::vector<const plan::Plan*>& plans) {
  return RunTimeline(request.plans[0], *plans[0], request.simulate);
}

Outcome Sharding(const Request& request, const std::vector<const plan::Plan*>& plans) {
  return RunSharding(request.plans[0], *plans[0], request.name, request.json);
}

std::string Text(const absl::Status& status) { return std::string(status.message().data(), status.message().size()); }

Outcome Show(const Request& request, const std::vector<const plan::Plan*>& plans) {
  const plan::PrintOptions options{request.kernels};
  return {request.json ? plan::SummaryJson(*plans[0], options) : plan::SummaryText(*plans[0], options), "", 0};
}

Outcome Memory(const Request& request, const std::vector<const plan::Plan*>& plans) {
  return {request.json ? plan::MemoryJson(*plans[0]) : plan::MemoryText(*plans[0]), "", 0};
}

Outcome Verify(const Request& request, const std::vector<const plan::Plan*>& plans) {
  plan::VerifyOptions options;
  options.device_bytes = request.device_bytes;
  absl::Status status = plan::Verify(*plans[0], options);
  if (!status.ok()) return Wrong(absl::StrCat(request.plans[0], ": ", Text(status)));
  int64_t acts = 0, ranks = 0;
  for (const plan::Stage& stage : plans[0]->stages()) {
    ranks += plan::RankCount(plans[0]->placements(stage.placement()));
    for (const plan::Actor& actor : stage.actors()) {
      acts += actor.section() == plan::Actor::STEP ? 1 : plans[0]->header().micro_batches();
    }
  }
  const int stages = plans[0]->stages_size();
  if (request.json) {
    return {plan::JsonText({{"verified", true}, {"stages", stages}, {"ranks", ranks}, {"acts", acts}}), "", 0};
  }
  return {absl::StrCat(request.plans[0], ": verified: ", stages, stages == 1 ? " stage" : " stages", ", ",
                       plan::CountText(ranks), ranks == 1 ? " rank" : " ranks", ", ", plan::CountText(acts),
                       acts == 1 ? " act" : " acts", " a step\n"),
          "", 0};
}

Outcome Diff(const Request& request, const std::vector<const plan::Plan*>& plans) {
  const std::string text = DifferencesText(*plans[0], *plans[1], request.lines);
  const int status = text.empty() ? 0 : 1;
  return {request.json ? DifferencesJson(*plans[0], *plans[1], request.lines) : text, "", status};
}

Outcome Report(const Request& request, const std::vector<const plan::Plan*>& plans) {
  const SimulateRequest& simulate = request.simulate;
  return RunReport(plans, {request.plans, simulate.cluster_keys, request.trace, simulate.output, request.json});
}

Outcome JobFile(const Request& request, const std::vector<const plan::Plan*>& plans) {
  const plan::Header& header = plans[0]->header();
  if (request.cluster) return {MessageText(header.cluster()), "", 0};
  return {absl::StrCat(
              "# The job of ", request.plans[0],
              ", defaults filled in. Paths are seen from the folder of the job file that\n",
              "# was compiled. Keys that were given for the cluster are not here: weft plan job --cluster has them.\n",
              MessageText(header.job())),
          "", 0};
}

Outcome Code(const Request& request, const std::vector<const plan::Plan*>& plans) {
  return RunCode(*plans[0], {request.plans[0], request.name, request.object, request.simulate.output});
}

const std::vector<Command>& Commands() {
  static const auto* commands = new std::vector<Command>{
      {"show", 1, {"--kernels", "--json"}, false, Show},
      {"verify", 1, {"--device-memory", "--json"}, false, Verify},
      {"memory", 1, {"--json"}, false, Memory},
      {"diff", 2, {"--lines", "--json"}, false, Diff},
      {"job", 1, {"--cluster"}, false, JobFile},
      {"code", 1, {"--object", "-o"}, false, Code, 0, Command::Name::kMay},
      {"simulate", 1, {"--unit-times", "--json"}, true, Simulate},
      {"explain", 1, {"--json", "--with"}, true, Explain, 0, Command::Name::kMay},
      {"sharding", 1, {"--json"}, false, Sharding, 0, Command::Name::kMust},
      {"timeline", 1, {"--unit-times", "--columns", "--with", "-o"}, true, Timeline},
      {"report", 1, {"--trace", "-o", "--json"}, true, Report, 2},
  };
  return *commands;
}

// "show, verify, ..., timeline or report".
std::string CommandNames() {
  std::string names;
  const std::vector<Command>& all = Commands();
  for (size_t i = 0; i < all.size(); ++i)
    absl::StrAppend(&names, i == 0 ? "" : i + 1 == all.size() ? " or " : ", ", all[i].name);
  return names;
}

// What a flag's value looks like, as in --flag=VALUE; null: it has none.
const char* ExampleOf(const std::string& flag) {
  if (flag == "--device-memory") return "80GiB";
  if (flag == "--columns") return "80";
  if (flag == "--lines") return "100";
  if (flag == "--with" || flag == "--trace") return "trace.json";
  if (flag == "-o") return "FILE";
  return nullptr;
}

// Takes a flag with its value; the error, or none.
std::string Take(const std::string& flag, const std::string& value, Request& request) {
  if (flag == "--json") request.json = true;
  if (flag == "--kernels") request.kernels = true;
  if (flag == "--cluster") request.cluster = true;
  if (flag == "--object") request.object = true;
  if (flag == "--unit-times") request.simulate.unit_times = true;
  if (flag == "--with") request.simulate.with = value;
  if (flag == "--trace") request.trace = value;
  if (flag == "-o") request.simulate.output = value;
  if (flag == "--columns" && (!absl::SimpleAtoi(value, &request.simulate.columns) || request.simulate.columns < 1)) {
    return absl::StrCat(flag, ": expected 1 or more, got `", value, "`");
  }
  if (flag == "--lines" && (!absl::SimpleAtoi(value, &request.lines) || request.lines < 0)) {
    return absl::StrCat(flag, ": expected 0 or more, got `", value, "`");
  }
  if (flag != "--device-memory") return "";
  request.device_bytes = ParseBytes(value);
  return request.device_bytes > 0 ? ""
                                  : absl::StrCat(flag, ": expected a size such as 80GiB or 1000000, got `", value, "`");
}

// The error in the arguments, or none.
std::string Parse(const Command& command, const std::vector<std::string>& arguments, Request& request) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.rfind("-", 0) != 0) {
      const bool is_key = command.cluster_keys && argument.find('=') != std::string::npos;
      if (command.takes_name != Command::Name::kNone && !is_key && request.plans.size() == 1 && request.name.empty()) {
        request.name = argument;
      } else {
        (is_key ? request.simulate.cluster_keys : request.plans).push_back(argument);
      }
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    if (std::find(command.flags.begin(), command.flags.end(), flag) == command.flags.end()) {
      return absl::StrCat(command.name, ": unknown flag ", flag, "; see weft-plan --help");
    }
    const char* example = ExampleOf(flag);
    if (example == nullptr && equals != std::string::npos) return absl::StrCat(flag, ": expected no value");
    std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    // Files may stand apart.
    const bool apart = flag == "-o" || flag == "--with" || flag == "--trace";
    if (apart && equals == std::string::npos && i + 1 < arguments.size()) value = arguments[++i];
    if (example != nullptr && value.empty()) {
      return absl::StrCat(flag, ": expected a value, as in ", flag, flag == "-o" ? " " : "=", example);
    }
    if (std::string error = Take(flag, value, request); !error.empty()) return error;
  }
  const int count = static_cast<int>(request.plans.size()), most = std::max(command.plans, command.most_plans);
  if (command.takes_name == Command::Name::kMust && request.name.empty())
    return absl::StrCat(command.name, ": expected a plan and a name, got ", count, count == 1 ? " plan" : " plans",
                        "; see weft-plan --help");
  if (count >= command.plans && count <= most) return "";
  const std::string or_more = most > command.plans ? absl::StrCat(" to ", most) : "";
  return absl::StrCat(command.name, ": expected ", command.plans, or_more, most == 1 ? " plan" : " plans", ", got ",
                      request.plans.size(), "; see weft-plan --help");
}

Outcome RunCommand(const Command& command, const Request& request) {
  google::protobuf::Arena arena;
  std::vector<const plan::Plan*> plans;
  for (const std::string& path : request.plans) {
    auto* plan = google::protobuf::Arena::CreateMessage<plan::Plan>(&arena);
    absl::Status status = plan::LoadInto(path, *plan);
    if (!status.ok()) return Wrong(Text(status));
    if (command.run != Verify) status = plan::Validate(*plan);  // which does so itself
    if (!status.ok()) return Wrong(absl::StrCat(path, ": ", Text(status)));
    plans.push_back(plan);
  }
  return command.run(request, plans);
}

}  // namespace

long long ParseBytes(const std::string& text) {
  char* rest = nullptr;
  if (text.empty() || text[0] < '0' || text[0] > '9') return -1;
  const double value = std::strtod(text.c_str(), &rest);
  const std::string unit = rest;
  double bytes = value;
  if (unit == "KiB") {
    bytes *= 1024;
  } else if (unit == "MiB") {
    bytes *= 1024 * 1024;
  } else if (unit == "GiB") {
    bytes *= 1024.0 * 1024 * 1024;
  } else if (!unit.empty()) {
    return -1;
  }
  return bytes < 9e18 ? static_cast<long long>(bytes) : -1;
}

Outcome RunPlanCommand(const std::vector<std::string>& arguments, int width) {
  if (arguments.empty()) return Wrong(absl::StrCat("expected a command: ", CommandNames(), "; see weft-plan --help"));
  const std::string& name = arguments[0];
  const bool help = std::find(arguments.begin(), arguments.end(), "--help") != arguments.end();
  if (help || name == "help" || name == "-h") return {kHelp, "", 0};
  if (name == "--version") return {VersionText("weft-plan"), "", 0};
  if (name == "compare") {
    return Wrong("compare: expected weft plan compare, or weft-plan-compare: it compiles, which this program cannot");
  }
  for (const Command& command : Commands()) {
    if (name != command.name) continue;
    Request request;
    request.simulate.width = width;
    const std::string error = Parse(command, arguments, request);
    return error.empty() ? RunCommand(command, request) : Wrong(error);
  }
  return Wrong(absl::StrCat("unknown command `", name, "`: expected ", CommandNames(), "; see weft-plan --help"));
}

}  // namespace weft::tools
