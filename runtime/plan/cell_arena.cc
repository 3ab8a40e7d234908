#include "runtime/plan/cell_arena.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace weft::plan {
namespace {

// Beyond these the tables would cost more than they save.
constexpr int64_t kMaxPhases = int64_t{1} << 20;
constexpr int64_t kFewCells = 32;

// Of all slots, state being in one piece.
ByteRange StateRange(const Program& program, int32_t b) {
  return {program.RangeOf(b, 0).begin, program.RangeOf(b, program.slots[b] - 1).end};
}

// Of what is reported at the end: the last micro-batch's, if each makes one.
ByteRange MetricRange(const Program& program, int32_t b) {
  const int32_t writer = program.writer[b];
  const bool micro = writer >= 0 && program.micro(writer);
  return program.ExactRangeOf(b, micro ? (program.micro_batches - 1) % program.slots[b] : 0);
}

}  // namespace

CellArena::CellArena(const Program& program) : program_(program), footprints_(program), phases_(program.work.size()) {
  int64_t phases = 0;
  for (size_t a = 0; a < phases_.size() && decides_; ++a) {
    phases += footprints_.PhasesOf(static_cast<int32_t>(a));
    decides_ = phases <= kMaxPhases && Collect(static_cast<int32_t>(a));
  }
  if (decides_) Cut();
  if (decides_) FillState();
}

bool CellArena::Collect(int32_t actor) {
  const int64_t phases = footprints_.PhasesOf(actor);
  phases_[actor].reserve(phases);
  for (int64_t i = 0; i < phases; ++i) {
    Phase& phase = phases_[actor].emplace_back();
    phase.micro_batch = footprints_.MicroBatchOf(actor, i);
    if (phase.micro_batch >= (program_.micro(actor) ? program_.micro_batches : 1)) continue;  // no act has it
    const absl::StatusOr<const Footprint*> footprint = footprints_.Of(actor, phase.micro_batch);
    if (!footprint.ok()) return false;
    phase.reads.reserve((*footprint)->reads.size());
    phase.writes.reserve((*footprint)->writes.size());
    for (const Footprint::Read& it : (*footprint)->reads) {
      phase.reads.push_back({it.bytes, program_.root[it.buffer], it.buffer});
    }
    for (const Footprint::Write& it : (*footprint)->writes) phase.writes.push_back({it.bytes, it.root, it.buffer});
  }
  return true;
}

void CellArena::Cut() {
  absl::flat_hash_set<int64_t> bounds;
  const auto add = [&](const ByteRange& bytes) {
    bounds.insert(bytes.begin);
    bounds.insert(bytes.end);
  };
  for (size_t b = 0; b < program_.root.size(); ++b) {
    if (program_.persistent[b] && program_.root[b] == static_cast<int32_t>(b)) add(StateRange(program_, b));
  }
  for (const Metric& metric : program_.plan->metrics()) {
    if (metric.stage() == program_.index) add(MetricRange(program_, metric.buffer()));
  }
  for (const std::vector<Phase>& phases : phases_) {
    for (const Phase& phase : phases) {
      for (const Access& it : phase.reads) add(it.bytes);
      for (const Access& it : phase.writes) add(it.bytes);
    }
  }
  bounds_.assign(bounds.begin(), bounds.end());
  std::sort(bounds_.begin(), bounds_.end());
  cells_.resize(bounds_.size());
  absl::flat_hash_map<int64_t, int32_t> cell_at;
  cell_at.reserve(bounds_.size());
  for (size_t i = 0; i < bounds_.size(); ++i) cell_at[bounds_[i]] = static_cast<int32_t>(i);
  int64_t accesses = 0, cells = 0;
  const auto place = [&](Access& it) {
    it.begin = cell_at[it.bytes.begin];
    it.end = cell_at[it.bytes.end];
    ++accesses;
    cells += it.end - it.begin;
  };
  for (size_t a = 0; a < phases_.size(); ++a) {
    for (Phase& phase : phases_[a]) {
      for (Access& it : phase.reads) place(it);
      for (Access& it : phase.writes) place(it);
      AddSources(static_cast<int32_t>(a), phase);
    }
  }
  decides_ = cells <= kFewCells * (accesses + 1024);
}

void CellArena::FillState() {
  for (size_t b = 0; b < program_.root.size(); ++b) {
    if (!program_.persistent[b] || program_.root[b] != static_cast<int32_t>(b)) continue;
    const auto [begin, end] = CellsOf(StateRange(program_, b));
    for (int32_t c = begin; c < end; ++c) cells_[c].root = static_cast<int32_t>(b);
  }
}

std::pair<int32_t, int32_t> CellArena::CellsOf(const ByteRange& bytes) const {
  const auto at = [&](int64_t byte) {
    return static_cast<int32_t>(std::lower_bound(bounds_.begin(), bounds_.end(), byte) - bounds_.begin());
  };
  return {at(bytes.begin), at(bytes.end)};
}

// True if all bytes of a read have the same sources.
bool CellArena::AreOne(int32_t actor, const Access& read) const {
  const auto& registers = program_.actor(actor).reads();
  const auto other = [&](int32_t b) { return program_.root[b] == read.root; };
  return program_.persistent[read.buffer] ||
         std::find(registers.begin(), registers.end(), read.buffer) != registers.end() ||
         std::none_of(registers.begin(), registers.end(), other);
}

// A read of several registers through one view becomes a read of each cell.
void CellArena::AddSources(int32_t actor, Phase& phase) {
  for (size_t i = 0; i < phase.reads.size(); ++i) {
    Access& read = phase.reads[i];
    if (read.end - read.begin > 1 && !AreOne(actor, read)) {
      Access rest = read;
      rest.begin = read.end = read.begin + 1;
      phase.reads.insert(phase.reads.begin() + i + 1, rest);
    }
    Access& first = phase.reads[i];
    const ByteRange bytes{bounds_[first.begin], bounds_[first.end]};
    const Sources sources = SourcesOf(actor, phase.micro_batch, first.buffer, bytes);
    first.sources = static_cast<int32_t>(sources_.size());
    sources_.insert(sources_.end(), sources.begin(), sources.end());
    first.last_source = static_cast<int32_t>(sources_.size());
  }
}

CellArena::Source CellArena::SourceOf(int32_t actor, int32_t buffer) const {
  const int32_t maker = program_.writer[buffer];
  return {maker, !program_.micro(maker) ? Source::kFirst : program_.micro(actor) ? Source::kSame : Source::kLast};
}

// As Arena::IsMeant decides.
CellArena::Sources CellArena::SourcesOf(int32_t actor, int64_t micro_batch, int32_t buffer,
                                        const ByteRange& bytes) const {
  Sources sources;
  if (program_.persistent[buffer]) return sources;
  for (int32_t b : program_.actor(actor).reads()) {
    if (b == buffer) return Sources(1, SourceOf(actor, b));
    if (program_.root[b] != program_.root[buffer]) continue;
    if (!program_.RangeOf(b, program_.SlotOf(actor, b, micro_batch)).Overlaps(bytes)) continue;
    sources.push_back(SourceOf(actor, b));
  }
  if (sources.empty()) sources.push_back({actor, Source::kAny});
  return sources;
}

bool CellArena::IsMeant(const Act& act, const Access& access, const Cell& cell) const {
  if (access.sources == access.last_source) return true;
  for (int32_t i = access.sources; i < access.last_source; ++i) {
    const Source& source = sources_[i];
    const int64_t made = source.of == Source::kSame    ? act.micro_batch
                         : source.of == Source::kFirst ? 0
                         : source.of == Source::kLast  ? program_.micro_batches - 1
                                                       : cell.micro_batch;
    if (source.actor == cell.actor && made == cell.micro_batch) return true;
  }
  return false;
}

bool CellArena::Perform(const Act& act) {
  if (!decides_) return false;
  const Phase& phase = phases_[act.actor][footprints_.PhaseOf(act.actor, act.micro_batch)];
  for (const Access& it : phase.reads) {
    if (!Read(act, it)) return decides_ = false;
  }
  for (const Access& it : phase.writes) {
    if (!Write(act, it)) return decides_ = false;
  }
  return true;
}

bool CellArena::Read(const Act& act, const Access& access) {
  Epoch passed;  // cells beside each other are often of one act
  for (int32_t c = access.begin; c < access.end; ++c) {
    Cell& cell = cells_[c];
    if (cell.root != access.root) return false;
    if (cell.writer.stream >= 0 && cell.writer != passed) {
      if (!act.After(cell.writer.stream, cell.writer.position) || !IsMeant(act, access, cell)) return false;
      passed = cell.writer;
    }
    if (cell.others.empty() && (cell.reader.stream < 0 || cell.reader.stream == act.stream)) {
      cell.reader = {act.stream, act.position};
    } else {
      AddReader(act, cell);
    }
  }
  return true;
}

// Whoever writes after this act writes after those that ended before it.
void CellArena::AddReader(const Act& act, Cell& cell) {
  const auto ended = [&](const Epoch& reader) {
    return reader.stream == act.stream || act.After(reader.stream, reader.position);
  };
  cell.others.erase(std::remove_if(cell.others.begin(), cell.others.end(), ended), cell.others.end());
  if (!ended(cell.reader)) cell.others.push_back(cell.reader);
  cell.reader = {act.stream, act.position};
}

bool CellArena::Write(const Act& act, const Access& access) {
  const Epoch own{act.stream, act.position};
  Epoch passed = own;
  const auto ordered = [&](const Epoch& epoch) {
    if (epoch.stream < 0 || epoch == passed || epoch == own) return true;
    if (!act.After(epoch.stream, epoch.position)) return false;
    passed = epoch;
    return true;
  };
  for (int32_t c = access.begin; c < access.end; ++c) {
    Cell& cell = cells_[c];
    if (!ordered(cell.writer) || !ordered(cell.reader)) return false;
    if (!cell.others.empty()) {
      if (!std::all_of(cell.others.begin(), cell.others.end(), ordered)) return false;
      cell.others.clear();
    }
    cell.root = access.root;
    cell.actor = act.actor;
    cell.micro_batch = act.micro_batch;
    cell.writer = own;
    cell.reader = Epoch();
  }
  return true;
}

bool CellArena::KeepsMetrics() const {
  if (!decides_) return false;
  for (const Metric& metric : program_.plan->metrics()) {
    if (metric.stage() != program_.index) continue;
    const int32_t b = metric.buffer(), writer = program_.writer[b];
    const auto [begin, end] = CellsOf(MetricRange(program_, b));
    for (int32_t c = begin; c < end; ++c) {
      if (cells_[c].root != program_.root[b] || (writer >= 0 && cells_[c].actor != writer)) return false;
    }
  }
  return true;
}

}  // namespace weft::plan
