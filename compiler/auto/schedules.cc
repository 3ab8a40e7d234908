#include "compiler/auto/schedules.h"

namespace weft::compiler {
namespace {

schedule::Kind kindOf(const Choice &choice) {
  switch (choice.schedule) {
  case GPIPE:
    return schedule::Kind::GPipe;
  case INTERLEAVED:
    return schedule::Kind::Interleaved;
  case ZERO_BUBBLE:
    return choice.form == V ? schedule::Kind::ZeroBubbleV : schedule::Kind::ZeroBubbleH1;
  default:
    return schedule::Kind::OneForwardOneBackward;
  }
}

absl::StatusOr<MadeSchedule> make(schedule::Kind kind, int stages, int chunks, int microBatches) {
  absl::StatusOr<schedule::Schedule> made = schedule::make(kind, stages, chunks, microBatches);
  if (!made.ok())
    return made.status();
  std::vector<std::vector<schedule::Stash>> stashes = schedule::stashes(*made);
  return MadeSchedule{*std::move(made), std::move(stashes)};
}

} // namespace

const absl::StatusOr<MadeSchedule> &Schedules::of(const Choice &choice, int64_t microBatches) {
  const Key key(kindOf(choice), int(choice.pipeline), int(choice.chunks), int(microBatches));
  auto it = known_.find(key);
  if (it == known_.end())
    it = known_.emplace(key, std::apply(make, key)).first;
  return it->second;
}

} // namespace weft::compiler
