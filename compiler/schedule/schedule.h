// Pipeline schedules as data: in which order every stage runs its units.
#ifndef WEFT_COMPILER_SCHEDULE_SCHEDULE_H_
#define WEFT_COMPILER_SCHEDULE_SCHEDULE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::schedule {

// Everything here is plain values: no state is kept, any thread may call.

/// What a unit computes: a chunk's forward; its backward, or only the part that gives the gradient of its input; the
/// part that gives the gradients of its weights.
enum class UnitKind { Forward, Backward, Weight };

/// What a schedule orders on one stage: work of one kind, of one chunk, for one micro-batch.
struct Unit {
  UnitKind kind = UnitKind::Forward;
  int chunk = 0; // counted within the stage
  int microBatch = 0;

  bool operator==(const Unit &other) const = default;
};

/// The units of every stage in the order in which it runs them, stage 0 first.
using Order = std::vector<std::vector<Unit>>;

/// Which stage has which chunk of the model. Of p stages with v chunks each, chunk c is on stage
enum class ChunkMap {
  Plain,       // c; v = 1
  Interleaved, // c mod p
  V,           // c if c < p, else 2p - 1 - c; v = 2
};

/// What a schedule is for.
struct Shape {
  int stages = 1;
  int chunks = 1; // a stage
  int microBatches = 1;
  ChunkMap map = ChunkMap::Plain;

  int allChunks() const { return stages * chunks; }
  /// The chunk of the model that is a stage's chunk `local`, which counts from the first.
  int chunkAt(int stage, int local) const;
  /// The stage of a chunk of the model, and which of its chunks it is.
  int stageOf(int chunk) const;
  int localOf(int chunk) const;
};

/// A shape and an order for it.
struct Schedule {
  Shape shape;
  Order order;
};

/// The schedules that are made here. F and B are unsplit but in those of zero bubble.
enum class Kind {
  GPipe,                 // all F, then all B
  OneForwardOneBackward, // 1F1B: at most p - i micro-batches in flight on stage i
  Interleaved,           // 1F1B over v chunks a stage: Narayanan et al., "Efficient large-scale ...", 2021
  ZeroBubbleH1,          // 1F1B with W put into its bubble: Qi et al., "Zero Bubble Pipeline Parallelism", 2023
  ZeroBubbleV,           // two chunks a stage, the last beside the first: ibid. (ZB-V)
};

/// As a job says it: "GPIPE", "ZERO_BUBBLE form V".
std::string nameOf(Kind kind);

/// How long the units of a chunk take, in any unit of time.
struct Durations {
  double forward = 1;
  double backward = 1;
  double weight = 1; // not counted where backwards are not split
};

/// The schedule of a kind, for any number of stages and micro-batches (also fewer than stages, also no multiple of
/// them). `chunks` 0: what the kind takes by itself, 2 of Interleaved and ZeroBubbleV, else 1.
/// `split`: what ZeroBubbleV is made for, which has no slack for other durations; only their relations count.
/// Fails with InvalidArgument, naming the job's key, if a number is below 1 or the kind has not so many chunks, or a
/// duration is not above 0.
absl::StatusOr<Schedule> make(Kind kind, int stages, int chunks, int microBatches, const Durations &split = {});

/// Fails with InvalidArgument unless the order can run:
///  - every unit of the shape stands in it once, on its stage; if one W does, all do (backwards are split);
///  - on a stage, units of one kind and chunk stand in the order of their micro-batches, and F, B and W of a
///    micro-batch in this order;
///  - stages that run their lists do not block, where F of chunk c waits for F of chunk c - 1, and B of chunk c for
///    B of chunk c + 1. The error names the units at which the stages stand that wait for each other.
absl::Status check(const Schedule &schedule);

/// Whether backwards are split: whether there is any W.
bool isSplit(const Order &order);

/// "F3": forward of micro-batch 3 of the stage's first chunk; "B0.1": backward, second chunk. And back; nothing if the
/// text is no unit.
std::string print(const Unit &unit);
std::optional<Unit> parseUnit(const std::string &text);

/// "F", "B.1": without the micro-batch. And back, the micro-batch being 0.
std::string nameOf(const Unit &unit);
std::optional<Unit> unitNamed(const std::string &name);

/// Reads a schedule for a shape: one line a stage, stage 0 first; "#" begins a comment; empty lines do not count. The
/// result passes `check`. Errors are InvalidArgument and begin "path:line:column: " or "path: ".
absl::StatusOr<Schedule> parse(const std::string &text, const std::string &path, const Shape &shape);

/// How many micro-batches a buffer has to hold at most that the first of `users` writes and the others read on one
/// stage; their micro-batches are ignored. The readers of a micro-batch come after its writer. The value is written
/// when the writer begins and free when all users have ended.
int inFlight(const std::vector<Unit> &units, const std::vector<Unit> &users);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_SCHEDULE_H_
