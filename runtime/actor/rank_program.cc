#include "runtime/actor/rank_program.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/actor/conditions.h"

namespace weft::actor {

RankProgram::RankProgram(ProgramSpec spec, Fault* fault) : spec_(std::move(spec)), states_(spec_.actors.size()) {
  for (size_t s = 0; s < spec_.streams.size(); ++s) {
    loops_.push_back(std::make_unique<RunLoop>(spec_, static_cast<int>(s), states_, *fault));
    fault->AddListener([bell = &loops_[s]->bell()](const absl::Status&) { bell->Ring(); });
  }
  const std::vector<std::vector<Condition>> conditions = ConditionsOf(spec_);
  for (size_t a = 0; a < states_.size(); ++a) {
    const int stream = spec_.actors[a].stream;
    for (const Condition& condition : conditions[a]) {
      if (spec_.actors[condition.peer].stream == stream) continue;  // the stream's order meets it
      states_[a].conditions.push_back(condition);
      std::vector<Bell*>& bells = states_[condition.peer].bells;
      Bell* bell = &loops_[stream]->bell();
      if (std::find(bells.begin(), bells.end(), bell) == bells.end()) bells.push_back(bell);
    }
  }
}

void RankProgram::Trace(trace::Timeline& timeline, int rank) {
  std::vector<std::string> names;
  for (const Actor& actor : spec_.actors) names.push_back(actor.name);
  for (size_t s = 0; s < loops_.size(); ++s)
    loops_[s]->set_track(timeline.AddTrack(rank, spec_.streams[s].name, names));
}

std::vector<std::string> RankProgram::Describe() const {
  std::vector<std::string> lines;
  for (const auto& loop : loops_) {
    const std::string line = loop->Describe();
    if (!line.empty()) lines.push_back(absl::StrCat(spec_.where, ": ", line));
  }
  return lines;
}

std::vector<std::string> RankProgram::Waits() const {
  std::vector<std::string> lines;
  for (const auto& loop : loops_) {
    const std::string line = loop->Waits();
    if (!line.empty()) lines.push_back(absl::StrCat(spec_.where, ": ", line));
  }
  return lines;
}

uint64_t RankProgram::acts() const {
  uint64_t acts = 0;
  for (const auto& loop : loops_) acts += loop->acts();
  return acts;
}

}  // namespace weft::actor
