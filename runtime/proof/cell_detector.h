// The fast path of the proof in race_detector.h. It passes plans that are free of races; of a plan that it does not
// pass it gives no reason, and RaceDetector decides.
//
//   buffer `x`   [0 ............ 4096)
//   buffer `y`              [2048 ............ 8192)
//   cells        [0 ... 2048)[2048 ... 4096)[4096 ... 8192)
//
// A cell is a range of the arena that every act takes whole or not at all. Cells are found once a program. An act then
// looks at the few cells that it touches, where RaceDetector cuts and merges ranges of bytes at every act.
#ifndef WEFT_RUNTIME_PROOF_CELL_DETECTOR_H_
#define WEFT_RUNTIME_PROOF_CELL_DETECTOR_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/proof/access_table.h"
#include "runtime/semantics/execution.h"

namespace weft::plan {

// Follows one execution of a stage as RaceDetector does. It refuses whatever RaceDetector refuses, and also what cells
// cannot decide (AccessTable says what). One thread.
class CellDetector {
 public:
  // The program must outlive it.
  explicit CellDetector(const Program& program);

  // False: not proved, and what follows does not matter.
  bool Perform(const Act& act);

  // After the last act: what metrics report is there.
  bool KeepsMetrics() const;

 private:
  using Access = AccessTable::Access;
  using Source = AccessTable::Source;
  // Who wrote or read a cell last, FastTrack's epoch: an act by its stream and position, nobody (the initial value), or
  // several readers; of several, `position` is an index into reader_sets_.
  struct Epoch {
    int32_t stream = kNobody, position = 0;
    bool operator==(const Epoch& other) const = default;
  };
  static constexpr int32_t kNobody = -1, kSeveral = -2;
  struct Cell {
    int32_t root = kNothing;
    int32_t actor = 0;
    int32_t micro_batch = 0;
    Epoch writer;
    // Who has read it since, without those known to have ended before another:
    // nearly always one at most.
    Epoch reader;
  };
  static constexpr int32_t kNothing = -2;

  static bool Ended(const Act& act, const Epoch& epoch) { return act.After(epoch.stream, epoch.position); }
  bool IsMeant(const Act& act, const Access& access, const Cell& cell) const;
  bool Read(const Act& act, absl::Span<const Access> accesses);
  bool Read(const Act& act, const Access& access);
  void AddReader(const Act& act, Cell& cell);
  bool Write(const Act& act, absl::Span<const Access> accesses);
  bool Write(const Act& act, const Access& access);
  bool Empty(const Act& act, int32_t reader_set);

  const Program& program_;
  const AccessTable table_;
  bool decides_;
  std::vector<Cell> cells_;
  std::vector<std::vector<Epoch>> reader_sets_;  // readers of one cell
  std::vector<int32_t> free_reader_sets_;
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PROOF_CELL_DETECTOR_H_
