#include "runtime/actor/stream_status.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::actor {

std::string NameOfAct(const Actor& actor, const ActIndex& act) {
  std::string text = absl::StrCat("actor `", actor.name, "` (step ", act.step + 1);
  if (actor.section == Section::kMicro) absl::StrAppend(&text, ", micro-batch ", act.micro_batch);
  return text + ")";
}

std::string TextOfStatus(const ProgramSpec& spec, absl::Span<const int64_t> words) {
  std::vector<std::string> acts[2];  // that run, that wait
  for (size_t at = 0; at + StreamStatus::kWords <= words.size(); at += StreamStatus::kWords) {
    const int64_t* const status = &words[at];
    const int64_t actor = status[StreamStatus::kActor] - 1;
    if (actor < 0 || actor >= static_cast<int64_t>(spec.actors.size())) continue;
    const ActIndex act{.step = status[StreamStatus::kStep], .micro_batch = status[StreamStatus::kMicroBatch]};
    acts[status[StreamStatus::kWaits] != 0 ? 1 : 0].push_back(NameOfAct(spec.actors[actor], act));
  }
  return absl::StrJoin(acts[0].empty() ? acts[1] : acts[0], ", ");
}

}  // namespace weft::actor
