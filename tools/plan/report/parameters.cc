#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/measure/alike.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "tools/plan/report/parts.h"
#include "tools/plan/sharding.h"

namespace weft::tools {
namespace {

// The tiles of a buffer, each with the ranks that hold it.
Json LayoutJson(const plan::Placement& placement, const plan::Buffer& buffer) {
  const std::vector<HeldTile> tiles = HeldTiles(placement, buffer);
  Json json = {{"shape", std::vector<int64_t>(buffer.shape().begin(), buffer.shape().end())},
               {"dims", tiles[0].tile.dims},
               {"mesh", plan::MeshText(placement)},
               {"tiles", Json::array()}};
  for (const HeldTile& it : tiles) {
    json["tiles"].push_back({{"origin", it.tile.origin}, {"ranks", plan::RanksText(it.ranks)}});
  }
  return json;
}

// What is kept to train parameters, or made to: a buffer, what it is called here, and "parameter", "gradient" or
// "optimizer".
struct Trained {
  const plan::Buffer* buffer;
  std::string name;
  const char* what;
};

// The gradient of a parameter is what its update reads beside it and the state, whatever made it: of the same shape, in
// a kernel, or in one tensor's part of a kernel of several, that reads this parameter alone.
void AddGradients(const plan::Program& program, std::vector<Trained>* all) {
  std::set<int32_t> seen;
  const auto add = [&](absl::Span<const int32_t> inputs) {
    const plan::Buffer* parameter = nullptr;
    for (int32_t b : inputs) {
      if (program.buffer(b).kind() != plan::Buffer::PARAMETER) continue;
      if (parameter != nullptr) return;
      parameter = &program.buffer(b);
    }
    for (int32_t b : inputs) {
      const plan::Buffer& buffer = program.buffer(b);
      const bool fits = parameter != nullptr && std::equal(buffer.shape().begin(), buffer.shape().end(),
                                                           parameter->shape().begin(), parameter->shape().end());
      const bool kept = buffer.kind() == plan::Buffer::PARAMETER || buffer.kind() == plan::Buffer::OPTIMIZER;
      if (kept || !fits || !seen.insert(b).second) continue;
      all->push_back({&buffer, parameter->name(), "gradient"});
    }
  };
  for (const plan::Actor& actor : program.stage->actors()) {
    for (const plan::Kernel& kernel : actor.kernels()) {
      if (actor.phase() != plan::Actor::UPDATE) continue;
      const auto segments = std::max<int64_t>(kernel.segments(), 1);
      const auto each = static_cast<size_t>((kernel.inputs_size() - kernel.shared()) / segments);
      const absl::Span<const int32_t> inputs = absl::MakeConstSpan(kernel.inputs()).subspan(kernel.shared());
      for (int64_t k = 0; k < segments; ++k) add(inputs.subspan(k * each, each));
    }
  }
}

// Parameters first. Numbers that are of no parameter, such as how many steps there were, are left out.
std::vector<Trained> TrainedOf(const plan::Program& program) {
  std::vector<Trained> all;
  for (const plan::Buffer& buffer : program.stage->buffers()) {
    if (buffer.kind() == plan::Buffer::PARAMETER) all.push_back({&buffer, buffer.name(), "parameter"});
  }
  AddGradients(program, &all);
  for (const plan::Buffer& buffer : program.stage->buffers()) {
    if (buffer.kind() == plan::Buffer::OPTIMIZER && buffer.shape_size() > 0)
      all.push_back({&buffer, buffer.name(), "optimizer"});
  }
  return all;
}

// Tensors that layers have alike.
struct Alike {
  plan::Numbered name;
  const char* what;
  const plan::Program* program;
  const plan::Buffer* buffer;
  int count = 0;
  std::set<int> stages;
};

}  // namespace

Json ParametersJson(const Reported& it) {
  std::vector<Alike> all;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const plan::Program& program : it.programs) {
    for (const auto& [held, named, what] : TrainedOf(program)) {
      const plan::Buffer& buffer = *held;
      const plan::Numbered name(named);
      const std::string layout = absl::StrCat(what, " ", plan::MeshText(*program.placement), " ",
                                              plan::SbpText(*program.placement, buffer), " ", plan::TypeText(buffer));
      const auto [place, fresh] = places.try_emplace({name.Key(), layout}, all.size());
      if (fresh) all.push_back({name, what, &program, &buffer});
      Alike& alike = all[place->second];
      alike.name.Merge(name);
      ++alike.count;
      alike.stages.insert(program.index);
    }
  }
  Json json = {{"parameters", Json::array()}, {"layouts", Json::array()}};
  std::map<std::string, size_t> layouts;
  for (const Alike& alike : all) {
    const plan::Placement& placement = *alike.program->placement;
    const std::string key =
        plan::MeshText(placement) + plan::SbpText(placement, *alike.buffer) + plan::TypeText(*alike.buffer);
    const auto [layout, fresh] = layouts.try_emplace(key, json["layouts"].size());
    if (fresh) json["layouts"].push_back(LayoutJson(placement, *alike.buffer));
    json["parameters"].push_back({{"name", alike.name.Text()},
                                  {"what", alike.what},
                                  {"count", alike.count},
                                  {"type", plan::TypeText(*alike.buffer)},
                                  {"sbp", plan::SbpText(placement, *alike.buffer)},
                                  {"local", plan::LocalTypeText(placement, *alike.buffer)},
                                  {"bytes", plan::LocalBytes(placement, *alike.buffer)},
                                  {"stages", std::vector<int>(alike.stages.begin(), alike.stages.end())},
                                  {"layout", layout->second}});
  }
  return json;
}

}  // namespace weft::tools
