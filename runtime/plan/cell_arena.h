// The proof of arena.h, for plans that pass it: it says yes, or nothing.
#ifndef WEFT_RUNTIME_PLAN_CELL_ARENA_H_
#define WEFT_RUNTIME_PLAN_CELL_ARENA_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "runtime/plan/execution.h"
#include "runtime/plan/footprint.h"

namespace weft::plan {

// Follows one execution of a stage as Arena does, and refuses whatever Arena
// refuses, but does not say why. The arena is cut into cells, within which no
// act's access begins or ends: every access is a run of cells in a table, found
// once and not once an act. What it cannot decide at that price (footprints
// that are wrong in themselves or too many, accesses of very many cells) it
// refuses as well; then ask Arena. One thread.
class CellArena {
 public:
  // The program must outlive it.
  explicit CellArena(const Program& program);

  // False: not proved, and what follows does not matter.
  bool Perform(const Act& act);

  // After the last act: what metrics report is there.
  bool KeepsMetrics() const;

 private:
  // What may have written the bytes that an act reads.
  struct Source {
    enum Of : int8_t { kSame, kFirst, kLast, kAny };  // the actor's act for this micro-batch, for 0, the last one
    int32_t actor = 0;
    Of of = kAny;
    bool operator==(const Source& other) const { return actor == other.actor && of == other.of; }
  };
  // What an act reads or writes: bytes, and the cells that they are.
  struct Access {
    ByteRange bytes;
    int32_t root = 0;
    int32_t buffer = 0;
    int32_t begin = 0, end = 0;
    int32_t sources = 0, last_source = -1;  // of a read; none: anything
  };
  // The accesses of an actor's acts that use one set of slots, reads first.
  struct Phase {
    int64_t micro_batch = 0;  // one of theirs
    std::vector<Access> reads, writes;
  };
  // An act, or none: stream -1.
  struct Epoch {
    int32_t stream = -1, position = 0;
    bool operator==(const Epoch& other) const = default;
  };
  struct Cell {
    int32_t root = kNothing;
    int32_t actor = 0;
    int64_t micro_batch = 0;
    Epoch writer;  // none: the initial value
    // Who has read it since, without those known to have ended before another:
    // nearly always one at most.
    Epoch reader;
    std::vector<Epoch> others;
  };
  static constexpr int32_t kNothing = -2;

  bool Collect(int32_t actor);
  void Cut();
  void FillState();
  void AddSources(int32_t actor, Phase& phase);
  using Sources = absl::InlinedVector<Source, 4>;
  bool AreOne(int32_t actor, const Access& read) const;
  Sources SourcesOf(int32_t actor, int64_t micro_batch, int32_t buffer, const ByteRange& bytes) const;
  Source SourceOf(int32_t actor, int32_t buffer) const;
  bool IsMeant(const Act& act, const Access& access, const Cell& cell) const;
  bool Read(const Act& act, const Access& access);
  static void AddReader(const Act& act, Cell& cell);
  bool Write(const Act& act, const Access& access);
  // Where a slot's bytes begin and end among the cells.
  std::pair<int32_t, int32_t> CellsOf(const ByteRange& bytes) const;

  const Program& program_;
  Footprints footprints_;
  bool decides_ = true;
  std::vector<int64_t> bounds_;  // where cells begin, and where the last one ends
  std::vector<Cell> cells_;
  std::vector<std::vector<Phase>> phases_;  // an actor each
  std::vector<Source> sources_;
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_CELL_ARENA_H_
