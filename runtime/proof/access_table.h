// What the acts of a stage read and write, as runs of cells of the arena.
#ifndef WEFT_RUNTIME_PROOF_ACCESS_TABLE_H_
#define WEFT_RUNTIME_PROOF_ACCESS_TABLE_H_

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/semantics/footprint.h"

namespace weft::plan {

// The arena is cut into cells, within which no act's access begins or ends, so
// that every access is found once and not once an act. Accesses that all acts of
// an actor have in common are kept once, beside those of the acts that use one
// set of slots: there are many sets, and what is read from memory once an act
// costs more than what is done with it. One thread.
class AccessTable {
 public:
  // What may have written the bytes that an act reads.
  struct Source {
    // The actor's act for this micro-batch, for 0, for the last one, for the one before.
    enum Of : int8_t { kSame, kFirst, kLast, kBefore, kAny };
    int32_t actor = 0;
    Of of = kAny;
  };
  // What an act reads or writes.
  struct Access {
    int32_t begin = 0, end = 0;  // cells
    int32_t root = 0;
    int32_t first_source = 0, last_source = 0;  // of a read; none: anything
    auto operator<=>(const Access& other) const = default;
  };
  struct Accesses {
    absl::Span<const Access> reads, writes;
  };

  // The program must outlive it.
  explicit AccessTable(const Program& program);

  // False if accesses are wrong in themselves, too many, or of very many cells;
  // then there is no table.
  bool ok() const { return ok_; }
  int32_t cells() const { return static_cast<int32_t>(bounds_.size()); }

  // Those of all acts of an actor, and what an act has besides.
  Accesses Common(int32_t actor) const { return In(ranges_[first_range_[actor]]); }
  Accesses Own(int32_t actor, int64_t micro_batch) const {
    return In(ranges_[first_range_[actor] + 1 + footprints_.VariantOf(actor, micro_batch)]);
  }
  absl::Span<const Source> SourcesOf(const Access& read) const {
    return absl::MakeSpan(sources_).subspan(read.first_source, read.last_source - read.first_source);
  }

  // The cells of a persistent root, and of what a metric reports.
  std::pair<int32_t, int32_t> StateCells(int32_t root) const;
  std::pair<int32_t, int32_t> MetricCells(int32_t buffer) const;

 private:
  struct Lists {
    std::vector<Access> reads, writes;
  };
  // Places in accesses_.
  struct Range {
    int32_t begin = 0, writes = 0, end = 0;
  };
  struct Interval {
    int32_t begin = 0, end = 0;
  };
  using Sources = absl::InlinedVector<Source, 4>;

  template <typename Visit>
  bool ForEachVariant(int32_t actor, const Visit& visit);
  bool Cut();
  bool Place();
  Lists ListsOf(int32_t actor, int64_t micro_batch, const Footprint& footprint);
  void Add(int32_t actor, std::vector<Lists>& variants);
  Range Append(const Lists& lists);
  void AddRead(int32_t actor, int64_t micro_batch, int32_t buffer, Access read, std::vector<Access>& reads);
  bool AreOne(int32_t actor, int32_t buffer) const;
  Interval AddSources(int32_t actor, int64_t micro_batch, int32_t buffer, const ByteRange& bytes);
  Sources MakersOf(int32_t actor, int64_t micro_batch, int32_t buffer, const ByteRange& bytes) const;
  Source MakerOf(int32_t actor, int32_t buffer) const;
  std::pair<int32_t, int32_t> CellsOf(const ByteRange& bytes) const;
  Accesses In(const Range& range) const {
    const absl::Span<const Access> all(accesses_);
    return {all.subspan(range.begin, range.writes - range.begin), all.subspan(range.writes, range.end - range.writes)};
  }

  const Program& program_;
  Footprints footprints_;
  std::vector<int64_t> bounds_;  // where cells begin, and where the last one ends
  absl::flat_hash_map<int64_t, int32_t> cell_at_;
  int64_t count_ = 0, covered_ = 0;  // accesses, and their cells
  std::vector<Access> accesses_;
  std::vector<Range> ranges_;         // an actor after the other: common, then a variant each
  std::vector<int32_t> first_range_;  // an actor each
  std::vector<Source> sources_;
  // A buffer each: the sources of the actor that read it last, if they are the
  // same in all its acts.
  struct Known {
    int32_t actor = -1;
    Interval sources;
  };
  std::vector<Known> known_;
  bool ok_ = false;
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PROOF_ACCESS_TABLE_H_
