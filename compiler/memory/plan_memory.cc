#include "compiler/memory/plan_memory.h"

#include <algorithm>
#include <vector>

#include "compiler/memory/blocks.h"
#include "compiler/memory/placement.h"
#include "runtime/measure/lives.h"
#include "runtime/plan/program.h"
#include "runtime/semantics/execution.h"
#include "runtime/semantics/orders.h"

namespace weft::compiler {
namespace {

constexpr int64_t kEffort = 1'500'000'000;
constexpr double kEnough = 1.03;
constexpr int64_t kMostPlaces = 64;
constexpr int64_t kLeastShare = 5000;

int64_t LowerBound(const plan::Program& program, plan::Orders& orders) {
  plan::Lives lives(program);
  int64_t bound = 0;
  for (plan::Orders::Rule rule : orders.rules()) bound = std::max(bound, lives.LowerBound(orders.In(rule)));
  return bound;
}

// How often each buffer's slots are there, and where.
struct Layout {
  std::vector<int32_t> places;
  std::vector<Blocks::Slots> slots;
  std::vector<int64_t> offsets;  // block after block
  int64_t arena = 0;
};

class StagePlanner {
 public:
  StagePlanner(const plan::Program& program, plan::Orders& orders, const MemoryOptions& options)
      : program_(program), orders_(orders), options_(options), of_micro_batch_(AreOfMicroBatch(program)),
        bound_(LowerBound(program, orders)) {}

  int64_t bound() const { return bound_; }

  Layout Make() {
    std::vector<int64_t> numbers = {1};
    if (program_.micro_batches > 1) {
      const int64_t stages = program_.plan->stages_size();
      for (int64_t i = 2; i < std::min(program_.micro_batches, kMostPlaces); ++i) {
        if (i <= stages || i % stages == 0) numbers.push_back(i);
      }
      if (program_.micro_batches <= kMostPlaces) numbers.push_back(program_.micro_batches);
    }
    Layout best;
    int64_t best_number = 0;
    for (int64_t number : numbers) {
      if (best_number > 0 && best.arena <= 1.01 * bound_) break;
      Layout layout = LayoutOf(number, 0);
      if (best_number == 0 || layout.arena < best.arena) best = std::move(layout), best_number = number;
    }
    if (best.arena > kEnough * bound_) {
      Layout layout = LayoutOf(best_number, kEffort);
      if (layout.arena < best.arena) best = std::move(layout);
    }
    return best;
  }

  Layout LayoutOf(int64_t number, int64_t effort) const {
    Layout layout;
    layout.places = program_.slots;
    layout.slots.assign(program_.root.size(), Blocks::Slots::kTogether);
    for (size_t b = 0; b < program_.root.size() && number > 1; ++b) {
      const int64_t slots = program_.slots[b];
      if (program_.slot_bytes[b] < bound_ / kLeastShare) continue;
      if (of_micro_batch_[b] && slots <= number) layout.places[b] = static_cast<int32_t>(number);
      if (layout.places[b] > 1) layout.slots[b] = Blocks::Slots::kApart;
    }
    const Blocks blocks(program_, orders_, layout.places, layout.slots);
    Placement placement(blocks);
    placement.Start();
    if (effort > 0) placement.Search(static_cast<int64_t>(kEnough * bound_), effort, options_.seed);
    layout.arena = placement.arena();
    layout.offsets = placement.offsets();
    return layout;
  }

 private:
  const plan::Program& program_;
  plan::Orders& orders_;
  const MemoryOptions& options_;
  const std::vector<bool> of_micro_batch_;
  const int64_t bound_;
};

void Set(const plan::Program& program, const Layout& layout, plan::Stage& stage) {
  auto offset = layout.offsets.begin();
  for (int b = 0; b < stage.buffers_size(); ++b) {
    plan::Buffer& buffer = *stage.mutable_buffers(b);
    const int32_t root = program.root[b];
    if (root != b) {
      buffer.set_slots(stage.buffers(root).slots());
      buffer.set_offset(stage.buffers(root).offset());
      *buffer.mutable_slot_offsets() = stage.buffers(root).slot_offsets();
      continue;
    }
    const int32_t places = layout.places[b];
    buffer.set_slots(places);
    buffer.set_offset(*offset);
    if (layout.slots[b] == Blocks::Slots::kTogether) {
      ++offset;
      continue;
    }
    for (int32_t i = 0; i < places; ++i) buffer.add_slot_offsets(*offset++);
  }
  stage.set_arena_bytes(layout.arena);
}

}  // namespace

absl::Status PlanMemory(const MemoryOptions& options, plan::Plan* plan) {
  const std::vector<plan::Program> programs = plan::ProgramsOf(*plan);
  std::vector<plan::Orders> orders(programs.begin(), programs.end());
  const absl::Status status = plan::Execute(programs, [&](const plan::Act& act) {
    orders[act.stage].Add(act);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  for (size_t s = 0; s < programs.size(); ++s) {
    StagePlanner planner(programs[s], orders[s], options);
    Set(programs[s], planner.Make(), *plan->mutable_stages(static_cast<int>(s)));
    plan->mutable_stages(static_cast<int>(s))->set_lower_bound_bytes(planner.bound());
  }
  return absl::OkStatus();
}

}  // namespace weft::compiler
