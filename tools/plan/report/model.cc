#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/measure/alike.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/location.h"
#include "runtime/plan/names.h"
#include "tools/plan/report/parts.h"
#include "tools/plan/traced.h"

namespace weft::tools {
namespace {

// A step on the way of a tensor to its reader.
struct Boxing {
  std::string kind;  // "all_gather", "send"
  std::string over;  // "tensor", "stages"
  std::string location;
  double bytes = 0;  // that a rank sends
  bool operator<(const Boxing& other) const {
    return std::tie(kind, over, bytes) < std::tie(other.kind, other.over, other.bytes);
  }
};

// What a root holds: the op that made it, how it lay then, and what has been done to it since.
struct Value {
  int op = -1;
  std::string scope;  // of the op, with its numbers
  std::string made;
  std::vector<Boxing> boxings;
};

// Ops and edges while the forward is followed.
class Graph {
 public:
  explicit Graph(const Reported& it) : it_(it) {
    for (const plan::Program& program : it.programs) {
      values_.emplace_back(program.root.size());
      parameters_.emplace_back(program.root.size());
      seconds_.push_back(sim::KernelSecondsOf(program, it.machine));
      for (size_t b = 0; b < program.root.size(); ++b) {
        const plan::Buffer& buffer = program.buffer(static_cast<int32_t>(b));
        if (buffer.kind() == plan::Buffer::PARAMETER) parameters_.back()[program.root[b]] = buffer.name();
      }
    }
  }

  Json Make() {
    for (const plan::Program& program : it_.programs) FollowParameters(program);
    // Chunks are counted over all stages: what is sent is made before it is received.
    std::vector<std::tuple<int32_t, int, int32_t>> order;
    for (const plan::Program& program : it_.programs) {
      for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
        const plan::Actor& actor = program.actor(a);
        const bool input = actor.kernels_size() > 0 && actor.kernels(0).name() == "input";
        const bool forward = actor.phase() == plan::Actor::FORWARD ||
                             (!it_.plan.header().training() && actor.phase() == plan::Actor::OTHER);
        if ((forward || input) && program.micro(a)) order.emplace_back(input ? -1 : actor.chunk(), program.index, a);
      }
    }
    std::sort(order.begin(), order.end());
    for (const auto& [chunk, stage, a] : order) Follow(it_.programs[stage], a);
    Json json = {{"ops", Json::array()}, {"edges", Json::array()}, {"layers", Json::object()}};
    for (const auto& [layer, instances] : layers_) json["layers"][layer] = instances.size();
    for (const Op& op : ops_) {
      json["ops"].push_back({{"scope", op.scope.Text()},
                             {"name", op.name},
                             {"location", op.location},
                             {"count", op.count},
                             {"stages", std::vector<int>(op.stages.begin(), op.stages.end())},
                             {"parameters", op.ParameterNames()},
                             {"seconds", op.seconds}});
    }
    for (const auto& [key, edge] : edges_) {
      Json boxings = Json::array();
      for (const Boxing& it : edge.boxings) {
        boxings.push_back({{"kind", it.kind}, {"over", it.over}, {"location", it.location}, {"bytes", it.bytes}});
      }
      json["edges"].push_back({{"from", edge.from},
                               {"to", edge.to},
                               {"type", edge.type},
                               {"bytes", edge.bytes},
                               {"made", edge.made},
                               {"read", edge.read},
                               {"next", edge.next},
                               {"count", edge.count},
                               {"boxings", boxings}});
    }
    return json;
  }

 private:
  struct Op {
    plan::Numbered scope;
    std::string name, location;
    int count = 0;
    std::set<int> stages;
    std::vector<plan::Numbered> parameters;
    double seconds = 0;  // of a step, all instances, a rank each

    std::vector<std::string> ParameterNames() const {
      std::vector<std::string> names;
      for (const plan::Numbered& it : parameters) names.push_back(it.Text());
      return names;
    }
  };
  struct Edge {
    int from = 0, to = 0;
    std::string type, made, read;
    bool next = false;
    int count = 0;
    double bytes = 0;  // of a rank's part where it is read
    std::vector<Boxing> boxings;
  };

  // What casts and gathers of a parameter, done once a step, make is the parameter too.
  void FollowParameters(const plan::Program& program) {
    std::vector<std::string>& names = parameters_[program.index];
    const auto follow = [&](int32_t from, int32_t to) {
      std::string& name = names[program.root[to]];
      if (name.empty()) name = names[program.root[from]];
    };
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
      const plan::Actor& actor = program.actor(a);
      if (actor.phase() == plan::Actor::UPDATE) continue;
      for (const plan::Kernel& kernel : actor.kernels()) {
        for (int32_t out : kernel.outputs()) {
          if (program.buffer(out).kind() == plan::Buffer::WORKING && kernel.inputs_size() > 0) {
            follow(kernel.inputs(0), out);
          }
        }
      }
      for (const plan::Collective& collective : actor.collectives()) {
        if (program.buffer(collective.output()).kind() == plan::Buffer::WORKING) {
          follow(collective.input(), collective.output());
        }
      }
    }
    for (const plan::Transfer& transfer : it_.plan.transfers()) {
      if (transfer.target_stage() != program.index) continue;
      const std::string& name =
          parameters_[transfer.source_stage()][it_.programs[transfer.source_stage()].root[transfer.source_buffer()]];
      if (!name.empty()) names[program.root[transfer.target_buffer()]] = name;
    }
  }

  void Follow(const plan::Program& program, int32_t a) {
    const plan::Actor& actor = program.actor(a);
    for (int k = 0; k < actor.kernels_size(); ++k) FollowKernel(program, a, k);
    for (const plan::Collective& collective : actor.collectives()) {
      Value value = values_[program.index][program.root[collective.input()]];
      if (value.op < 0) continue;
      value.boxings.push_back({plan::NameOf(collective.kind()), plan::AxesText(*program.placement, collective),
                               collective.location(), it_.costs[program.index][a].sent_bytes});
      values_[program.index][program.root[collective.output()]] = std::move(value);
    }
    if (actor.end_case() != plan::Actor::kSend) return;
    const plan::Transfer& transfer = it_.plan.transfers(actor.send());
    Value value = values_[program.index][program.root[transfer.source_buffer()]];
    if (value.op < 0) return;
    value.boxings.push_back({"send", "stages", "", it_.costs[program.index][a].sent_bytes});
    const plan::Program& target = it_.programs[transfer.target_stage()];
    values_[target.index][target.root[transfer.target_buffer()]] = std::move(value);
  }

  void FollowKernel(const plan::Program& program, int32_t a, int k) {
    const plan::Kernel& kernel = program.actor(a).kernels(k);
    const auto [location, scope] = plan::PartsOf(kernel.location());
    const bool input = kernel.name() == "input";
    // Ops of one line and name in one instance of a layer are counted.
    const int nth = seen_[absl::StrCat(program.index, "|", kernel.location(), "|", kernel.name())]++;
    const std::string name = input ? program.buffer(kernel.outputs(0)).name() : kernel.name();
    const int op = OpOf(input ? "" : scope, name, location, nth);
    ops_[op].count += 1;
    ops_[op].stages.insert(program.index);
    const double acts = static_cast<double>(program.micro_batches);
    ops_[op].seconds += seconds_[program.index][a][k] * acts;
    for (int32_t in : kernel.inputs()) {
      const std::string& parameter = parameters_[program.index][program.root[in]];
      if (!parameter.empty()) {
        AddParameter(parameter, ops_[op]);
      } else {
        AddEdge(program, in, op, scope);
      }
    }
    for (int32_t out : kernel.outputs()) {
      values_[program.index][program.root[out]] = {
          op, scope, plan::SbpText(*program.placement, program.buffer(out)), {}};
    }
  }

  int OpOf(const std::string& scope, const std::string& name, const std::string& location, int nth) {
    for (size_t end = 0; end != std::string::npos && !scope.empty();) {
      end = scope.find('.', end + 1);
      const std::string layer = scope.substr(0, end);
      layers_[plan::Numbered(layer).Key()].insert(layer);
    }
    const plan::Numbered numbered(scope);
    const auto [place, fresh] = places_.try_emplace({numbered.Key(), name, location, nth}, ops_.size());
    if (fresh) ops_.push_back({numbered, name, location});
    ops_[place->second].scope.Merge(numbered);
    return static_cast<int>(place->second);
  }

  static void AddParameter(const std::string& name, Op& op) {
    const plan::Numbered numbered(name);
    for (plan::Numbered& known : op.parameters) {
      if (known.Key() != numbered.Key()) continue;
      known.Merge(numbered);
      return;
    }
    op.parameters.push_back(numbered);
  }

  void AddEdge(const plan::Program& program, int32_t in, int to, const std::string& scope) {
    const Value& value = values_[program.index][program.root[in]];
    if (value.op < 0) return;
    const plan::Buffer& buffer = program.buffer(in);
    Edge edge{value.op,
              to,
              plan::TypeText(buffer),
              value.made,
              plan::SbpText(*program.placement, buffer),
              Crosses(value.scope, scope),
              0,
              static_cast<double>(plan::LocalBytes(*program.placement, buffer)),
              value.boxings};
    const auto key = std::tuple(edge.from, edge.to, edge.type, edge.made, edge.read, edge.next, edge.boxings);
    ++edges_.try_emplace(key, edge).first->second.count;
  }

  // Whether two scopes are in different instances of a layer: "h.3.mlp" and "h.4.ln_1".
  static bool Crosses(const std::string& from, const std::string& to) {
    const std::string a = Instance(from), b = Instance(to);
    return a != b && !a.empty() && plan::Numbered(a).Key() == plan::Numbered(b).Key();
  }

  // "h.3" of "h.3.mlp"; empty of what no number is in.
  static std::string Instance(const std::string& scope) {
    for (size_t i = 0; i < scope.size(); ++i) {
      if (scope[i] != '.' || i + 1 >= scope.size() || scope[i + 1] < '0' || scope[i + 1] > '9') continue;
      return scope.substr(0, scope.find('.', i + 1));
    }
    return "";
  }

  const Reported& it_;
  std::vector<std::vector<Value>> values_;            // stage, root
  std::vector<std::vector<std::string>> parameters_;  // stage, root: the parameter's name
  std::vector<std::vector<std::vector<double>>> seconds_;
  std::vector<Op> ops_;
  std::map<std::string, std::set<std::string>> layers_;  // the instances of each, by its name without numbers
  std::map<std::tuple<std::string, std::string, std::string, int>, size_t> places_;
  std::map<std::string, int> seen_;
  std::map<std::tuple<int, int, std::string, std::string, std::string, bool, std::vector<Boxing>>, Edge> edges_;
};

}  // namespace

Json ModelJson(const Reported& it) { return Graph(it).Make(); }

}  // namespace weft::tools
