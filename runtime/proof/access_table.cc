#include "runtime/proof/access_table.h"

#include <algorithm>
#include <iterator>

namespace weft::plan {
namespace {

// Beyond these the table would cost more than it saves.
constexpr int64_t kMaxVariants = int64_t{1} << 20;
constexpr int64_t kMaxAccesses = int64_t{1} << 26;
constexpr int64_t kFewCells = 32;

void Sort(std::vector<AccessTable::Access>& accesses) {
  std::sort(accesses.begin(), accesses.end());
  accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
}

// Of sorted lists.
std::vector<AccessTable::Access> Both(const std::vector<AccessTable::Access>& a,
                                      const std::vector<AccessTable::Access>& b) {
  std::vector<AccessTable::Access> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

void Remove(const std::vector<AccessTable::Access>& common, std::vector<AccessTable::Access>& from) {
  std::vector<AccessTable::Access> rest;
  std::set_difference(from.begin(), from.end(), common.begin(), common.end(), std::back_inserter(rest));
  from = std::move(rest);
}

}  // namespace

AccessTable::AccessTable(const Program& program) : program_(program), footprints_(program) {
  known_.resize(program.root.size());
  ok_ = Cut() && Place();
  footprints_.Forget();
}

// Calls visit(micro-batch, footprint) for each set of slots that an act uses, and
// visit(-1, null) for one that none does.
template <typename Visit>
bool AccessTable::ForEachVariant(int32_t actor, const Visit& visit) {
  const int64_t micro_batches = program_.micro(actor) ? program_.micro_batches : 1;
  const int64_t variants = footprints_.VariantsOf(actor);
  for (int64_t i = 0; i < variants; ++i) {
    const int64_t micro_batch = footprints_.MicroBatchOf(actor, i);
    if (micro_batch >= micro_batches) {
      visit(int64_t{-1}, nullptr);
      continue;
    }
    const absl::StatusOr<const Footprint*> footprint = footprints_.Of(actor, micro_batch);
    if (!footprint.ok()) return false;
    visit(micro_batch, *footprint);
  }
  return true;
}

bool AccessTable::Cut() {
  absl::flat_hash_set<int64_t> bounds;
  const auto add = [&](const ByteRange& bytes) {
    bounds.insert(bytes.begin);
    bounds.insert(bytes.end);
  };
  for (size_t b = 0; b < program_.root.size(); ++b) {
    if (program_.persistent[b] && program_.root[b] == static_cast<int32_t>(b)) add(program_.AllSlotsOf(b));
  }
  for (const Metric& metric : program_.plan->metrics()) {
    if (metric.stage() == program_.index) add(program_.MetricRangeOf(metric.buffer()));
  }
  int64_t variants = 0;
  for (size_t a = 0; a < program_.work.size(); ++a) {
    variants += footprints_.VariantsOf(static_cast<int32_t>(a));
    if (variants > kMaxVariants || count_ > kMaxAccesses) return false;
    const auto visit = [&](int64_t, const Footprint* footprint) {
      if (footprint == nullptr) return;
      for (const Footprint::Read& read : footprint->reads) add(read.bytes);
      for (const Footprint::Write& write : footprint->writes) add(write.bytes);
      count_ += static_cast<int64_t>(footprint->reads.size() + footprint->writes.size());
    };
    if (!ForEachVariant(static_cast<int32_t>(a), visit)) return false;
  }
  bounds_.assign(bounds.begin(), bounds.end());
  std::sort(bounds_.begin(), bounds_.end());
  cell_at_.reserve(bounds_.size());
  for (size_t i = 0; i < bounds_.size(); ++i) cell_at_[bounds_[i]] = static_cast<int32_t>(i);
  return true;
}

bool AccessTable::Place() {
  for (int32_t a = 0; a < program_.stage->actors_size(); ++a) {
    std::vector<Lists> variants;
    std::vector<bool> used;
    const auto visit = [&](int64_t micro_batch, const Footprint* footprint) {
      used.push_back(footprint != nullptr);
      if (footprint != nullptr) variants.push_back(ListsOf(a, micro_batch, *footprint));
    };
    if (!ForEachVariant(a, visit)) return false;
    if (covered_ > kFewCells * (count_ + 1024)) return false;
    if (static_cast<int64_t>(std::max(accesses_.size(), sources_.size())) > kMaxAccesses) return false;
    Add(a, variants);
    size_t next = 0;
    for (bool acts : used) ranges_.push_back(acts ? Append(variants[next++]) : Range());
  }
  return true;
}

AccessTable::Lists AccessTable::ListsOf(int32_t actor, int64_t micro_batch, const Footprint& footprint) {
  Lists lists;
  const auto place = [&](const ByteRange& bytes, int32_t root) {
    const Access access{cell_at_[bytes.begin], cell_at_[bytes.end], root};
    covered_ += access.end - access.begin;
    return access;
  };
  lists.reads.reserve(footprint.reads.size());
  lists.writes.reserve(footprint.writes.size());
  for (const Footprint::Read& read : footprint.reads) {
    AddRead(actor, micro_batch, read.buffer, place(read.bytes, program_.root[read.buffer]), lists.reads);
  }
  for (const Footprint::Write& write : footprint.writes) lists.writes.push_back(place(write.bytes, write.root));
  Sort(lists.reads);
  Sort(lists.writes);
  return lists;
}

// Begins an actor's ranges with what is common to all variants, and takes that from them.
void AccessTable::Add(int32_t actor, std::vector<Lists>& variants) {
  first_range_.push_back(static_cast<int32_t>(ranges_.size()));
  Lists common;
  if (!variants.empty()) common = variants[0];
  for (const Lists& variant : variants) {
    common = {Both(common.reads, variant.reads), Both(common.writes, variant.writes)};
  }
  for (Lists& variant : variants) {
    Remove(common.reads, variant.reads);
    Remove(common.writes, variant.writes);
  }
  ranges_.push_back(Append(common));
}

AccessTable::Range AccessTable::Append(const Lists& lists) {
  Range range;
  range.begin = static_cast<int32_t>(accesses_.size());
  accesses_.insert(accesses_.end(), lists.reads.begin(), lists.reads.end());
  range.writes = static_cast<int32_t>(accesses_.size());
  accesses_.insert(accesses_.end(), lists.writes.begin(), lists.writes.end());
  range.end = static_cast<int32_t>(accesses_.size());
  return range;
}

// A read of several registers through one view becomes a read of each cell.
void AccessTable::AddRead(int32_t actor, int64_t micro_batch, int32_t buffer, Access read, std::vector<Access>& reads) {
  Known& known = known_[buffer];
  if (known.actor != actor && AreOne(actor, buffer)) {
    known = {actor, AddSources(actor, micro_batch, buffer, {bounds_[read.begin], bounds_[read.end]})};
  }
  if (known.actor == actor) {
    read.first_source = known.sources.begin;
    read.last_source = known.sources.end;
    reads.push_back(read);
    return;
  }
  for (int32_t c = read.begin; c < read.end; ++c) {
    const Interval sources = AddSources(actor, micro_batch, buffer, {bounds_[c], bounds_[c + 1]});
    reads.push_back({c, c + 1, read.root, sources.begin, sources.end});
  }
}

// True if all bytes of a read have the same sources, in all acts.
bool AccessTable::AreOne(int32_t actor, int32_t buffer) const {
  const auto& registers = program_.actor(actor).reads();
  const auto other = [&](int32_t b) { return program_.root[b] == program_.root[buffer]; };
  return program_.persistent[buffer] || std::find(registers.begin(), registers.end(), buffer) != registers.end() ||
         std::none_of(registers.begin(), registers.end(), other);
}

AccessTable::Interval AccessTable::AddSources(int32_t actor, int64_t micro_batch, int32_t buffer,
                                              const ByteRange& bytes) {
  const Sources makers = MakersOf(actor, micro_batch, buffer, bytes);
  const auto begin = static_cast<int32_t>(sources_.size());
  sources_.insert(sources_.end(), makers.begin(), makers.end());
  return {begin, static_cast<int32_t>(sources_.size())};
}

AccessTable::Source AccessTable::MakerOf(int32_t actor, int32_t buffer) const {
  const int32_t maker = program_.writer[buffer];
  return {maker, !program_.micro(maker) ? Source::kFirst : program_.micro(actor) ? Source::kSame : Source::kLast};
}

// As RaceDetector::IsMeant decides.
AccessTable::Sources AccessTable::MakersOf(int32_t actor, int64_t micro_batch, int32_t buffer,
                                           const ByteRange& bytes) const {
  Sources sources;
  if (program_.persistent[buffer]) return sources;
  for (int32_t b : program_.actor(actor).reads()) {
    if (b == buffer) return Sources(1, MakerOf(actor, b));
    if (program_.root[b] != program_.root[buffer]) continue;
    if (!program_.RangeOf(b, program_.SlotOf(actor, b, micro_batch)).Overlaps(bytes)) continue;
    sources.push_back(MakerOf(actor, b));
  }
  if (!sources.empty()) return sources;
  sources.push_back({actor, Source::kAny});
  if (const int32_t last = program_.LastToAdd(actor, buffer); last >= 0) sources.push_back({last, Source::kBefore});
  return sources;
}

std::pair<int32_t, int32_t> AccessTable::CellsOf(const ByteRange& bytes) const {
  return {cell_at_.at(bytes.begin), cell_at_.at(bytes.end)};
}

std::pair<int32_t, int32_t> AccessTable::StateCells(int32_t root) const { return CellsOf(program_.AllSlotsOf(root)); }

std::pair<int32_t, int32_t> AccessTable::MetricCells(int32_t buffer) const {
  return CellsOf(program_.MetricRangeOf(buffer));
}

}  // namespace weft::plan
