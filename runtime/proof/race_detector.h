// The proof that a rank's memory holds what its program expects: a happens-before race detector, as for threads, over
// the bytes of the arena, in the abstract execution of one step.
//
//   bytes [0, 4096) of the arena     hold `x`, written by a(1) at position 4 of stream 0, read by b(1) since
//   now c(0) writes them             refused unless a(1) and b(1) have ended before c(0) starts, in every execution
#ifndef WEFT_RUNTIME_PROOF_RACE_DETECTOR_H_
#define WEFT_RUNTIME_PROOF_RACE_DETECTOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "runtime/semantics/execution.h"
#include "runtime/semantics/footprint.h"
#include "runtime/semantics/interval_map.h"

namespace weft::plan {

// Parameters and other state of a stage lie apart from everything, for ever.
absl::Status CheckState(const Program& program);

// Follows one execution of a stage. For every byte it knows whose contents the byte holds, which act wrote it and which
// acts have read it since; the last reader of each stream is enough.
// - An act must find the contents that it is meant to read, written by an act that is certain to come before.
// - An act may write only where every act that wrote or read before is certain to have ended.
// When every access passes, no two conflicting accesses are unordered, and the contents are the same in every execution
// (FastTrack, Flanagan and Freund, PLDI 2009). Earlier steps need no look: they have ended on all streams. An error
// names the buffers, the acts and the bytes. One thread.
class RaceDetector {
 public:
  // The program must outlive it.
  explicit RaceDetector(const Program& program);

  // Performs an act of this stage.
  absl::Status Perform(const Act& act);

  // What a metric reports is still there at the end of the step.
  absl::Status CheckMetrics();

 private:
  // An act's access; stream -1: the initial value.
  struct Access {
    int32_t stream = -1;
    int32_t position = 0;
    int32_t actor = 0;
    int64_t micro_batch = 0;
    int32_t buffer = 0;
  };
  struct Content {
    int32_t root = Footprint::kScratch;
    Access writer;
    absl::InlinedVector<Access, 2> readers;
  };

  absl::Status Read(const Act& act, const Footprint::Read& read);
  absl::Status Write(const Act& act, const Footprint::Write& write);
  // Two uses of the same bytes that nothing orders.
  absl::Status Race(const Access& earlier, bool earlier_writes, const Act& act, int32_t buffer, bool writes,
                    const ByteRange& bytes) const;
  // The bytes hold something else; `use`: "`a` (step) reads it".
  absl::Status Missing(const std::string& use, int32_t buffer, const Content* found, const ByteRange& bytes) const;
  // True if an act of this step has written to the root.
  bool Written(int32_t root) const;
  // True if the act is meant to read what `writer` wrote to these bytes of the buffer.
  bool IsMeant(const Act& act, int32_t buffer, const ByteRange& bytes, const Access& writer) const;
  std::string Text(const Access& access) const;
  std::string Text(const Act& act) const;
  // The buffer of a scratch range that lies at these bytes.
  int32_t At(const Access& access, const ByteRange& bytes) const;

  const Program& program_;
  Footprints footprints_;
  IntervalMap<Content> map_;
  std::vector<bool> performed_;  // an actor each: at least once in this step
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PROOF_RACE_DETECTOR_H_
