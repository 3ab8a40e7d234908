// What one act does to its rank's memory, seen from outside: what it needs
// to find there, and what it leaves behind.
#ifndef WEFT_RUNTIME_SEMANTICS_FOOTPRINT_H_
#define WEFT_RUNTIME_SEMANTICS_FOOTPRINT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/program.h"

namespace weft::plan {

struct Footprint {
  // Bytes that the act reads before it has written them itself.
  struct Read {
    ByteRange bytes;
    int32_t buffer = 0;
    int32_t work = 0;  // the first that reads them
  };
  // Bytes that the act writes, disjoint and ascending. `buffer` is the last
  // one written there; `root` is whose contents they hold afterwards, kScratch
  // if nobody looks at them after the act.
  struct Write {
    ByteRange bytes;
    int32_t root = 0;
    int32_t buffer = 0;
    int32_t work = 0;
  };
  static constexpr int32_t kScratch = -1;
  std::vector<Read> reads;
  std::vector<Write> writes;
};

// The footprints of the acts of a program. Which slots an act uses repeats with a period: the least common multiple of
// the slot counts. So an actor has few variants of its footprint, which are made once and kept. Example: an actor that
// uses buffers of 2 and 3 slots has 6 variants, and micro-batch 7 has the one of micro-batch 1. With an accumulator
// there is one more: micro-batch 0 does not read it. One thread; the program must outlive it.
class Footprints {
 public:
  explicit Footprints(const Program& program);

  // The footprint of an act, valid until the next call. An error says that the
  // order of the actor's own work is wrong: a kernel reads what a later buffer
  // has overwritten, or writes over its own operands.
  absl::StatusOr<const Footprint*> Of(int32_t actor, int64_t micro_batch);

  // Frees what is kept.
  void Forget();

  // How many variants an actor has, which of them an act has, and the first micro-batch that has a variant.
  int64_t VariantsOf(int32_t actor) const;
  int64_t VariantOf(int32_t actor, int64_t micro_batch) const;
  int64_t MicroBatchOf(int32_t actor, int64_t variant) const;

  // True if nothing outside one act of one actor looks at the bytes of a root.
  bool scratch(int32_t root) const { return scratch_[root]; }

 private:
  const Program& program_;
  std::vector<bool> scratch_;
  std::vector<int64_t> period_;                                // an actor each: of slots, up to the micro-batches
  std::vector<bool> starts_apart_;                             // an actor each: micro-batch 0 differs
  std::vector<std::vector<std::unique_ptr<Footprint>>> kept_;  // actor, variant
  std::unique_ptr<Footprint> last_;                            // of a period too long to keep
};

// True for the roots that one actor alone uses and writes before it reads, all
// of it: their contents never outlive an act.
std::vector<bool> ScratchOf(const Program& program);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SEMANTICS_FOOTPRINT_H_
