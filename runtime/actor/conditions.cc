#include "runtime/actor/conditions.h"

namespace weft::actor {
namespace {

// The actor that writes each register.
std::vector<int> WritersOf(const ProgramSpec& spec) {
  std::vector<int> writers(spec.registers.size(), -1);
  for (size_t a = 0; a < spec.actors.size(); ++a) {
    for (int r : spec.actors[a].writes) writers[r] = static_cast<int>(a);
  }
  return writers;
}

Condition FullSlot(const ProgramSpec& spec, int reg, int writer, const Actor& reader) {
  if (spec.actors[writer].section == Section::kStep) return {.peer = writer, .reg = reg, .acts_a_step = 1, .offset = 1};
  const bool each = reader.section == Section::kMicro;
  return {.peer = writer,
          .reg = reg,
          .acts_a_step = spec.micro_batches,
          .each_micro_batch = each,
          .offset = each ? 1 : spec.micro_batches};
}

Condition FreeSlot(const ProgramSpec& spec, int reg, int reader) {
  return {.peer = reader,
          .reg = reg,
          .credit = true,
          .acts_a_step = spec.micro_batches,
          .each_micro_batch = true,
          .offset = 1 - spec.registers[reg].slots};
}

}  // namespace

std::vector<std::vector<Condition>> ConditionsOf(const ProgramSpec& spec) {
  const std::vector<int> writers = WritersOf(spec);
  std::vector<std::vector<Condition>> conditions(spec.actors.size());
  for (size_t a = 0; a < spec.actors.size(); ++a) {
    const Actor& reader = spec.actors[a];
    for (int r : reader.reads) {
      const int writer = writers[r];
      conditions[a].push_back(FullSlot(spec, r, writer, reader));
      // Only within a step can a slot be written again: all streams have ended
      // a step before the next begins. So a reader that fires once a step
      // never holds back a writer.
      if (reader.section == Section::kMicro && spec.actors[writer].section == Section::kMicro) {
        conditions[writer].push_back(FreeSlot(spec, r, static_cast<int>(a)));
      }
    }
  }
  return conditions;
}

}  // namespace weft::actor
