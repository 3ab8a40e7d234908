#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/measure/alike.h"
#include "runtime/measure/memory.h"
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

// "parameter", "optimizer" or "gradient": what is kept to train a parameter; null for another buffer, and for numbers
// that are of no parameter, such as how many steps there were. A gradient is what the backward leaves to the updates.
const char* WhatOf(const plan::Buffer& buffer, plan::Category category) {
  switch (buffer.kind()) {
    case plan::Buffer::PARAMETER:
      return "parameter";
    case plan::Buffer::OPTIMIZER:
      return buffer.shape_size() > 0 ? "optimizer" : nullptr;
    case plan::Buffer::GRADIENT:
      return category == plan::Category::kGradients ? "gradient" : nullptr;
    default:
      return nullptr;
  }
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
    const std::vector<plan::Category> categories = plan::CategoriesOf(program);
    std::set<std::string> seen;  // a gradient may be written in several places that share its bytes
    for (int b = 0; b < program.stage->buffers_size(); ++b) {
      const plan::Buffer& buffer = program.buffer(b);
      const char* what = WhatOf(buffer, categories[b]);
      if (what == nullptr || !seen.insert(buffer.name()).second) continue;
      const plan::Numbered name(buffer.name());
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
