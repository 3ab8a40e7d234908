#include "tools/plan/sharding.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/words/nearest.h"
#include "runtime/plan/names.h"
#include "runtime/show/print_json.h"
#include "runtime/show/table.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

// A larger picture is no picture.
constexpr size_t kMostRows = 32, kMostColumns = 8, kMostTiles = 64;

// A buffer and where it is.
struct Found {
  int stage;
  const plan::Placement* placement;
  const plan::Buffer* buffer;
};

std::vector<Found> Find(const plan::Plan& plan, const std::string& name) {
  std::vector<Found> found;
  for (int s = 0; s < plan.stages_size(); ++s) {
    for (const plan::Buffer& buffer : plan.stages(s).buffers()) {
      if (buffer.name() == name) found.push_back({s, &plan.placements(plan.stages(s).placement()), &buffer});
    }
  }
  return found;
}

std::vector<int64_t> ShapeOf(const plan::Buffer& buffer) { return {buffer.shape().begin(), buffer.shape().end()}; }

// The dimensions that are cut, in ascending order.
std::vector<int> CutDims(const std::vector<HeldTile>& tiles, const plan::Buffer& buffer) {
  std::vector<int> dims;
  for (int d = 0; d < buffer.shape_size(); ++d) {
    if (tiles[0].tile.dims[d] < buffer.shape(d)) dims.push_back(d);
  }
  return dims;
}

// "0:64": what a tile has of a dimension.
std::string RangeText(const plan::Tile& tile, int dim) {
  return absl::StrCat(tile.origin[dim], ":", tile.origin[dim] + tile.dims[dim]);
}

// "[0:64, :]"; a dimension that is whole is a colon, as in NumPy.
std::string PartText(const plan::Tile& tile, const plan::Buffer& buffer) {
  std::vector<std::string> ranges;
  for (int d = 0; d < buffer.shape_size(); ++d)
    ranges.push_back(tile.dims[d] == buffer.shape(d) ? ":" : RangeText(tile, d));
  return absl::StrCat("[", absl::StrJoin(ranges, ", "), "]");
}

// The dimensions of a picture; -1: none.
struct Sides {
  int down = -1, across = -1;
};

// Columns are where a matrix has them.
std::optional<Sides> SidesOf(const std::vector<HeldTile>& tiles, const plan::Buffer& buffer,
                             const std::vector<int>& cut) {
  if (cut.size() > 2) return std::nullopt;
  const bool last = buffer.shape_size() > 1 && cut.back() == buffer.shape_size() - 1;
  const size_t columns = buffer.shape(cut.back()) / tiles[0].tile.dims[cut.back()], rows = tiles.size() / columns;
  if ((cut.size() == 2 || last) && columns <= kMostColumns && rows <= kMostRows)
    return Sides{cut.size() == 2 ? cut[0] : -1, cut.back()};
  if (cut.size() == 1 && tiles.size() <= kMostRows) return Sides{cut[0], -1};
  return std::nullopt;
}

// The tensor as a grid, the ranks in its cells.
std::string GridText(const std::vector<HeldTile>& tiles, Sides sides) {
  const auto range = [](const HeldTile& it, int dim) { return dim < 0 ? "" : RangeText(it.tile, dim); };
  std::map<int64_t, std::vector<const HeldTile*>> rows;  // by where they begin; tiles are in order
  for (const HeldTile& it : tiles) rows[sides.down < 0 ? 0 : it.tile.origin[sides.down]].push_back(&it);
  const size_t columns = rows.begin()->second.size();
  std::vector<size_t> widths(columns, 0);
  const auto ranges = [&](size_t c) { return range(*rows.begin()->second[c], sides.across); };
  size_t margin = 0;
  for (const auto& [origin, row] : rows) {
    margin = std::max(margin, range(*row[0], sides.down).size());
    for (size_t c = 0; c < columns; ++c)
      widths[c] = std::max({widths[c], ranges(c).size(), plan::RanksText(row[c]->ranks).size()});
  }
  const auto padded = [](std::string text, size_t width) { return text.append(width - text.size(), ' '); };
  std::string rule = padded("", margin) + "  +", head = padded("", margin) + "   ";
  for (size_t c = 0; c < columns; ++c) {
    rule += std::string(widths[c] + 2, '-') + "+";
    absl::StrAppend(&head, " ", padded(ranges(c), widths[c]), "  ");
  }
  head.erase(head.find_last_not_of(' ') + 1);
  std::string text = absl::StrCat(head.empty() ? "" : absl::StrCat("  ", head, "\n"), "  ", rule, "\n");
  for (const auto& [origin, row] : rows) {
    absl::StrAppend(&text, "  ", padded(range(*row[0], sides.down), margin), "  |");
    for (size_t c = 0; c < columns; ++c)
      absl::StrAppend(&text, " ", padded(plan::RanksText(row[c]->ranks), widths[c]), " |");
    absl::StrAppend(&text, "\n  ", rule, "\n");
  }
  std::vector<std::string> dims;
  if (sides.down >= 0) dims.push_back(absl::StrCat("down: dimension ", sides.down));
  if (sides.across >= 0) dims.push_back(absl::StrCat("across: dimension ", sides.across));
  return absl::StrCat(text, "  ", absl::StrJoin(dims, ", "), "; in the cells: ranks\n");
}

std::string ListText(const std::vector<HeldTile>& tiles, const plan::Buffer& buffer) {
  plan::Table table(2);
  table.Add({"part", "ranks"});
  for (size_t i = 0; i < std::min(tiles.size(), kMostTiles); ++i)
    table.Add({PartText(tiles[i].tile, buffer), plan::RanksText(tiles[i].ranks)});
  const size_t more = tiles.size() - std::min(tiles.size(), kMostTiles);
  return table.Text() + (more > 0 ? absl::StrCat("  and ", more, " more, which --json has\n") : "");
}

// Axes over which the ranks hold terms of the tensor, not the tensor.
std::string PendingText(const plan::Placement& placement, const plan::Buffer& buffer) {
  std::string text;
  for (int a = 0; a < buffer.sbp_size(); ++a) {
    const bool sum = buffer.sbp(a).kind() == plan::Sbp::PARTIAL_SUM;
    if (!sum && buffer.sbp(a).kind() != plan::Sbp::PARTIAL_MAX) continue;
    const std::string axis = placement.axes(a).name().empty() ? absl::StrCat(a) : placement.axes(a).name();
    absl::StrAppend(&text, "  the tensor is the ", sum ? "sum" : "maximum", " over the ranks of axis ", axis, "\n");
  }
  return text;
}

std::string TextOf(const Found& found) {
  const plan::Buffer& buffer = *found.buffer;
  const std::vector<HeldTile> tiles = HeldTiles(*found.placement, buffer);
  const std::vector<int> cut = CutDims(tiles, buffer);
  const std::string padded =
      buffer.unpadded_shape().empty()
          ? ""
          : absl::StrCat(", of which ",
                         plan::ShapeText({buffer.unpadded_shape().begin(), buffer.unpadded_shape().end()}),
                         " is no padding");
  std::string text = absl::StrCat(buffer.name(), ": ", plan::NameOf(buffer.kind()), " ", plan::TypeText(buffer), padded,
                                  ", ", plan::SbpText(*found.placement, buffer), "\n", "  stage ", found.stage, ": ",
                                  plan::MeshText(*found.placement), ", ranks ", plan::RanksText(*found.placement),
                                  "; a rank holds ", plan::LocalTypeText(*found.placement, buffer), ", ",
                                  plan::BytesText(plan::LocalBytes(*found.placement, buffer)),
                                  buffer.slots() > 1 ? absl::StrCat(", ", buffer.slots(), " times") : "", "\n");
  const std::string pending = PendingText(*found.placement, buffer);
  absl::StrAppend(&text, pending);
  if (cut.empty()) return absl::StrCat(text, "  every rank holds ", pending.empty() ? "" : "a term of ", "all of it\n");
  const std::optional<Sides> sides = SidesOf(tiles, buffer, cut);
  return text + (sides.has_value() ? GridText(tiles, *sides) : ListText(tiles, buffer));
}

Json JsonOf(const Found& found) {
  const plan::Buffer& buffer = *found.buffer;
  Json axes = Json::array(), parts = Json::array();
  for (int a = 0; a < buffer.sbp_size(); ++a) {
    axes.push_back({{"name", found.placement->axes(a).name()},
                    {"size", found.placement->axes(a).size()},
                    {"sbp", plan::TextOf(buffer.sbp(a))}});
  }
  for (const HeldTile& it : HeldTiles(*found.placement, buffer)) {
    parts.push_back({{"origin", it.tile.origin},
                     {"shape", it.tile.dims},
                     {"ranks", std::vector<int32_t>(it.ranks.ranks().begin(), it.ranks.ranks().end())}});
  }
  Json json = {{"stage", found.stage},
               {"kind", plan::NameOf(buffer.kind())},
               {"dtype", plan::NameOf(buffer.dtype())},
               {"shape", ShapeOf(buffer)}};
  if (!buffer.unpadded_shape().empty())
    json["unpadded_shape"] = std::vector<int64_t>(buffer.unpadded_shape().begin(), buffer.unpadded_shape().end());
  json["axes"] = axes;
  json["local_bytes"] = plan::LocalBytes(*found.placement, buffer);
  json["slots"] = buffer.slots();
  json["parts"] = parts;
  return json;
}

}  // namespace

std::vector<HeldTile> HeldTiles(const plan::Placement& placement, const plan::Buffer& buffer) {
  std::map<std::vector<int64_t>, HeldTile> tiles;  // by origin
  for (int64_t r = 0; r < plan::RankCount(placement); ++r) {
    plan::Tile tile = plan::TileOf(placement, buffer, plan::Coordinates(placement, r));
    HeldTile& held = tiles[tile.origin];
    held.tile = std::move(tile);
    held.ranks.add_ranks(placement.ranks(static_cast<int>(r)));
  }
  std::vector<HeldTile> sorted;
  for (auto& [origin, held] : tiles) {
    std::sort(held.ranks.mutable_ranks()->begin(), held.ranks.mutable_ranks()->end());
    sorted.push_back(std::move(held));
  }
  return sorted;
}

Outcome RunSharding(const std::string& path, const plan::Plan& plan, const std::string& name, bool json) {
  const std::vector<Found> all = Find(plan, name);
  if (all.empty()) {
    std::vector<std::string> known;
    for (const plan::Stage& stage : plan.stages()) {
      for (const plan::Buffer& buffer : stage.buffers()) known.push_back(buffer.name());
    }
    return {"", absl::StrCat(path, ": expected a tensor called `", name, "`, found none", DidYouMean(name, known)), 2};
  }
  if (json) {
    Json list = Json::array();
    for (const Found& found : all) list.push_back(JsonOf(found));
    return {plan::JsonText({{"name", name}, {"stages", list}}), "", 0};
  }
  return {absl::StrJoin(all, "", [](std::string* out, const Found& found) { out->append(TextOf(found)); }), "", 0};
}

}  // namespace weft::tools
