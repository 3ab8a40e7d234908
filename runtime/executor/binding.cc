#include "runtime/executor/binding.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "runtime/plan/layout.h"

namespace weft::executor {

Attributes AttributesOf(const plan::Kernel& kernel) {
  Attributes attributes;
  for (const auto& [name, attribute] : kernel.attributes()) {
    switch (attribute.value_case()) {
      case plan::Attribute::kInt:
        attributes.Set(name, int64_t{attribute.int_()});
        break;
      case plan::Attribute::kFloat:
        attributes.Set(name, attribute.float_());
        break;
      case plan::Attribute::kString:
        attributes.Set(name, attribute.string());
        break;
      case plan::Attribute::kInts:
        attributes.Set(name, std::vector<int64_t>(attribute.ints().values().begin(), attribute.ints().values().end()));
        break;
      case plan::Attribute::VALUE_NOT_SET:
        break;
    }
  }
  return attributes;
}

TensorSpec Place::SpecOf(int32_t buffer) const {
  const plan::Buffer& it = program->buffer(buffer);
  plan::Tile tile = plan::TileOf(*program->placement, it, coordinates);
  return {TypeOf(it.dtype()), std::move(tile.dims), {it.shape().begin(), it.shape().end()}, std::move(tile.origin)};
}

char* Place::AddressOf(int32_t actor, int32_t buffer, int64_t micro_batch) const {
  return base + program->RangeOf(buffer, program->SlotOf(actor, buffer, micro_batch)).begin;
}

int64_t Place::PeriodOf(int32_t actor, const std::vector<int32_t>& buffers) const {
  if (!program->micro(actor)) return 1;
  int64_t period = 1;
  for (int32_t b : buffers) {
    period = std::min(std::lcm(period, int64_t{program->buffer(b).slots()}), program->micro_batches);
  }
  return std::max<int64_t>(period, 1);
}

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
                       {run.offsets().begin(), run.offsets().end()}});
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
