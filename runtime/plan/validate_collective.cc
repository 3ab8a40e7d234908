#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

bool InGroup(const Collective& collective, int axis) {
  return std::find(collective.axes().begin(), collective.axes().end(), axis) != collective.axes().end();
}

// The parts of a group are concatenated in row-major order of its axes, so that
// no axis inside the group may cut the dim again after the group did.
absl::Status CheckInnermost(const Collective& collective, const Buffer& buffer, int dim) {
  for (int a = collective.axes(0) + 1; a < buffer.sbp_size(); ++a) {
    if (InGroup(collective, a) || buffer.sbp(a).kind() != Sbp::SPLIT || buffer.sbp(a).dim() != dim) continue;
    return InvalidPlan("axes: expected the innermost that split dim ", dim, " of `", buffer.name(), "`, got axis ", a,
                       " inside them");
  }
  return absl::OkStatus();
}

// The SBP that a collective expects on its axes.
Sbp Expected(const Collective& collective, bool output) {
  const CollectiveFacts facts = FactsOf(collective);
  Sbp sbp;
  if (facts.moves()) {
    sbp.set_kind(Sbp::SPLIT);
    sbp.set_dim(collective.dim());
  } else if (output) {
    sbp.set_kind(facts.cuts ? Sbp::SPLIT : Sbp::BROADCAST);
    sbp.set_dim(!facts.cuts ? 0 : facts.has_split_dim() ? collective.split_dim() : collective.dim());
  } else {
    sbp.set_kind(facts.gathers                               ? Sbp::SPLIT
                 : collective.reduction() == Collective::MAX ? Sbp::PARTIAL_MAX
                                                             : Sbp::PARTIAL_SUM);
    sbp.set_dim(facts.gathers ? collective.dim() : 0);
  }
  return sbp;
}

bool Same(const Sbp& a, const Sbp& b) { return a.kind() == b.kind() && (a.kind() != Sbp::SPLIT || a.dim() == b.dim()); }

absl::Status CheckSide(const Program& program, const Collective& collective, bool output) {
  const Buffer& buffer = program.buffer(output ? collective.output() : collective.input());
  const Sbp expected = Expected(collective, output);
  for (int32_t a : collective.axes()) {
    if (Same(buffer.sbp(a), expected)) continue;
    return InvalidPlan(output ? "output `" : "input `", buffer.name(), "`: expected ", TextOf(expected), " on axis ", a,
                       ", got ", TextOf(buffer.sbp(a)));
  }
  return expected.kind() == Sbp::SPLIT ? CheckInnermost(collective, buffer, expected.dim()) : absl::OkStatus();
}

absl::Status CheckNextBest(const Collective& collective, const Buffer& buffer) {
  const NextBest& next_best = collective.next_best();
  if (!InGroup(collective, next_best.axis())) {
    return InvalidPlan("axis: expected one of the collective's, got ", next_best.axis());
  }
  if (next_best.has_made() != next_best.has_read()) {
    return InvalidPlan("expected both made and read, or neither, got ", next_best.has_made() ? "made" : "read");
  }
  for (const Sbp* sbp : {&next_best.made(), &next_best.read()}) {
    if (!Sbp::Kind_IsValid(sbp->kind())) return InvalidPlan("expected a kind of SBP, got ", sbp->kind());
    if (sbp->kind() == Sbp::SPLIT && (sbp->dim() < 0 || sbp->dim() >= buffer.shape_size())) {
      return InvalidPlan("expected a dim of `", buffer.name(), "`, got ", TextOf(*sbp));
    }
  }
  if (!std::isfinite(next_best.more_s())) {
    return InvalidPlan("expected a finite number of seconds, got ", next_best.more_s());
  }
  return absl::OkStatus();
}

absl::Status Check(const Program& program, const Collective& collective) {
  const Buffer& input = program.buffer(collective.input());
  const Buffer& output = program.buffer(collective.output());
  const CollectiveFacts facts = FactsOf(collective);
  if (facts.reduces && input.dtype() == U8)
    return InvalidPlan("input `", input.name(), "`: expected numbers to reduce, got u8");
  if (input.dtype() != output.dtype() ||
      !std::equal(input.shape().begin(), input.shape().end(), output.shape().begin(), output.shape().end())) {
    return InvalidPlan("output `", output.name(), "`: expected ", TypeText(input), " as the input, got ",
                       TypeText(output));
  }
  if (facts.has_parts() && program.root[collective.input()] == program.root[collective.output()]) {
    return InvalidPlan("output `", output.name(),
                       "`: expected bytes other than the input's: only all_reduce works in place");
  }
  if (facts.has_split_dim() && collective.dim() == collective.split_dim()) {
    return InvalidPlan("split dim: expected another than the gathered dim ", collective.dim(), ", got the same");
  }
  if (facts.passes) {
    int64_t members = 1;
    for (int32_t a : collective.axes()) members *= program.placement->axes(a).size();
    if (collective.by() < 1 || collective.by() >= std::max<int64_t>(members, 2)) {
      return InvalidPlan("by: expected 1 or more places, fewer than ", members, " members, got ", collective.by());
    }
  }
  for (int a = 0; a < input.sbp_size(); ++a) {
    if (InGroup(collective, a) || Same(input.sbp(a), output.sbp(a))) continue;
    return InvalidPlan("output `", output.name(), "`: expected ", TextOf(input.sbp(a)), " on axis ", a,
                       " as the input, which is not of the group, got ", TextOf(output.sbp(a)));
  }
  if (absl::Status status = CheckSide(program, collective, false); !status.ok()) return status;
  if (absl::Status status = CheckSide(program, collective, true); !status.ok()) return status;
  if (facts.mirrors && LocalDims(*program.placement, input)[static_cast<size_t>(collective.dim())] % 2 != 0) {
    return InvalidPlan("input `", input.name(), "`: expected two halves along dim ", collective.dim(),
                       " on each rank, got ", TypeText(input));
  }
  return collective.has_next_best() ? Under("next best", CheckNextBest(collective, input)) : absl::OkStatus();
}

// Members of a bundle run at once on every rank: an output shares its bytes at
// most with the input of its own collective.
absl::Status CheckApart(const Program& program, const Actor& actor) {
  struct Readers {
    int first = 0, count = 0;
  };
  absl::flat_hash_map<int32_t, Readers> readers;  // by root
  for (int i = 0; i < actor.collectives_size(); ++i) {
    Readers& reader = readers[program.root[actor.collectives(i).input()]];
    if (reader.count++ == 0) reader.first = i;
  }
  for (int i = 0; i < actor.collectives_size(); ++i) {
    const int32_t output = actor.collectives(i).output();
    const auto it = readers.find(program.root[output]);
    if (it == readers.end() || (it->second.count == 1 && it->second.first == i)) continue;
    return InvalidPlan("collective ", i, ": output `", program.buffer(output).name(),
                       "`: expected bytes that no other collective of the bundle reads");
  }
  return absl::OkStatus();
}

std::string PlaceOf(const Program& program, int32_t a, int i) {
  const Actor& actor = program.actor(a);
  if (actor.collectives_size() == 1) return program.Where(a, 0);
  const Collective& collective = actor.collectives(i);
  return absl::StrCat("actor `", actor.name(), "`: collective ", i, ": ", NameOf(collective.kind()),
                      collective.location().empty() ? "" : " at ", collective.location());
}

}  // namespace

absl::Status CheckCollectives(const Program& program) {
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    const Actor& actor = program.actor(a);
    for (int i = 0; i < actor.collectives_size(); ++i) {
      const absl::Status status = Check(program, actor.collectives(i));
      if (!status.ok()) return Under(PlaceOf(program, a, i), status);
    }
    if (actor.collectives_size() < 2) continue;
    const absl::Status status = CheckApart(program, actor);
    if (!status.ok()) return Under(absl::StrCat("actor `", actor.name(), "`"), status);
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
