#include "runtime/executor/links.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/tiles.h"

namespace weft::executor {
namespace {

// "data[1]", "data*tensor[0]"; axes of a raw mesh are called by their number.
std::string GroupName(const RankPlace& place, const std::vector<int32_t>& axes) {
  const plan::Placement& placement = *place.program->placement;
  std::vector<std::string> names;
  int64_t index = 0;
  for (int a = 0; a < placement.axes_size(); ++a) {
    if (std::find(axes.begin(), axes.end(), a) == axes.end()) {
      index = index * placement.axes(a).size() + place.coordinates[a];
    } else {
      names.push_back(placement.axes(a).name().empty() ? absl::StrCat("axis ", a) : placement.axes(a).name());
    }
  }
  return absl::StrCat(absl::StrJoin(names, "*"), "[", index, "]");
}

}  // namespace

std::vector<int> ChannelsOf(const plan::Stage& stage) {
  std::map<std::pair<int, std::vector<int32_t>>, int> numbers;
  std::vector<int> channels(stage.actors_size(), 0);
  for (int a = 0; a < stage.actors_size(); ++a) {
    const plan::Actor& actor = stage.actors(a);
    if (actor.collectives_size() == 0) continue;
    const auto& axes = actor.collectives(0).axes();
    channels[a] = numbers.try_emplace({actor.stream(), {axes.begin(), axes.end()}}, numbers.size()).first->second;
  }
  return channels;
}

collective::Group GroupOf(const RankPlace& place, const plan::Collective& collective, int channel) {
  const plan::Placement& placement = *place.program->placement;
  const std::vector<int32_t> axes(collective.axes().begin(), collective.axes().end());
  collective::Group group{.name = GroupName(place, axes), .ranks = {}, .channel = channel};
  for (int64_t index : plan::GroupOf(placement, axes, place.index)) {
    group.ranks.push_back(placement.ranks(static_cast<int>(index)));
  }
  return group;
}

std::vector<collective::CollectiveSpec> BundleOf(const RankPlace& place, const plan::Actor& actor) {
  std::vector<collective::CollectiveSpec> bundle;
  for (const plan::Collective& each : actor.collectives()) {
    TensorSpec input = place.SpecOf(each.input());
    const bool max = each.reduction() == plan::Collective::MAX;
    bundle.push_back({.kind = plan::KindOf(each.kind()),
                      .reduction = max ? collective::Reduction::kMax : collective::Reduction::kSum,
                      .dtype = input.dtype,
                      .dims = std::move(input.dims),
                      .dim = each.dim(),
                      .split_dim = each.split_dim(),
                      .by = each.by(),
                      .back = each.back()});
  }
  return bundle;
}

std::vector<collective::Link> LinksOf(const RankPlace& place, int transfer, bool sends, int first_transfer) {
  const plan::Plan& plan = *place.program->plan;
  const plan::Transfer& planned = plan.transfers(transfer);
  const plan::Placement& others =
      plan.placements(plan.stages(sends ? planned.target_stage() : planned.source_stage()).placement());
  const TensorSpec own = place.SpecOf(sends ? planned.source_buffer() : planned.target_buffer());
  std::vector<collective::Link> links;
  for (const plan::Piece& piece : plan::PiecesOf(plan, planned)) {
    if ((sends ? piece.source : piece.target) != place.index) continue;
    collective::TensorBlock block{.tile_dims = own.dims, .origin = piece.tile.origin, .dims = piece.tile.dims};
    for (size_t d = 0; d < block.origin.size(); ++d) block.origin[d] -= own.origin[d];
    const int peer = others.ranks(static_cast<int>(sends ? piece.target : piece.source));
    links.push_back({.peer = peer, .tag = first_transfer + transfer, .block = std::move(block)});
  }
  return links;
}

absl::StatusOr<ActorOperation> OperationOf(const RankPlace& place, const plan::Actor& actor, int channel,
                                           collective::Communicator& communicator, int first_transfer) {
  ActorOperation made;
  absl::StatusOr<std::unique_ptr<collective::Operation>> operation = nullptr;
  if (actor.collectives_size() > 0) {
    for (const plan::Collective& each : actor.collectives()) {
      made.inputs.push_back(each.input());
      made.outputs.push_back(each.output());
    }
    operation = communicator.CreateCollective(GroupOf(place, actor.collectives(0), channel), BundleOf(place, actor));
  } else if (actor.end_case() != plan::Actor::END_NOT_SET) {
    const bool sends = actor.end_case() == plan::Actor::kSend;
    const int transfer = sends ? actor.send() : actor.receive();
    const plan::Transfer& planned = place.program->plan->transfers(transfer);
    const int32_t buffer = sends ? planned.source_buffer() : planned.target_buffer();
    (sends ? made.inputs : made.outputs) = {buffer};
    operation =
        communicator.CreateTransfer(sends, place.SpecOf(buffer).dtype, LinksOf(place, transfer, sends, first_transfer));
  }
  if (!operation.ok()) return operation.status();
  made.operation = *std::move(operation);
  return made;
}

}  // namespace weft::executor
