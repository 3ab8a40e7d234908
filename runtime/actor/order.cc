#include "runtime/actor/order.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"

namespace weft::actor {
namespace {

absl::Status CheckIndex(const std::string& what, int64_t index, size_t size) {
  if (index >= 0 && index < static_cast<int64_t>(size)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, ": expected an index below ", size, ", got ", index));
}

absl::Status CheckIndices(const ProgramSpec& spec) {
  for (const Actor& actor : spec.actors) {
    absl::Status status =
        CheckIndex(absl::StrCat("actor `", actor.name, "`: stream"), actor.stream, spec.streams.size());
    for (int r : actor.reads)
      status.Update(CheckIndex(absl::StrCat("actor `", actor.name, "`: reads"), r, spec.registers.size()));
    for (int r : actor.writes)
      status.Update(CheckIndex(absl::StrCat("actor `", actor.name, "`: writes"), r, spec.registers.size()));
    if (!status.ok()) return status;
  }
  for (const Stream& stream : spec.streams) {
    for (const Run& run : stream.runs) {
      for (int a : run.actors) {
        if (absl::Status status = CheckIndex(absl::StrCat("stream `", stream.name, "`: run"), a, spec.actors.size());
            !status.ok()) {
          return status;
        }
      }
      if (!run.offsets.empty() && run.offsets.size() != run.actors.size()) {
        return absl::InvalidArgumentError(absl::StrCat("stream `", stream.name, "`: offsets: expected ",
                                                       run.actors.size(), ", got ", run.offsets.size()));
      }
    }
  }
  return absl::OkStatus();
}

// The actor that writes each register, -1 where there is none.
absl::StatusOr<std::vector<int>> WritersOf(const ProgramSpec& spec) {
  std::vector<int> writers(spec.registers.size(), -1);
  for (size_t a = 0; a < spec.actors.size(); ++a) {
    for (int r : spec.actors[a].writes) {
      if (writers[r] >= 0 && writers[r] != static_cast<int>(a)) {
        return absl::InvalidArgumentError(absl::StrCat("register `", spec.registers[r].name,
                                                       "`: expected one writer, got `", spec.actors[writers[r]].name,
                                                       "` and `", spec.actors[a].name, "`"));
      }
      writers[r] = static_cast<int>(a);
    }
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

absl::Status OutOfOrder(const ProgramSpec& spec, const Actor& actor, int64_t micro_batch, const Condition& condition) {
  return absl::FailedPreconditionError(absl::StrCat(
      spec.where, ": actor `", actor.name, "`, micro-batch ", micro_batch, ": ",
      condition.credit ? "writes `" : "reads `", spec.registers[condition.reg].name, "` before `",
      spec.actors[condition.peer].name, condition.credit ? "` has read the slot's last value" : "` writes it",
      ", on one stream `", spec.streams[actor.stream].name, "`"));
}

// Walks one stream's acts of a step. `fired` counts the acts of every actor.
absl::Status WalkStream(const ProgramSpec& spec, const std::vector<std::vector<Condition>>& conditions, int stream,
                        std::vector<int64_t>& fired) {
  for (Cursor cursor(spec, stream); !cursor.done(); cursor.Advance()) {
    const int a = cursor.actor();
    const Actor& actor = spec.actors[a];
    if (actor.stream != stream) {
      return absl::InvalidArgumentError(absl::StrCat("actor `", actor.name, "`: expected in the order of stream `",
                                                     spec.streams[actor.stream].name, "`, got in that of `",
                                                     spec.streams[stream].name, "`"));
    }
    const int64_t micro_batch = cursor.micro_batch();
    if (fired[a] != micro_batch) {
      return absl::InvalidArgumentError(absl::StrCat("actor `", actor.name, "`: expected its act ", fired[a],
                                                     " in the order of stream `", spec.streams[stream].name,
                                                     "`, got micro-batch ", micro_batch));
    }
    // What other streams do counts as done.
    const auto count = [&](int peer) {
      return spec.actors[peer].stream == stream ? fired[peer] : std::numeric_limits<int64_t>::max();
    };
    if (const Condition* unmet = Unmet(conditions[a], 0, micro_batch, count)) {
      return OutOfOrder(spec, actor, micro_batch, *unmet);
    }
    ++fired[a];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::vector<Condition>>> ConditionsOf(const ProgramSpec& spec) {
  if (absl::Status status = CheckIndices(spec); !status.ok()) return status;
  absl::StatusOr<std::vector<int>> writers = WritersOf(spec);
  if (!writers.ok()) return writers.status();
  std::vector<std::vector<Condition>> conditions(spec.actors.size());
  for (size_t a = 0; a < spec.actors.size(); ++a) {
    const Actor& reader = spec.actors[a];
    for (int r : reader.reads) {
      const int writer = (*writers)[r];
      if (writer < 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "register `", spec.registers[r].name, "`: expected a writer, as `", reader.name, "` reads it, got none"));
      }
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

absl::Status CheckOrder(const ProgramSpec& spec, const std::vector<std::vector<Condition>>& conditions) {
  std::vector<int64_t> fired(spec.actors.size(), 0);
  for (size_t s = 0; s < spec.streams.size(); ++s) {
    if (absl::Status status = WalkStream(spec, conditions, static_cast<int>(s), fired); !status.ok()) return status;
  }
  for (size_t a = 0; a < spec.actors.size(); ++a) {
    const int64_t expected = spec.actors[a].section == Section::kMicro ? spec.micro_batches : 1;
    if (fired[a] != expected) {
      return absl::InvalidArgumentError(
          absl::StrCat("actor `", spec.actors[a].name, "`: expected ", expected, " acts a step, got ", fired[a]));
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::actor
