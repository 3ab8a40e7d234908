#include "runtime/proof/cell_detector.h"

#include <algorithm>

namespace weft::plan {

CellDetector::CellDetector(const Program& program)
    : program_(program), table_(program), decides_(table_.ok()), cells_(decides_ ? table_.cells() : 0) {
  for (size_t b = 0; b < program_.root.size() && decides_; ++b) {
    if (!program_.persistent[b] || program_.root[b] != static_cast<int32_t>(b)) continue;
    const auto [begin, end] = table_.StateCells(static_cast<int32_t>(b));
    for (int32_t c = begin; c < end; ++c) cells_[c].root = static_cast<int32_t>(b);
  }
}

bool CellDetector::Perform(const Act& act) {
  if (!decides_) return false;
  const AccessTable::Accesses common = table_.Common(act.actor), own = table_.Own(act.actor, act.micro_batch);
  // What other acts have not just looked at.
  __builtin_prefetch(own.reads.data());
  __builtin_prefetch(own.writes.data());
  decides_ = Read(act, common.reads) && Read(act, own.reads) && Write(act, common.writes) && Write(act, own.writes);
  return decides_;
}

bool CellDetector::IsMeant(const Act& act, const Access& access, const Cell& cell) const {
  if (access.first_source == access.last_source) return true;
  for (const Source& source : table_.SourcesOf(access)) {
    const int64_t made = source.of == Source::kSame     ? act.micro_batch
                         : source.of == Source::kFirst  ? 0
                         : source.of == Source::kLast   ? program_.micro_batches - 1
                         : source.of == Source::kBefore ? act.micro_batch - 1
                                                        : cell.micro_batch;
    if (source.actor == cell.actor && made == cell.micro_batch) return true;
  }
  return false;
}

bool CellDetector::Read(const Act& act, absl::Span<const Access> accesses) {
  return std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) { return Read(act, access); });
}

// Cells beside each other are often of one act: what has passed is not looked at again.
bool CellDetector::Read(const Act& act, const Access& access) {
  const Epoch own{act.stream, act.position};
  Epoch passed, replaced;
  for (int32_t c = access.begin; c < access.end; ++c) {
    Cell& cell = cells_[c];
    if (cell.root != access.root) return false;
    if (cell.writer != passed && cell.writer.stream != kNobody) {
      if (!Ended(act, cell.writer) || !IsMeant(act, access, cell)) return false;
      passed = cell.writer;
    }
    if (cell.reader != replaced && cell.reader.stream != kNobody) {
      if (cell.reader.stream == kSeveral || (cell.reader.stream != act.stream && !Ended(act, cell.reader))) {
        AddReader(act, cell);
        continue;
      }
      replaced = cell.reader;
    }
    cell.reader = own;
  }
  return true;
}

// Whoever writes after this act writes after those that ended before it.
void CellDetector::AddReader(const Act& act, Cell& cell) {
  if (cell.reader.stream != kSeveral) {
    if (free_reader_sets_.empty()) {
      free_reader_sets_.push_back(static_cast<int32_t>(reader_sets_.size()));
      reader_sets_.emplace_back();
    }
    reader_sets_[free_reader_sets_.back()].assign(1, cell.reader);
    cell.reader = {kSeveral, free_reader_sets_.back()};
    free_reader_sets_.pop_back();
  }
  std::vector<Epoch>& reader_set = reader_sets_[cell.reader.position];
  const auto replaced = [&](const Epoch& reader) { return reader.stream == act.stream || Ended(act, reader); };
  reader_set.erase(std::remove_if(reader_set.begin(), reader_set.end(), replaced), reader_set.end());
  reader_set.push_back({act.stream, act.position});
}

bool CellDetector::Write(const Act& act, absl::Span<const Access> accesses) {
  return std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) { return Write(act, access); });
}

bool CellDetector::Write(const Act& act, const Access& access) {
  const Epoch own{act.stream, act.position};
  Epoch written = own, read = own;
  for (int32_t c = access.begin; c < access.end; ++c) {
    Cell& cell = cells_[c];
    if (cell.writer != written && cell.writer.stream != kNobody && cell.writer != own) {
      if (!Ended(act, cell.writer)) return false;
      written = cell.writer;
    }
    if (cell.reader.stream == kSeveral) {
      if (!Empty(act, cell.reader.position)) return false;
    } else if (cell.reader != read && cell.reader.stream != kNobody && cell.reader != own) {
      if (!Ended(act, cell.reader)) return false;
      read = cell.reader;
    }
    cell = {access.root, act.actor, static_cast<int32_t>(act.micro_batch), own, Epoch()};
  }
  return true;
}

// False if one of them may still read.
bool CellDetector::Empty(const Act& act, int32_t reader_set) {
  const Epoch own{act.stream, act.position};
  const auto ended = [&](const Epoch& reader) { return reader == own || Ended(act, reader); };
  if (!std::all_of(reader_sets_[reader_set].begin(), reader_sets_[reader_set].end(), ended)) return false;
  free_reader_sets_.push_back(reader_set);
  return true;
}

bool CellDetector::KeepsMetrics() const {
  if (!decides_) return false;
  for (const Metric& metric : program_.plan->metrics()) {
    if (metric.stage() != program_.index) continue;
    const int32_t b = metric.buffer(), writer = program_.writer[b];
    const auto [begin, end] = table_.MetricCells(b);
    for (int32_t c = begin; c < end; ++c) {
      if (cells_[c].root != program_.root[b] || (writer >= 0 && cells_[c].actor != writer)) return false;
    }
  }
  return true;
}

}  // namespace weft::plan
