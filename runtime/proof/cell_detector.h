// The fast path of the proof in race_detector.h: it says yes to plans that pass, and
// nothing about those that do not.
//
// A cell is a range of the arena that every act takes whole or not at all. The
// cells are found once a program; an act then looks at its few cells, where
// RaceDetector cuts and merges ranges of bytes at every act.
#ifndef WEFT_RUNTIME_PROOF_CELL_DETECTOR_H_
#define WEFT_RUNTIME_PROOF_CELL_DETECTOR_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/proof/access_table.h"
#include "runtime/semantics/execution.h"

namespace weft::plan {

// Follows one execution of a stage as RaceDetector does. It refuses whatever RaceDetector
// refuses, without a reason, and also what cells cannot decide (AccessTable says
// what). After a refusal ask RaceDetector. One thread.
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
  // An act, nobody (the initial value, or no act), or several; then `position`
  // is a place in crowds_.
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
  bool Empty(const Act& act, int32_t crowd);

  const Program& program_;
  const AccessTable table_;
  bool decides_;
  std::vector<Cell> cells_;
  std::vector<std::vector<Epoch>> crowds_;  // readers of one cell
  std::vector<int32_t> free_crowds_;
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PROOF_CELL_DETECTOR_H_
