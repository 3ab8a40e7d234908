#include "runtime/executor/program_spec.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace weft::executor {
namespace {

actor::Actor ActorOf(const plan::Actor& actor, const std::vector<int>& registers) {
  actor::Actor it;
  it.name = actor.name();
  it.stream = actor.stream();
  it.section = actor.section() == plan::Actor::MICRO ? actor::Section::kMicro : actor::Section::kStep;
  for (int32_t b : actor.reads()) it.reads.push_back(registers[b]);
  for (int32_t b : actor.writes()) it.writes.push_back(registers[b]);
  return it;
}

actor::Stream StreamOf(const plan::Stream& stream) {
  actor::Stream it{.name = stream.name()};
  for (const plan::Run& run : stream.runs()) {
    it.runs.push_back({{run.actors().begin(), run.actors().end()},
                       run.first_micro_batch(),
                       run.repeat(),
                       {run.offsets().begin(), run.offsets().end()},
                       std::max<int64_t>(run.stride(), 1)});
  }
  return it;
}

}  // namespace

actor::ProgramSpec ProgramSpecOf(const plan::Program& program, int rank) {
  actor::ProgramSpec spec;
  spec.where = absl::StrCat("rank ", rank);
  spec.micro_batches = program.micro_batches;
  std::vector<int> registers(program.root.size(), -1);
  for (size_t b = 0; b < registers.size(); ++b) {
    if (program.writer[b] < 0) continue;
    registers[b] = static_cast<int>(spec.registers.size());
    spec.registers.push_back({program.buffer(b).name(), program.buffer(b).slots()});
  }
  for (const plan::Actor& actor : program.stage->actors()) spec.actors.push_back(ActorOf(actor, registers));
  for (const plan::Stream& stream : program.stage->streams()) spec.streams.push_back(StreamOf(stream));
  return spec;
}

}  // namespace weft::executor
