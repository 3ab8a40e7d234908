// A stage of a plan with its cross-references looked up: what each actor's work
// touches, who makes and who reads a register, which bytes a buffer is.
#ifndef WEFT_RUNTIME_PLAN_PROGRAM_H_
#define WEFT_RUNTIME_PLAN_PROGRAM_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// One kernel, bundle of collectives or end of a transfer: the buffers it touches.
struct Work {
  std::vector<int32_t> reads;
  std::vector<int32_t> writes;
  // The last operand of an `accumulate`, `accumulate_einsum` or `accumulate_embedding_grad`, that is updated in
  // place, or what a fetch of a sum reads: micro-batch 0 does not read it; -1.
  int32_t accumulator = -1;
  // The last operand of an `einsum` or `embedding_grad` with the epilogue `add`, to which it adds in place; -1.
  int32_t added_to = -1;
};

// Whether a kernel exchanges data with the host, and waits for it; whether an actor has one that does.
bool IsPort(const Kernel& kernel);
bool HasPort(const Actor& actor);

// Whether a kernel copies between the device and a tier; whether an actor does nothing else.
// A fetch with the attribute kSum is of a sum over the micro-batches: of the first one it does nothing.
inline constexpr char kFetch[] = "fetch", kStore[] = "store", kSum[] = "sum";
bool FetchesSum(const Kernel& kernel);
bool MovesTier(const Kernel& kernel);
bool MovesTiers(const Actor& actor);
// Of such a kernel, the buffer in the tier, and the one on the device.
inline int32_t BelowOf(const Kernel& move) { return move.name() == kFetch ? move.inputs(0) : move.outputs(0); }
inline int32_t AboveOf(const Kernel& move) { return move.name() == kFetch ? move.outputs(0) : move.inputs(0); }

struct Program;
// Index + 1 of the tier in which an actor's kernels work, which the host runs then; 0: on the device. In a valid plan
// all operands of such an actor lie there.
int32_t TierOfWork(const Program& program, int32_t actor);

// One act of a step, among those of one stage: the actor that fires, and for which micro-batch.
struct StageAct {
  int32_t actor = 0;
  int32_t micro_batch = 0;  // 0 for STEP actors; there are kMaxMicroBatches at most (validate.h)
};

// The micro-batch for which the actor at `place` in the list of a run acts in a repetition.
inline int64_t MicroBatchOf(const Run& run, int place, int64_t repetition) {
  return run.first_micro_batch() + repetition * std::max<int64_t>(run.stride(), 1) +
         (run.offsets_size() > 0 ? run.offsets(place) : 0);
}

// Bytes [begin, end) of a rank's arena. Those of the cluster's tier t are counted from (t + 1) * kTierSpan on: memories
// that are apart do not overlap, and whoever asks what bytes hold need not ask where they are.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
  bool Overlaps(const ByteRange& other) const { return begin < other.end && other.begin < end; }
};

// More than any arena has (kMaxBytes in validate.h).
inline constexpr int64_t kTierSpan = int64_t{1} << 51;

// "bytes 0 to 64", "bytes 0 to 64 of tier 0".
std::string TextOf(const ByteRange& bytes);

// Points into the plan, which must outlive it. Built only from plans whose
// indices are in range and whose aliases have no cycle.
struct Program {
  const Plan* plan = nullptr;
  const Stage* stage = nullptr;
  const Placement* placement = nullptr;
  int index = 0;
  int64_t micro_batches = 1;

  // A buffer each: whose bytes it is (itself without alias), offset, slots and
  // padded bytes of a slot, true if it lives from step to step, true if a metric reads it.
  std::vector<int32_t> root;
  std::vector<int64_t> offset;
  std::vector<int32_t> slots;
  std::vector<int64_t> slot_bytes;
  // A buffer each: where its slots are, null if one after another.
  std::vector<const int64_t*> slot_offsets;
  std::vector<bool> persistent;
  std::vector<bool> metric;
  // A buffer each: whether it is the device's, not a tier's.
  std::vector<bool> on_device;
  // A buffer each: the actor that has it among its writes, -1 if none; the
  // actors that have it among their reads.
  std::vector<int32_t> writer;
  std::vector<std::vector<int32_t>> readers;
  // A buffer each: bytes of a slot, without what pads them.
  std::vector<int64_t> exact_bytes;
  // An actor each: its work in order.
  std::vector<std::vector<Work>> work;
  // A buffer each. Of an accumulator of a MICRO actor: the last of the actors that add to it in a micro-batch, each by
  // products that add in place to what the one before has made; the one that accumulates if there are no others. What
  // it leaves is what the accumulator finds in the next micro-batch. -1 of all other buffers.
  std::vector<int32_t> last_to_add;

  const Buffer& buffer(int32_t b) const { return stage->buffers(b); }
  const Actor& actor(int32_t a) const { return stage->actors(a); }
  bool micro(int32_t a) const { return actor(a).section() == Actor::MICRO; }

  // The buffer whose contents `b` shows: itself if an actor has it among its writes, or if it is no view; else that of
  // what it is a view of.
  int32_t SourceOf(int32_t b) const;
  // The slot of buffer `b` that an act uses (the rule is in plan.proto).
  int64_t SlotOf(int32_t a, int32_t b, int64_t micro_batch) const;
  // Whether buffer `b` is a root that takes bytes of the device from step to step.
  bool StaysOnDevice(int32_t b) const { return root[b] == b && persistent[b] && on_device[b]; }
  // The padded bytes of one slot of buffer `b`.
  ByteRange RangeOf(int32_t b, int64_t slot) const;
  // Those of them that the tensor takes: what work on it reads and writes.
  ByteRange ExactRangeOf(int32_t b, int64_t slot) const {
    const int64_t begin = RangeOf(b, slot).begin;
    return {begin, begin + exact_bytes[b]};
  }
  // Of all slots, which lie one after another, as those of state do.
  ByteRange AllSlotsOf(int32_t b) const { return {RangeOf(b, 0).begin, RangeOf(b, slots[b] - 1).end}; }
  // Of what a metric reports of buffer `b` at the end of a step: the last micro-batch's, if each makes one.
  ByteRange MetricRangeOf(int32_t b) const {
    const bool each = writer[b] >= 0 && micro(writer[b]);
    return ExactRangeOf(b, each ? (micro_batches - 1) % slots[b] : 0);
  }

  // True if the act reads operand `b` of this work.
  bool Reads(const Work& work, int32_t b, int64_t micro_batch) const {
    return b != work.accumulator || micro_batch > 0;
  }
  // last_to_add of a buffer on which this actor accumulates; -1 of others.
  int32_t LastToAdd(int32_t a, int32_t b) const {
    if (last_to_add[b] < 0) return -1;
    for (const Work& it : work[a]) {
      if (it.accumulator == b) return last_to_add[b];
    }
    return -1;
  }
  // "kernel 3 `einsum` at gpt2.mlir:31:8", "all_reduce", "all_reduce of 12
  // tensors"; empty for a transfer.
  std::string WorkText(int32_t a, int work) const;
  // "actor `h.5.backward`: kernel 3 `einsum` at gpt2.mlir:31:8".
  std::string Where(int32_t a, int work) const;
};

// A transfer's two actors, each in its own stage; -1: none.
struct TransferEnds {
  int32_t sender = -1, receiver = -1;
};

// Of every transfer, by its index, of all stages of a plan; of several at one end, the last.
std::vector<TransferEnds> EndsOf(absl::Span<const Program> programs);

// The program of one stage.
Program ProgramOf(const Plan& plan, int stage);

// The programs of all stages.
std::vector<Program> ProgramsOf(const Plan& plan);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_PROGRAM_H_
