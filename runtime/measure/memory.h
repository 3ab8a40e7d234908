// How much memory a plan's schedule needs at its worst moment, wherever the buffers lie.
//
//   live bytes                    ┌──┐          ◄ the peak: no offsets can do with less
//                             ┌───┘  └──┐
//   parameters, state  ───────┴─────────┴────   always live
//
// A buffer is live from the act that first writes it to the last one that reads it. The most bytes live at one moment
// are a lower bound for any assignment of offsets, and so the measure of the one that the compiler chose.
#ifndef WEFT_RUNTIME_MEASURE_MEMORY_H_
#define WEFT_RUNTIME_MEASURE_MEMORY_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/program.h"
#include "runtime/semantics/execution.h"

namespace weft::plan {

// What memory is for, so that the first three are what one keeps to train, a
// parameter each, and add up to what ZeRO (Rajbhandari et al., 2020, figure 1)
// promises:
// - parameters: what micro-batches read, be it a copy that the begin section
//   makes of them;
// - gradients: what the backward leaves to the updates, scalars aside, be it
//   that the step section still rounds or adds it;
// - optimizer: state, and parameters that are masters, which only updates and
//   the making of copies read;
// - communication: what is sent, gathered and reduced on the way to these,
//   layers' parameters that are gathered for a while, and state that a tier below
//   the device has given for its update;
// - cache: what a function keeps from one run to the next.
enum class Category { kParameters, kGradients, kOptimizer, kActivations, kWorkspace, kCommunication, kCache };
inline constexpr int kCategories = 7;

// "parameters", ...
const char* NameOf(Category category);

// A buffer each. Workspace is what nobody looks at outside one act.
std::vector<Category> CategoriesOf(const Program& program);

using BytesByCategory = std::array<int64_t, kCategories>;

// What is live while the compute streams work at one unit, as "F3", "B0.1" or
// "step": an act's phase, micro-batch and chunk.
struct UnitMemory {
  std::string name;
  BytesByCategory most = {};  // at the moment of most bytes
};

// The memory of each rank of a stage, in padded bytes. Aliases count as the
// buffer whose bytes they are.
struct StageMemory {
  // As the plan says: what a rank allocates.
  int64_t arena_bytes = 0;
  // Most bytes that hold something still needed, at one moment of an execution
  // that the plan permits: no offsets can do with less. State counts always,
  // another buffer from the kernel that first writes it to the last one that
  // reads those contents.
  int64_t lower_bound_bytes = 0;
  // The parts of lower_bound_bytes.
  BytesByCategory at_peak = {};
  // The most of each category at one moment of its own.
  BytesByCategory most = {};
  std::array<int, kCategories> buffers = {};
  // All gradients together. With one micro-batch a step fewer are live at one
  // time, where one is reduced before another is made.
  int64_t gradient_bytes = 0;
  // Elements of the stage's parameters, over all its ranks and in tiers too.
  int64_t parameter_elements = 0;
  // What is live at the peak, largest first.
  struct Live {
    int32_t buffer = 0;
    int64_t bytes = 0;  // of `count` slots
    int count = 0;
  };
  std::vector<Live> live;
  // In the order of one execution.
  std::vector<UnitMemory> units;
  // The moment: before the first act if actor is -1.
  int32_t peak_actor = -1;
  int64_t peak_micro_batch = 0;
  int32_t peak_work = 0;
};

// What a rank keeps on its device of parameters, gradients and optimizer state for
// each of the stage's parameters: 16 bytes with Adam, of which ZeRO leaves 16/N. 0 without
// parameters.
double BytesAParameter(const StageMemory& memory);

// The memory of every stage, the most over a few executions that the proved
// order admits (Orders::rules). Looks at no offset of a buffer that has no alias,
// and at offsets of others only in relation, so that a compiler may call it
// before it lays out the arena. kFailedPrecondition: the plan is blocked.
absl::StatusOr<std::vector<StageMemory>> MeasureMemory(const Plan& plan);

// The memory of a stage over one execution.
struct Course {
  // A root from the act that begins its contents to the last one that needs them.
  struct Life {
    int32_t root = 0;
    int32_t slot = 0;
    size_t first = 0, last = 0;  // indices of acts
  };
  std::vector<BytesByCategory> most;  // an act each: what is live at its moment of most bytes
  std::vector<Life> lives;            // of what neither persists nor lives within one act alone
  std::vector<Life> scratch;          // of what lives within one act alone
};

// `acts`: all of a step, in an order that the plan permits.
Course CourseOf(const Program& program, const std::vector<StageAct>& acts);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_MEASURE_MEMORY_H_
